// Tells what stands in a payload that a detector may find something at, as content/masking/anchors.ts does: sixteen bytes
// at a time, of which only those are looked at one by one that may begin or end something.
import { endings } from './layout.ts'
import { isDigit } from './scan.ts'

const atSign: i32 = 1
const plus: i32 = 2
const digits: i32 = 4
const colon: i32 = 8
const dots: i32 = 16
const token: i32 = 32
const capitals: i32 = 64
const key: i32 = 128
const everything: i32 = 255

const longestEnding: i32 = 8
/** Longest group of an IPv6 address. */
const maxGroup: usize = 4

let bits: i32 = 0
let lastDigit: usize = 0
let run: i32 = 0
let whole: i32 = 0
let isPart: bool = false
let lastDot: usize = 0
let lastColon: usize = 0
let colons: i32 = 0
let isDouble: bool = false
let first: usize = 0
let isAny: bool = false

function byteAt(p: usize): u8 {
  return load<u8>(p)
}
function isCapital(c: u8): bool {
  return c >= 65 && c <= 90
}
function isWord(c: u8): bool {
  return isCapital(c) || c === 95 || (c >= 97 && c <= 122)
}
function isHex(c: u8): bool {
  return (c >= 48 && c <= 57) || (c >= 97 && c <= 102) || (c >= 65 && c <= 70)
}

/** A letter that is not the end of an escape such as `\n`. */
function isWordAt(i: usize): bool {
  return isWord(byteAt(i)) && byteAt(i - 1) !== 92
}

/** Whether one or two letters behind a digit end before `i`. */
function isBehindPart(i: usize): bool {
  const one = byteAt(i - 1)
  if (!isWord(one) || one === 95) return false
  const two = byteAt(i - 2)
  return isDigit(two) || (isWord(two) && two !== 95 && isDigit(byteAt(i - 3)))
}
function areHex(start: usize, end: usize): bool {
  for (let i = start; i < end; i++) if (!isHex(byteAt(i))) return false
  return true
}

function lookAtDigit(i: usize): void {
  const before = byteAt(i - 1)
  const distance = i - lastDigit
  if (distance === 2 && before === 46) {
    if (i - lastDot <= 5) bits |= dots
    lastDot = i
  }
  const goesOn = distance === 1 || (distance === 2 && (before === 32 || before === 45))
  if (!goesOn) {
    const isDecimal = before === 46 && isDigit(byteAt(i - 2))
    isPart = isDecimal || isBehindPart(i)
    whole = isDecimal ? run : 0
  } else if (before === 32) isPart = false
  run = goesOn ? run + 1 : 1
  lastDigit = i
  if (run >= 13 && !isPart) bits |= digits
  else if (run + whole >= 12 && (byteAt(i + 1) | 32) === 101) bits |= digits
  else if (run === 1 && isCapital(before) && isCapital(byteAt(i - 2)) && isDigit(byteAt(i + 1)))
    if (!isWordAt(i - 3) && !isDigit(byteAt(i - 3))) bits |= capitals
}

/** Whether a byte does not count in a name: digits and `-./`, `_`, brackets, spaces. */
function isBetween(c: u8): bool {
  return (c >= 45 && c <= 57) || c === 95 || c === 32 || c === 91 || c === 93
}
function isLetter(c: u8): bool {
  const small = c | 32
  return c >= 128 || (small >= 97 && small <= 122)
}

/** Whether the name whose last byte stands at `at` may end like one of those that are looked for. */
function mayEndSo(at: usize): bool {
  if (isAny) return true
  let i = at
  let fits: u64 = u64.MAX_VALUE
  for (let place = 0; place < longestEnding; place++) {
    while (i >= first && isBetween(byteAt(i))) i--
    const c: u8 = i < first ? 34 : byteAt(i--)
    fits &= load<u64>(endings + (((<usize>place) << 8) + <usize>c) * 8)
    if (fits === 0) return false
    // The letter before the name fits only those endings that are complete.
    if (!isLetter(c)) return true
  }
  return true
}

/** The same of the name of a member whose colon stands at `at`. */
function mayBeKey(at: usize): bool {
  let i = at - 1
  while (i > first && byteAt(i) <= 32) i--
  if (byteAt(i) !== 34) return false
  i--
  while (i > first && byteAt(i) === 92) i--
  return mayEndSo(i)
}

function lookAtColon(i: usize): void {
  const between = i - lastColon - 1
  const goesOn = between <= maxGroup && areHex(i - between, i)
  colons = goesOn ? colons + 1 : 1
  isDouble = goesOn && (isDouble || between === 0)
  lastColon = i
  if (colons >= (isDouble ? 3 : 6)) bits |= colon
  if ((bits & key) === 0 && mayBeKey(i)) bits |= key
}

function lookAtPlus(i: usize): void {
  const next = byteAt(i + 1)
  if (isDigit(next === 32 || next === 40 ? byteAt(i + 2) : next)) bits |= plus
}

/** `sk-`, `glpat-`, `---`, `xox?-` */
function isTokenDash(i: usize): bool {
  const one = byteAt(i - 1)
  const two = byteAt(i - 2)
  if (one === 45 && two === 45) return true
  if (one === 107 && two === 115) return true
  if (one === 116 && load<u32>(i - 5) === 0x61706c67) return true
  return two === 120 && byteAt(i - 3) === 111 && byteAt(i - 4) === 120
}

/** `pat_`, `hf_`, `npm_`, `chk_`, `gh?_` */
function isTokenUnderscore(i: usize): bool {
  const one = byteAt(i - 1)
  const two = byteAt(i - 2)
  const three = byteAt(i - 3)
  if (one === 116 && two === 97 && three === 112) return true
  if (one === 102 && two === 104) return true
  if (one === 109 && two === 112 && three === 110) return true
  if (one === 107 && two === 104 && three === 99) return true
  return two === 104 && three === 103
}

/** `AKIA`, `ASIA`, `AIza` */
function isTokenCapital(i: usize): bool {
  const next = byteAt(i + 1)
  const second = byteAt(i + 2)
  return next === 73 ? second === 122 : (next === 75 || next === 83) && second === 73
}

/** `?key=` */
function isKeyParameter(i: usize): bool {
  if ((byteAt(i - 1) | 32) !== 121 || (byteAt(i - 2) | 32) !== 101 || (byteAt(i - 3) | 32) !== 107) return false
  const sign = byteAt(i - 4)
  return sign === 63 || sign === 38 || sign === 59 || sign === 35
}

function lookAt(i: usize): void {
  const c = byteAt(i)
  if (isDigit(c)) lookAtDigit(i)
  else if (c === 58) lookAtColon(i)
  else if (c === 64) bits |= atSign
  else if (c === 37) {
    if (byteAt(i + 1) === 52 && byteAt(i + 2) === 48) bits |= atSign
  } else if (c === 43) lookAtPlus(i)
  else if (c === 92) bits = everything
  else if (bits & token) return
  else if (c === 61) {
    if (isKeyParameter(i) || mayEndSo(i - 1)) bits |= token
  } else if (c === 45 ? isTokenDash(i) : c === 95 ? isTokenUnderscore(i) : c === 65 ? isTokenCapital(i) : true)
    bits |= token
}

function is(v: v128, c: u8): v128 {
  return i8x16.eq(v, i8x16.splat(c))
}

/** Bits of those of sixteen bytes that are looked at one by one. */
function placesIn(p: usize): i32 {
  const v = v128.load(p)
  const next = v128.load(p + 1)
  const before = v128.load(p - 1)
  const beforeThat = v128.load(p - 2)
  const small = i8x16.splat(32)
  let found = i8x16.le_u(i8x16.sub(v, i8x16.splat(48)), i8x16.splat(10)) // digits and the colon behind them
  found = v128.or(found, v128.or(is(v, 64), v128.or(is(v, 43), is(v, 61))))
  found = v128.or(found, v128.and(is(v, 37), is(next, 52)))
  found = v128.or(found, v128.and(is(v, 92), v128.or(is(next, 117), is(next, 47))))
  const dash = v128.or(v128.or(is(before, 107), is(before, 116)), v128.or(is(before, 45), is(beforeThat, 120)))
  found = v128.or(found, v128.and(is(v, 45), dash))
  const under = v128.or(v128.or(is(before, 116), is(before, 102)), v128.or(is(before, 109), is(before, 107)))
  found = v128.or(found, v128.and(is(v, 95), v128.or(under, is(beforeThat, 104))))
  found = v128.or(found, v128.and(is(v, 65), v128.or(is(next, 73), v128.or(is(next, 75), is(next, 83)))))
  found = v128.or(found, v128.and(is(v, 74), v128.and(is(before, 121), is(beforeThat, 101))))
  const bearer = v128.and(is(v128.or(v, small), 98), is(v128.or(next, small), 101))
  found = v128.or(found, v128.and(bearer, is(v128.or(v128.load(p + 2), small), 97)))
  return i8x16.bitmask(found)
}

/**
 * Bits of what stands between two positions; all of them where characters are written as escapes.
 * @param any every name may be one of those that are looked for; else their endings are in the memory
 */
export function anchorBits(start: usize, end: usize, any: bool): i32 {
  bits = 0
  lastDigit = 0
  run = 0
  whole = 0
  isPart = false
  lastDot = 0
  lastColon = 0
  colons = 0
  isDouble = false
  first = start
  isAny = any
  for (let p = start; p < end; p += 16) {
    let places = placesIn(p)
    if (end - p < 16) places &= (1 << (<i32>(end - p))) - 1
    for (; places !== 0; places &= places - 1) {
      lookAt(p + <usize>ctz<i32>(places))
      if (bits === everything) return everything
    }
  }
  return bits
}
