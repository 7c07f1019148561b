// Finds the ends of values of a JSON text, for texts that are known to be JSON: it checks no more than that needs.

const quote = 34
const backslash = 92

/** The error of a text that is no JSON from an index on. */
export const unexpectedAt = (text: string, at: number): SyntaxError =>
  new SyntaxError(at < text.length ? `Unexpected token at position ${at}` : 'Unexpected end of JSON text')

/** Index of the next character that is no white space; at the beginning a byte order mark is passed over, too. */
export function skipTextSpace(text: string, at: number): number {
  let i = at
  for (;;) {
    const c = text.charCodeAt(i)
    if (c === 32 || c === 10 || c === 13 || c === 9 || (c === 0xfeff && i === 0)) i++
    else return i
  }
}

/** Index after the closing quote of the string that starts at `at`. @throws SyntaxError when there is none */
export function stringEnd(text: string, at: number): number {
  let close = at
  for (;;) {
    close = text.indexOf('"', close + 1)
    if (close === -1) throw unexpectedAt(text, text.length)
    let slashes = 0
    while (text.charCodeAt(close - 1 - slashes) === backslash) slashes++
    if (slashes % 2 === 0) return close + 1
  }
}

/** Index after the number or word that starts at `at`. */
export function scalarEnd(text: string, at: number): number {
  let i = at
  for (; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === 44 || c === 93 || c === 125 || c === 32 || c === 10 || c === 13 || c === 9 || c === 58) break
  }
  return i
}

/** Index after the value that starts at `at`. @throws SyntaxError when the text ends before */
export function valueEnd(text: string, at: number): number {
  const first = text.charCodeAt(at)
  if (first === quote) return stringEnd(text, at)
  if (first !== 123 && first !== 91) return scalarEnd(text, at)
  let depth = 0
  for (let i = at; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === quote) i = stringEnd(text, i) - 1
    else if (c === 123 || c === 91) depth++
    else if ((c === 125 || c === 93) && --depth === 0) return i + 1
  }
  throw unexpectedAt(text, text.length)
}

/** The value of the string between two quotes. @param raw with its quotes */
export const textOfString = (raw: string): string =>
  raw.includes('\\') ? (JSON.parse(raw) as string) : raw.slice(1, -1)
