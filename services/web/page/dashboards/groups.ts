// Groups of calls: what they are called, and the filter that finds the calls of one.
import { fieldOfPath } from '../engine/completion.ts'
import { kindOfField, pathsOf } from '../engine/filter-fields.ts'
import { literalText } from '../engine/query-text.ts'
import { opNameOf } from '../engine/rows.ts'

/** Names of groups, and the field of a filter that finds them. */
const groupsBy: Readonly<Record<string, { head: string; field: string | null }>> = {
  op_name: { head: 'Operation', field: 'op' },
  user: { head: 'Key owner', field: 'user' },
  thread_id: { head: 'Thread', field: 'thread' },
  model: { head: 'Model', field: 'model' },
  status: { head: 'Status', field: 'status' },
  error_kind: { head: 'Error', field: 'error_kind' },
  exception: { head: 'Message', field: 'error' },
  end_user: { head: 'End user', field: 'end_user' },
  'attributes.end_user': { head: 'End user', field: 'end_user' },
}

/** A name that programs send is its own field, as those of the line are. */
const fieldOf = (by: string): string | null => {
  if (kindOfField(by) !== undefined) return by
  const [first, second] = pathsOf(by)
  const field = fieldOfPath(first)
  return second === undefined || field === null ? field : by
}

export const groupBy = (by: string): { head: string; field: string | null } =>
  (Object.hasOwn(groupsBy, by) ? groupsBy[by] : undefined) ?? { head: by, field: fieldOf(by) }

export const nameOfGroup = (by: string, key: string): string => (by === 'op_name' ? opNameOf(key) : key)

/** Terms that find the calls of a group; undefined where a filter cannot say it. */
export function termsOf(groups: readonly string[], keys: readonly string[]): string | undefined {
  const terms = groups.map((by, place) => {
    const { field } = groupBy(by)
    const key = keys[place] ?? ''
    if (field === null) return undefined
    return key === '' ? '' : `${field}:${literalText(nameOfGroup(by, key))}`
  })
  return terms.includes(undefined) ? undefined : terms.filter((term) => term !== '').join(' ')
}
