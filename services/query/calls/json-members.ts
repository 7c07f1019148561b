// Cuts the top-level members of a JSON object out of its text, so that one can be replaced while every other byte stays.
import { byteStringEnd, byteValueEnd, skipByteSpace } from '../../core/json/byte-walk.ts'

/** A member of an object's text: `"key":value` lies at start..end, the value at valueStart..end. */
export type Member = { key: string; start: number; valueStart: number; end: number }

/** The members of a valid JSON object in their order; null when the text is not an object. */
export function membersOf(text: Buffer): Member[] | null {
  let i = skipByteSpace(text, 0)
  if (text[i] !== 0x7b) return null
  const members: Member[] = []
  for (i = skipByteSpace(text, i + 1); i < text.length && text[i] !== 0x7d; i = skipByteSpace(text, i)) {
    if (text[i] === 0x2c) i = skipByteSpace(text, i + 1)
    const keyEnd = byteStringEnd(text, i)
    const key = JSON.parse(text.toString('utf8', i, keyEnd)) as string
    const valueStart = skipByteSpace(text, skipByteSpace(text, keyEnd) + 1)
    const end = byteValueEnd(text, valueStart)
    members.push({ key, start: i, valueStart, end })
    i = end
  }
  return members
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
