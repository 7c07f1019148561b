// Cuts the top-level members of a JSON object out of its text, so that one can be replaced while every other byte stays.

/** A member of an object's text: `"key":value` lies at start..end, the value at valueStart..end. */
export type Member = { key: string; start: number; valueStart: number; end: number }

const quote = 0x22
const backslash = 0x5c
export const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

/** Index after the string that starts at `at`. */
export function afterString(text: Buffer, at: number): number {
  let i = at + 1
  while (i < text.length) {
    const byte = text[i]
    if (byte === quote) return i + 1
    i += byte === backslash ? 2 : 1
  }
  return text.length
}

/** Index after the value that starts at `at`. */
export function afterValue(text: Buffer, at: number): number {
  let depth = 0
  let i = at
  while (i < text.length) {
    const byte = text[i]
    if (byte === quote) {
      i = afterString(text, i)
      if (depth === 0) return i
      continue
    }
    if (byte === 0x7b || byte === 0x5b) depth++
    else if (byte === 0x7d || byte === 0x5d) {
      if (depth === 0) return i
      depth--
      if (depth === 0) return i + 1
    } else if (depth === 0 && (byte === 0x2c || isSpace(byte))) return i
    i++
  }
  return text.length
}

/** The members of a valid JSON object in their order; null when the text is not an object. */
export function membersOf(text: Buffer): Member[] | null {
  let i = 0
  const skip = () => {
    while (isSpace(text[i])) i++
  }
  skip()
  if (text[i] !== 0x7b) return null
  const members: Member[] = []
  i++
  for (;;) {
    skip()
    if (i >= text.length || text[i] === 0x7d) return members
    if (text[i] === 0x2c) {
      i++
      continue
    }
    const start = i
    const keyEnd = afterString(text, i)
    const key = JSON.parse(text.toString('utf8', start, keyEnd)) as string
    i = keyEnd
    skip()
    i++
    skip()
    const valueStart = i
    const end = afterValue(text, i)
    members.push({ key, start, valueStart, end })
    i = end
  }
}

/**
 * True when an object's text may hold the key at any depth: its plain spelling occurs, or an escape that could spell it.
 * Cheap: decides whether `membersOf` is worth its time.
 */
export const mayHoldKey = (text: Buffer, key: string): boolean =>
  text.includes(`"${key}"`, 0, 'latin1') || text.includes('\\u', 0, 'latin1')

/** Comma-separated text of the members whose key is not in `without`; '' when none is left. */
export function membersText(text: Buffer, members: Member[], without: ReadonlySet<string>): string {
  let joined = ''
  for (const member of members) {
    if (without.has(member.key)) continue
    joined += `${joined ? ',' : ''}${text.toString('utf8', member.start, member.end)}`
  }
  return joined
}
