// Reads one value out of a JSON text by its path and gives its string form, for documents that the engine cannot read.

import { placeOf } from '../../core/json/byte-walk.ts'
import { numberForm } from '../../core/json/number-text.ts'
import { ownValueKey, ownValueLead } from '../../core/json/own-value.ts'
import { scalarEnd, skipTextSpace, stringEnd } from '../../core/json/text-walk.ts'
import type { PathSegment } from './types.ts'

/** JSON text of the value at the path, null when it is missing. */
export function valueAt(text: string, path: readonly PathSegment[]): string | null {
  const bytes = Buffer.from(text)
  const place = placeOf(bytes, path)
  return place && bytes.toString('utf8', place.start, place.end)
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
  let i = skipTextSpace(text, 0)
  for (; i < text.length; i = skipTextSpace(text, i)) {
    const code = text.charCodeAt(i)
    if (code === 34) {
      const end = stringEnd(text, i)
      out.push(quoted(JSON.parse(text.slice(i, end)) as string))
      i = end
    } else if (code === 45 || (code >= 48 && code <= 57)) {
      const end = scalarEnd(text, i)
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

/** The same of an attribute: of an object with a value of its own it is that of this value. */
export function attributeForm(value: string | null): string {
  const form = stringForm(value)
  return form.startsWith(ownValueLead) ? stringForm(valueAt(form, [ownValueKey])) : form
}
