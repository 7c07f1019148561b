// Cuts the top-level members of a JSON object out of its text, so that one can be replaced while every other byte stays.
import { type Member, membersAt, skipByteSpace } from '../../core/json/byte-walk.ts'

/** The members of a valid JSON object in their order; null when the text is not an object. */
export function membersOf(text: Buffer): Member[] | null {
  const at = skipByteSpace(text, 0)
  return text[at] === 0x7b ? [...membersAt(text, at)] : null
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
