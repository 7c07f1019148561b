// Escapes the bytes of a text for a JSON string, sixteen at a time; `npm run wasm` builds the module.

function digit(value: u8): u8 {
  return value < 10 ? 48 + value : 87 + value
}

/** Writes the escape of a byte below 32, a quote or a backslash; the position behind it. */
function escapeByte(c: u8, out: usize): usize {
  store<u8>(out, 92)
  let short: u8 = 0
  if (c === 34 || c === 92) short = c
  else if (c === 8) short = 98
  else if (c === 9) short = 116
  else if (c === 10) short = 110
  else if (c === 12) short = 102
  else if (c === 13) short = 114
  if (short !== 0) {
    store<u8>(out, short, 1)
    return out + 2
  }
  store<u8>(out, 117, 1)
  store<u8>(out, 48, 2)
  store<u8>(out, 48, 3)
  store<u8>(out, digit(c >> 4), 4)
  store<u8>(out, digit(c & 15), 5)
  return out + 6
}

/** A bit for each of sixteen bytes that is written with an escape. */
function specialOf(bytes: v128): i32 {
  return i8x16.bitmask(
    v128.or(
      v128.or(i8x16.eq(bytes, i8x16.splat(34)), i8x16.eq(bytes, i8x16.splat(92))),
      i8x16.lt_u(bytes, i8x16.splat(32)),
    ),
  )
}

/** Writes the bytes `from` to `end` to `to`; the position behind them. Up to 16 bytes behind both places are touched. */
export function escapeBytes(from: usize, end: usize, to: usize): usize {
  let p = from
  let out = to
  while (p < end) {
    const bytes = v128.load(p)
    v128.store(out, bytes)
    const special = specialOf(bytes)
    const plain = special === 0 ? 16 : <usize>ctz(special)
    p += plain
    out += plain
    if (special !== 0 && p < end) out = escapeByte(load<u8>(p++), out)
  }
  return out - (p - end)
}

/** The bytes hold such above 127. */
const beyondAscii: u32 = 1
/** They hold a line break, or a backslash before `u`. */
const breaks: u32 = 2
/** They hold a colon behind white space, or more names than are listed. */
const unsure: u32 = 4
const maxNames: u32 = 1024

let flags: u32 = 0
let names: u32 = 0

/** Writes the escape of the byte at `p`, and notes what it says at `seen`; the position behind it. */
function escapeSeen(p: usize, out: usize, seen: usize): usize {
  const c = load<u8>(p)
  const next = load<u8>(p, 1)
  if (c === 10 || c === 13 || (c === 92 && next === 117)) flags |= breaks
  if (c === 34 && next === 58) {
    if (names < maxNames) store<u32>(seen + 8 + ((<usize>names) << 2), <u32>p)
    names++
  }
  if (c !== 34 && c !== 92) return escapeByte(c, out)
  store<u8>(out, 92)
  store<u8>(out, c, 1)
  return out + 2
}

/**
 * Does the same as `escapeBytes`, and writes facts about the bytes to `seen`: the flags above, the number of quotes
 * right before a colon, and the position of each of them. The byte before `from` is touched as well.
 */
export function escapeAndLook(from: usize, end: usize, to: usize, seen: usize): usize {
  let p = from
  let out = to
  flags = 0
  names = 0
  let high = i8x16.splat(0)
  let spaced = i8x16.splat(0)
  // The bytes around the text are treated as letters.
  store<u8>(from - 1, 97)
  v128.store(end, i8x16.splat(97))
  while (p < end) {
    const bytes = v128.load(p)
    v128.store(out, bytes)
    high = v128.or(high, bytes)
    spaced = v128.or(spaced, v128.and(i8x16.eq(bytes, i8x16.splat(58)), i8x16.le_u(v128.load(p - 1), i8x16.splat(32))))
    const special = specialOf(bytes)
    const plain = special === 0 ? 16 : <usize>ctz(special)
    p += plain
    out += plain
    if (special !== 0 && p < end) out = escapeSeen(p++, out, seen)
  }
  if (i8x16.bitmask(high) !== 0) flags |= beyondAscii
  if (v128.any_true(spaced) || names > maxNames) flags |= unsure
  store<u32>(seen, flags)
  store<u32>(seen, min(names, maxNames), 4)
  return out - (p - end)
}
