// One pass over the bytes of a payload that tells which detectors can find anything in it: most of them have nothing.

/** Bits of what stands in a payload. */
export const anchors = {
  /** The sign, as it is or as `%40`. */
  at: 1,
  /** A plus that a digit follows, maybe behind a space or a bracket. */
  plus: 2,
  /** Thirteen digits, with at most a space or a hyphen between two of them. */
  digits: 4,
  /** Three colons with at most four hexadecimal digits between two of them, two of them side by side; or six. */
  colon: 8,
  /** Two dots with digits around them. */
  dots: 16,
  /** First bytes of credentials, or a name that one may follow: `?password=`, `&key=`. */
  token: 32,
  /** Two capitals before two digits, behind no letter. */
  capitals: 64,
  /** A name that may be one of those that are looked for. */
  key: 128,
} as const

export const allAnchors = 255
const [digit, at, plus, colon, dash, underscore, capitalA, capitalJ, letterB, backslash, equals, percent] = [
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
]

const classes = new Uint8Array(256)
for (const [letters, one] of [
  ['0123456789', digit],
  ['@', at],
  ['+', plus],
  [':', colon],
  ['-', dash],
  ['_', underscore],
  ['A', capitalA],
  ['J', capitalJ],
  ['bB', letterB],
  ['\\', backslash],
  ['=', equals],
  ['%', percent],
] as const)
  for (const letter of letters) classes[letter.charCodeAt(0)] = one

const code = (letter: string): number => letter.charCodeAt(0)
const underscoreCode = code('_')
const parameterSigns = new Set([...'?&;#'].map(code))
const isCapital = (c: number | undefined): boolean => c !== undefined && c >= 65 && c <= 90
const isWord = (c: number | undefined): boolean => isCapital(c) || c === 95 || (c !== undefined && c >= 97 && c <= 122)
const isHex = (c: number | undefined): boolean =>
  c !== undefined && ((c >= 48 && c <= 57) || (c >= 97 && c <= 102) || (c >= 65 && c <= 70))

/** Whether the text ends so before a position. */
function endsWith(bytes: Uint8Array, position: number, text: string): boolean {
  for (let n = 1; n <= text.length; n++) if (bytes[position - n] !== text.charCodeAt(text.length - n)) return false
  return true
}

const beforeDash = ['sk', 'glpat', '--']
const beforeUnderscore = ['pat', 'hf', 'npm', 'chk']

function tokenBefore(bytes: Uint8Array, i: number, one: number): boolean {
  if (one === dash) return beforeDash.some((text) => endsWith(bytes, i, text)) || endsWith(bytes, i - 1, 'xox')
  return beforeUnderscore.some((text) => endsWith(bytes, i, text)) || endsWith(bytes, i - 1, 'gh')
}

/** `AKIA`, `ASIA`, `AIza`; `eyJ`; `Bearer`. */
function tokenAt(bytes: Uint8Array, i: number, one: number): boolean {
  const next = bytes[i + 1]
  if (one === capitalA) {
    const second = bytes[i + 2]
    return next === code('I')
      ? second === code('z')
      : (next === code('K') || next === code('S')) && second === code('I')
  }
  if (one === capitalJ) return bytes[i - 1] === code('y') && bytes[i - 2] === code('e')
  return ((next as number) | 32) === code('e') && ((bytes[i + 2] as number) | 32) === code('a')
}

/**
 * Endings of names, from the last letter backwards: bits of the endings that each byte fits, two numbers for each of
 * the 256 bytes, those of one place after the other.
 */
export type KeyEndings = { places: Uint32Array[] } | 'any'

const longestEnding = 8
const maxEndings = 64

const isLetter = (c: number): boolean => c >= 128 || (c >= 97 && c <= 122) || (c >= 65 && c <= 90)
/** Bytes that do not count in a name: digits, and what stands between its words. */
const between = new Uint8Array(256)
for (const one of '0123456789_-./[] ') between[one.charCodeAt(0)] = 1
const isBetween = (c: number): boolean => between[c] === 1
const [quote, slash] = [34, 92]

const reversed = (text: string): string => [...text].reverse().join('')

function commonStart(one: string, other: string): string {
  let n = 0
  while (n < one.length && one[n] === other[n]) n++
  return one.slice(0, n)
}

/** Those that do not begin with another one, in their order. */
const shortest = (sorted: readonly string[]): string[] => {
  const kept: string[] = []
  for (const one of sorted) if (kept.length === 0 || !one.startsWith(kept.at(-1) as string)) kept.push(one)
  return kept
}

/** Number of names from which on only their last letters count, because merging them would take long. */
const maxMerged = 1_000

/** The last letters of names: with too many endings, the common letters of the two that are most alike. */
function endingsOf(names: readonly string[]): string[] {
  const letters = names.map((name) => [...name].filter((one) => !isBetween(one.charCodeAt(0))).join(''))
  const cut = (length: number) => shortest([...new Set(letters.map((name) => reversed(name.slice(-length))))].sort())
  let endings = cut(longestEnding)
  if (endings.length > maxMerged) endings = cut(2)
  while (endings.length > maxEndings) {
    let best = { at: 0, common: '' }
    for (let at = 1; at < endings.length; at++) {
      const common = commonStart(endings[at - 1] as string, endings[at] as string)
      if (common.length > best.common.length || at === 1) best = { at, common }
    }
    endings.splice(best.at - 1, 2, best.common)
    endings = shortest(endings)
  }
  return endings.map(reversed)
}

/** @param names normalised ones, of which the last letters count; '' stands for any name */
export function keyEndingsOf(names: readonly string[]): KeyEndings {
  const endings = endingsOf(names)
  if (endings.some((ending) => ending === '' || /[^a-z]/.test(ending))) return 'any'
  const places = Array.from({ length: longestEnding }, (_, place) => {
    const bits = new Uint32Array(512)
    // Letters beyond ASCII may become others when the case is changed.
    bits.fill(0xffffffff, 256)
    const mark = (c: number, n: number): void => {
      bits[c * 2 + (n >> 5)] = (bits[c * 2 + (n >> 5)] as number) | (1 << (n & 31))
    }
    endings.forEach((ending, n) => {
      const letter = ending[ending.length - 1 - place]
      if (letter === undefined) for (let c = 0; c < 256; c++) mark(c, n)
      else for (const form of [letter, letter.toUpperCase()]) mark(form.charCodeAt(0), n)
    })
    return bits
  })
  return { places }
}

/** Whether the name whose last byte stands at `at` may end like one of those that are looked for. */
function mayEndSo(bytes: Uint8Array, at: number, start: number, endings: KeyEndings): boolean {
  if (endings === 'any') return true
  let i = at
  let low = 0xffffffff
  let high = 0xffffffff
  for (const place of endings.places) {
    while (i >= start && isBetween(bytes[i] as number)) i--
    const c = i < start ? quote : (bytes[i--] as number)
    low &= place[c * 2] as number
    high &= place[c * 2 + 1] as number
    if ((low | high) === 0) return false
    // The letter before the name fits only those endings that are complete.
    if (!isLetter(c)) return true
  }
  return true
}

/** The same of the name of a member whose colon stands at `at`. */
function mayBeKey(bytes: Uint8Array, at: number, start: number, endings: KeyEndings): boolean {
  let i = at - 1
  while (i > start && (bytes[i] as number) <= 32) i--
  if (bytes[i] !== quote) return false
  i--
  while (i > start && bytes[i] === slash) i--
  return mayEndSo(bytes, i, start, endings)
}

type Pass = {
  bytes: Uint8Array
  start: number
  endings: KeyEndings
  bits: number
  lastDigit: number
  /** Digits side by side, with at most a space or a hyphen between two of them. */
  run: number
  /** Digits before the dot of a number. */
  whole: number
  /** A word goes on into the run: an id, or a part of one. */
  isPart: boolean
  lastDot: number
  lastColon: number
  /** Colons in a row, with at most four hexadecimal digits between two of them. */
  colons: number
  isDouble: boolean
}

const isDigit = (c: number | undefined): boolean => classes[c as number] === digit

/** A letter that is not the end of an escape such as `\n`. */
const isWordAt = (bytes: Uint8Array, i: number): boolean => isWord(bytes[i]) && bytes[i - 1] !== code('\\')

/** Whether one or two letters behind a digit end before `i`: a hash goes on there, or another id. */
const isBehindPart = (bytes: Uint8Array, i: number): boolean =>
  isWord(bytes[i - 1]) &&
  bytes[i - 1] !== underscoreCode &&
  (isDigit(bytes[i - 2]) || (isWord(bytes[i - 2]) && bytes[i - 2] !== underscoreCode && isDigit(bytes[i - 3])))

/** `?key=` of an address, whose equals sign stands at `i`. */
const isKeyParameter = (bytes: Uint8Array, i: number): boolean =>
  ((bytes[i - 1] as number) | 32) === code('y') &&
  ((bytes[i - 2] as number) | 32) === code('e') &&
  ((bytes[i - 3] as number) | 32) === code('k') &&
  parameterSigns.has(bytes[i - 4] as number)

/** Longest group of an IPv6 address. */
const maxGroup = 4
const noColons = { lastColon: -9, colons: 0, isDouble: false }

function areHex(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (!isHex(bytes[i])) return false
  return true
}

function lookAtDigit(pass: Pass, i: number): void {
  const { bytes, lastDigit } = pass
  const before = bytes[i - 1]
  if (i - lastDigit === 2 && before === code('.')) {
    if (i - pass.lastDot <= 5) pass.bits |= anchors.dots
    pass.lastDot = i
  }
  const goesOn = i - lastDigit === 1 || (i - lastDigit === 2 && (before === code(' ') || before === code('-')))
  // Behind the dot of a number no card begins: it would stand alone.
  if (!goesOn) {
    const isDecimal = before === code('.') && isDigit(bytes[i - 2])
    pass.isPart = isDecimal || isBehindPart(bytes, i)
    pass.whole = isDecimal ? pass.run : 0
  } else if (before === code(' ')) pass.isPart = false
  pass.run = goesOn ? pass.run + 1 : 1
  pass.lastDigit = i
  if (pass.run >= 13 && !pass.isPart) pass.bits |= anchors.digits
  // `4.111111111111111e15`, `41111111.11111111e8`
  else if (pass.run + pass.whole >= 12 && ((bytes[i + 1] as number) | 32) === code('e')) pass.bits |= anchors.digits
  else if (
    pass.run === 1 &&
    isCapital(before) &&
    isCapital(bytes[i - 2]) &&
    isDigit(bytes[i + 1]) &&
    !isWordAt(bytes, i - 3) &&
    !isDigit(bytes[i - 3])
  )
    pass.bits |= anchors.capitals
}

function lookAtPlus(pass: Pass, i: number): void {
  const next = pass.bytes[i + 1]
  const first = next === code(' ') || next === code('(') ? pass.bytes[i + 2] : next
  if (isDigit(first)) pass.bits |= anchors.plus
}

function lookAtColon(pass: Pass, i: number): void {
  const { bytes, start, endings } = pass
  const between = i - pass.lastColon - 1
  const goesOn = between <= maxGroup && areHex(bytes, i - between, i)
  pass.colons = goesOn ? pass.colons + 1 : 1
  pass.isDouble = goesOn && (pass.isDouble || between === 0)
  pass.lastColon = i
  if (pass.colons >= (pass.isDouble ? 3 : 6)) pass.bits |= anchors.colon
  if (mayBeKey(bytes, i, start, endings)) pass.bits |= anchors.key
}

function lookAtBackslash(pass: Pass, i: number): void {
  const next = pass.bytes[i + 1]
  if (next === code('u') || next === code('/')) pass.bits = allAnchors
}

const lookFor =
  (isToken: (bytes: Uint8Array, i: number, one: number) => boolean, one: number) =>
  (pass: Pass, i: number): void => {
    if (isToken(pass.bytes, i, one)) pass.bits |= anchors.token
  }

/** The work at a byte of each class. */
const looks: ((pass: Pass, i: number) => void)[] = []
looks[digit] = lookAtDigit
looks[at] = (pass) => {
  pass.bits |= anchors.at
}
looks[plus] = lookAtPlus
looks[colon] = lookAtColon
looks[backslash] = lookAtBackslash
looks[equals] = (pass, i) => {
  if (isKeyParameter(pass.bytes, i) || mayEndSo(pass.bytes, i - 1, pass.start, pass.endings)) pass.bits |= anchors.token
}
looks[percent] = (pass, i) => {
  if (pass.bytes[i + 1] === code('4') && pass.bytes[i + 2] === code('0')) pass.bits |= anchors.at
}
for (const one of [dash, underscore]) looks[one] = lookFor(tokenBefore, one)
for (const one of [capitalA, capitalJ, letterB]) looks[one] = lookFor(tokenAt, one)

/**
 * @param endings of the names that are looked for
 * @returns bits of `anchors`; all of them where characters are written as escapes
 */
export function anchorsIn(bytes: Uint8Array, start: number, end: number, endings: KeyEndings): number {
  const noDigits = { lastDigit: -9, run: 0, whole: 0, isPart: false, lastDot: -9 }
  const pass = { bytes, start, endings, bits: 0, ...noDigits, ...noColons }
  for (let i = start; i < end && pass.bits !== allAnchors; i++) {
    const one = classes[bytes[i] as number] as number
    if (one !== 0) looks[one]?.(pass, i)
  }
  return pass.bits
}
