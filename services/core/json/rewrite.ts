// Writes a JSON text anew without white space: strings may be replaced, every number stays as it was written.
import { skipTextSpace, stringEnd, textOfString } from './text-walk.ts'

/** Replacement of a string value; `key` is its member name, null for items and for the whole value. */
export type ReplaceString = (text: string, key: string | null) => string

/**
 * The same value without white space between tokens, strings passed through `replace`, and lone surrogates in strings
 * and keys replaced by U+FFFD. Repeated keys stay.
 * @param json text that JSON.parse accepts
 */
export function rewriteJson(json: string, replace: ReplaceString = (text) => text): string {
  let out = ''
  let copied = 0
  let key: string | null = null
  let i = 0
  while (i < json.length) {
    const c = json.charCodeAt(i)
    if (c === 34) {
      const end = stringEnd(json, i)
      const text = textOfString(json.slice(i, end))
      const isKey = json.charCodeAt(skipTextSpace(json, end)) === 58
      const kept = (isKey ? text : replace(text, key)).toWellFormed()
      if (kept !== text) {
        out += json.slice(copied, i) + JSON.stringify(kept)
        copied = end
      }
      key = isKey ? text : null
      i = end
    } else if (c === 32 || c === 10 || c === 13 || c === 9) {
      out += json.slice(copied, i)
      i = skipTextSpace(json, i)
      copied = i
    } else {
      if (c === 123 || c === 91 || c === 44) key = null
      i++
    }
  }
  return out + json.slice(copied)
}
