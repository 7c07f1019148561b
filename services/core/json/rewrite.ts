// Writes a JSON text anew without white space: strings may be replaced, every number stays as it was written.

/** Replacement of a string value; `key` is its member name, null for items and for the whole value. */
export type ReplaceString = (text: string, key: string | null) => string

/** Index of the quote that ends the string whose content begins at `from`. */
function closingQuote(json: string, from: number): number {
  let quote = json.indexOf('"', from)
  for (;;) {
    if (quote === -1) throw new Error('not a JSON text')
    let slashes = 0
    while (json.charCodeAt(quote - 1 - slashes) === 92) slashes++
    if (slashes % 2 === 0) return quote
    quote = json.indexOf('"', quote + 1)
  }
}

const space = /[ \t\n\r]*/y

function skipSpace(json: string, from: number): number {
  space.lastIndex = from
  space.test(json)
  return space.lastIndex
}

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
      const end = closingQuote(json, i + 1)
      const raw = json.slice(i + 1, end)
      const text: string = raw.includes('\\') ? JSON.parse(`"${raw}"`) : raw
      const isKey = json.charCodeAt(skipSpace(json, end + 1)) === 58
      const kept = (isKey ? text : replace(text, key)).toWellFormed()
      if (kept !== text) {
        out += json.slice(copied, i) + JSON.stringify(kept)
        copied = end + 1
      }
      key = isKey ? text : null
      i = end + 1
    } else if (c === 32 || c === 10 || c === 13 || c === 9) {
      out += json.slice(copied, i)
      i = skipSpace(json, i)
      copied = i
    } else {
      if (c === 123 || c === 91 || c === 44) key = null
      i++
    }
  }
  return out + json.slice(copied)
}
