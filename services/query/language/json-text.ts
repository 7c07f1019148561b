// Reads one value out of a JSON text by its path and gives its string form, for documents that the engine cannot read.
import { numberForm } from '../../core/json/number-text.ts'
import type { PathSegment } from './types.ts'

const isSpace = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9

function skipSpace(text: string, at: number): number {
  let i = at
  while (isSpace(text.charCodeAt(i))) i++
  return i
}

/** Index after the string that starts at `at`. */
function stringEnd(text: string, at: number): number {
  let i = at + 1
  while (i < text.length) {
    const code = text.charCodeAt(i)
    if (code === 34) return i + 1
    i += code === 92 ? 2 : 1
  }
  return text.length
}

/** Index after the value that starts at `at`. */
function valueEnd(text: string, at: number): number {
  let depth = 0
  let i = at
  while (i < text.length) {
    const code = text.charCodeAt(i)
    if (code === 34) {
      i = stringEnd(text, i)
      if (depth === 0) return i
      continue
    }
    if (code === 123 || code === 91) depth++
    else if (code === 125 || code === 93) {
      if (depth === 0) return i
      if (--depth === 0) return i + 1
    } else if (depth === 0 && (code === 44 || code === 58 || isSpace(code))) return i
    i++
  }
  return text.length
}

/** Start of the member's value, -1 when there is none. Of repeated keys the first counts, as in the engine. */
function memberStart(text: string, object: number, key: string): number {
  let i = skipSpace(text, object + 1)
  while (text.charCodeAt(i) === 34) {
    const keyEnd = stringEnd(text, i)
    const quoted = text.slice(i, keyEnd)
    const name: unknown = quoted.includes('\\') ? JSON.parse(quoted) : quoted.slice(1, -1)
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1)
    if (name === key) return start
    i = skipSpace(text, valueEnd(text, start))
    if (text.charCodeAt(i) !== 44) return -1
    i = skipSpace(text, i + 1)
  }
  return -1
}

/** Start of the item with that index, -1 when there is none. */
function itemStart(text: string, array: number, index: number): number {
  let i = skipSpace(text, array + 1)
  if (text.charCodeAt(i) === 93) return -1
  for (let n = 0; n < index; n++) {
    i = skipSpace(text, valueEnd(text, i))
    if (text.charCodeAt(i) !== 44) return -1
    i = skipSpace(text, i + 1)
  }
  return i
}

/** JSON text of the value at the path, null when it is missing. A number names an item of an array or a key of an object. */
export function valueAt(text: string, path: readonly PathSegment[]): string | null {
  let at = skipSpace(text, 0)
  if (at >= text.length) return null
  for (const segment of path) {
    const code = text.charCodeAt(at)
    if (code === 123) at = memberStart(text, at, String(segment))
    else if (code === 91 && typeof segment === 'number') at = itemStart(text, at, segment)
    else return null
    if (at === -1) return null
  }
  return text.slice(at, valueEnd(text, at))
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what JSON escapes
const escaped = /["\\\u0000-\u001f\u2028\u2029]/g
const short: Record<string, string> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
}

/** The engine's spelling of a JSON string: upper-case hex digits, line separators escaped. */
const quoted = (text: string): string =>
  `"${text.replace(escaped, (char) => short[char] ?? `\\u${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`)}"`

/** Minified text of an object or array, with numbers and strings in the engine's spelling. */
function minified(text: string): string {
  const out: string[] = []
  let i = 0
  while (i < text.length) {
    const code = text.charCodeAt(i)
    if (isSpace(code)) i++
    else if (code === 34) {
      const end = stringEnd(text, i)
      out.push(quoted(JSON.parse(text.slice(i, end)) as string))
      i = end
    } else if (code === 45 || (code >= 48 && code <= 57)) {
      const end = valueEnd(text, i)
      out.push(numberForm(text.slice(i, end)))
      i = end
    } else {
      out.push(text[i] as string)
      i++
    }
  }
  return out.join('')
}

/** String form of a JSON value given as text; null (missing) and JSON null give ''. */
export function stringForm(value: string | null): string {
  if (value === null || value === 'null') return ''
  const code = value.charCodeAt(0)
  if (code === 34) return JSON.parse(value) as string
  if (code === 123 || code === 91) return minified(value)
  return value === 'true' || value === 'false' ? value : numberForm(value)
}
