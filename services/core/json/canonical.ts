// Canonical JSON for content hashes, straight from JSON text, so that number tokens survive (specification: objects, 1.2).
import { malformed, tooLarge } from '../errors.ts'
import { scalarEnd, skipTextSpace, stringEnd, unexpectedAt, valueEnd } from './text-walk.ts'

const quote = 34
const backslash = 92
/** Nesting at which a body is refused; the HTTP edge refuses it earlier, this bounds the recursion by itself. */
const maxDepth = 1000

/** Visits the parts of the container that starts at `at`; keys only for objects. */
function eachPart(text: string, at: number, visit: (start: number, end: number, key: string) => void): void {
  const isObject = text.charCodeAt(at) === 123
  const close = isObject ? 125 : 93
  let i = skipTextSpace(text, at + 1)
  if (text.charCodeAt(i) === close) return
  for (;;) {
    let key = ''
    if (isObject) {
      const end = stringEnd(text, i)
      key = JSON.parse(text.slice(i, end)) as string
      i = skipTextSpace(text, skipTextSpace(text, end) + 1)
    }
    const end = valueEnd(text, i)
    visit(i, end, key)
    i = skipTextSpace(text, end)
    const c = text.charCodeAt(i)
    if (c === close) return
    if (c !== 44) throw unexpectedAt(text, i)
    i = skipTextSpace(text, i + 1)
  }
}

/** Members of an object's JSON text as key and value text; of a repeated key the last. Null if it is no object. */
export function members(text: string): Map<string, string> | null {
  const at = skipTextSpace(text, 0)
  if (text.charCodeAt(at) !== 123) return null
  const found = new Map<string, string>()
  eachPart(text, at, (start, end, key) => found.set(key, text.slice(start, end)))
  return found
}

/** The same in the order of the text, repeated keys included. */
export function pairs(text: string): [key: string, value: string][] | null {
  const at = skipTextSpace(text, 0)
  if (text.charCodeAt(at) !== 123) return null
  const found: [string, string][] = []
  eachPart(text, at, (start, end, key) => found.push([key, text.slice(start, end)]))
  return found
}

/** Items of an array's JSON text; null if it is no array. */
export function items(text: string): string[] | null {
  const at = skipTextSpace(text, 0)
  if (text.charCodeAt(at) !== 91) return null
  const found: string[] = []
  eachPart(text, at, (start, end) => found.push(text.slice(start, end)))
  return found
}

/** JSON text without raw line breaks: unchanged when it has none, else without any insignificant white space. */
export function oneLine(text: string): string {
  if (text.indexOf('\n') === -1 && text.indexOf('\r') === -1) return text
  const kept: string[] = []
  let from = 0
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === quote) i = stringEnd(text, i) - 1
    else if (c === 32 || c === 10 || c === 13 || c === 9) {
      if (i > from) kept.push(text.slice(from, i))
      from = i + 1
    }
  }
  kept.push(text.slice(from))
  return kept.join('')
}

/** A finite double in the style of the reference's JSON writer: always a fraction or an exponent, shortest round trip. */
export function floatText(value: number): string {
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0'
  const size = Math.abs(value)
  if (size >= 1e-4 && size < 1e16) {
    // In this range JavaScript writes positionally, too.
    const text = String(value)
    return text.includes('.') ? text : `${text}.0`
  }
  const [mantissa, exponent] = size.toExponential().split('e') as [string, string]
  const e = Number(exponent)
  const digits = mantissa.replace('.', '')
  const sign = value < 0 ? '-' : ''
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : ''
  return `${sign}${digits[0]}${fraction}e${e < 0 ? '-' : '+'}${String(Math.abs(e)).padStart(2, '0')}`
}

const numberToken = /^-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

function canonicalScalar(token: string, at: number, text: string): string {
  if (token === 'null' || token === 'true' || token === 'false') return token
  const match = numberToken.exec(token)
  if (!match) throw unexpectedAt(text, at)
  if (match[1] === undefined && match[2] === undefined) return token === '-0' ? '0' : token
  const value = Number(token)
  if (!Number.isFinite(value)) throw malformed('A number is too large for a stored value')
  return floatText(value)
}

/** Characters that stand for themselves in a canonical string. */
const plainRun = /[\x20\x21\x23-\x5b\x5d-\x7e]*/y

const escapeUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

/** ASCII-only JSON string: everything outside U+0020..U+007E escaped, lone surrogates kept as escapes. */
const asciiString = (value: string): string => JSON.stringify(value).replace(/[\u007f-\uffff]/g, escapeUnit)

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00

/** Order by Unicode code point; JavaScript's own order is by UTF-16 unit. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  let i = 0
  while (i < length && a.charCodeAt(i) === b.charCodeAt(i)) i++
  // The unit before may be the first half of a pair in one string and stand alone in the other.
  if (i > 0 && isHigh(a.charCodeAt(i - 1))) {
    const before = (a.codePointAt(i - 1) as number) - (b.codePointAt(i - 1) as number)
    if (before !== 0) return before
  }
  if (i === a.length || i === b.length) return a.length - b.length
  return (a.codePointAt(i) as number) - (b.codePointAt(i) as number)
}

type Member = { key: string; text: string }

/** Sorted and each key once; the sort is stable, so that the last of equal keys is the last one sent. */
function ordered(found: Member[]): Member[] {
  let ascending = true
  for (let i = 1; i < found.length && ascending; i++)
    ascending = compareCodePoints((found[i - 1] as Member).key, (found[i] as Member).key) < 0
  if (ascending) return found
  found.sort((a, b) => compareCodePoints(a.key, b.key))
  return found.filter((member, i) => found[i + 1]?.key !== member.key)
}

/**
 * Canonical text of a JSON text: keys in code point order at every depth, of repeated keys the last, `", "` and `": "`,
 * ASCII escapes, integers in full, floats in `floatText` style. The result is ASCII.
 * @throws SyntaxError when the text is not JSON; Refusal `malformed` for a number beyond double range, `too_large` when nested too deep
 */
export function canonicalJson(text: string): string {
  let at = skipTextSpace(text, 0)

  function string(): string {
    const start = at
    plainRun.lastIndex = start + 1
    plainRun.test(text)
    let i = plainRun.lastIndex
    const plain = text.charCodeAt(i) === quote
    for (; ; i++) {
      const c = text.charCodeAt(i)
      if (c === quote) break
      if (c === backslash) i++
      else if (!(c >= 32)) throw unexpectedAt(text, i)
    }
    at = i + 1
    const source = text.slice(start, at)
    return plain ? source : asciiString(JSON.parse(source) as string)
  }

  function object(depth: number): string {
    const found: Member[] = []
    at = skipTextSpace(text, at + 1)
    if (text.charCodeAt(at) === 125) {
      at++
      return '{}'
    }
    for (;;) {
      if (text.charCodeAt(at) !== quote) throw unexpectedAt(text, at)
      const name = string()
      // An escaped name is rare; a plain one is its own key.
      const key = name.indexOf('\\') === -1 ? name.slice(1, -1) : (JSON.parse(name) as string)
      at = skipTextSpace(text, at)
      if (text.charCodeAt(at) !== 58) throw unexpectedAt(text, at)
      at = skipTextSpace(text, at + 1)
      found.push({ key, text: `${name}: ${value(depth)}` })
      at = skipTextSpace(text, at)
      const c = text.charCodeAt(at++)
      if (c === 125) break
      if (c !== 44) throw unexpectedAt(text, at - 1)
      at = skipTextSpace(text, at)
    }
    return `{${ordered(found)
      .map((member) => member.text)
      .join(', ')}}`
  }

  function array(depth: number): string {
    const found: string[] = []
    at = skipTextSpace(text, at + 1)
    if (text.charCodeAt(at) === 93) {
      at++
      return '[]'
    }
    for (;;) {
      found.push(value(depth))
      at = skipTextSpace(text, at)
      const c = text.charCodeAt(at++)
      if (c === 93) break
      if (c !== 44) throw unexpectedAt(text, at - 1)
      at = skipTextSpace(text, at)
    }
    return `[${found.join(', ')}]`
  }

  function value(depth: number): string {
    const c = text.charCodeAt(at)
    if (c === quote) return string()
    if (c === 123 || c === 91) {
      if (depth >= maxDepth) throw tooLarge()
      return c === 123 ? object(depth + 1) : array(depth + 1)
    }
    const start = at
    at = scalarEnd(text, at)
    return canonicalScalar(text.slice(start, at), start, text)
  }

  const result = value(0)
  if (skipTextSpace(text, at) !== text.length) throw unexpectedAt(text, at)
  return result
}
