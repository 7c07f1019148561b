// Strings of a JSON text in bytes: their texts, and what escapes they have.

export type Bytes = Buffer & {
  latin1Slice(start: number, end: number): string
  utf8Slice(start: number, end: number): string
}

const backslash = 92
/** Characters after the backslash of escapes that JSON.stringify writes as well. */
const usual = new Set(Buffer.from('"\\bfnrt'))

/** Escapes of the string start..end: none, those that JSON.stringify writes as well, or others. */
export function escapesOf(b: Bytes, start: number, end: number): 'none' | 'usual' | 'other' {
  let found: 'none' | 'usual' = 'none'
  for (let i = start + 1; i < end - 1; i++)
    if (b[i] === backslash) {
      if (!usual.has(b[++i] as number)) return 'other'
      found = 'usual'
    }
  return found
}

/** Text of the string start..end; null when it cannot be stored as it is. */
export function storableText(b: Bytes, start: number, end: number): string | null {
  if (escapesOf(b, start, end) === 'none') return b.utf8Slice(start + 1, end - 1)
  const text = JSON.parse(b.utf8Slice(start, end)) as string
  return text.isWellFormed() ? text : null
}
