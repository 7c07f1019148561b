// The end user of a call, whom its program names (`user.id` and its like); the owner of the key is another field.
import { pathOf } from './filter-fields.ts'
import { literalText } from './query-text.ts'

/** Its name, and the term of a filter that finds the calls of this user. */
export type EndUser = { name: string; term: string }

const [document = '', member = ''] = pathOf('end_user').split('.')

/** @param record of a call; undefined where it names none */
export function endUserOf(record: Readonly<Record<string, unknown>>): EndUser | undefined {
  const members = (record[document] ?? {}) as Record<string, unknown>
  const value = Object.hasOwn(members, member) ? members[member] : undefined
  if ((typeof value !== 'string' && typeof value !== 'number') || value === '') return undefined
  return { name: String(value), term: `end_user:${literalText(value)}` }
}
