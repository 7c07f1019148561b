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

/** Writes the bytes `from` to `end` to `to`; the position behind them. Up to 16 bytes behind both places are touched. */
export function escapeBytes(from: usize, end: usize, to: usize): usize {
  let p = from
  let out = to
  while (p < end) {
    const bytes = v128.load(p)
    v128.store(out, bytes)
    const special = i8x16.bitmask(
      v128.or(
        v128.or(i8x16.eq(bytes, i8x16.splat(34)), i8x16.eq(bytes, i8x16.splat(92))),
        i8x16.lt_u(bytes, i8x16.splat(32)),
      ),
    )
    const plain = special === 0 ? 16 : <usize>ctz(special)
    p += plain
    out += plain
    if (special !== 0 && p < end) out = escapeByte(load<u8>(p++), out)
  }
  return out - (p - end)
}
