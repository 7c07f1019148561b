// The calls of a list that are set apart, and the others that they are compared with, as requests.
import { boundsOf, type CallsSearch, listRequest, parsedList, withCondition } from './calls-search.ts'
import type { CallsRequest } from './query-request.ts'

export type ListSide = CallsRequest & { project_id: string }
type Operation = Record<string, unknown>
export type ListSides = {
  here: ListSide
  elsewhere: ListSide
  /** The others where all calls that match the filter are set apart; undefined where the list has no filter. */
  withoutFilter?: ListSide
}

const startedAt = { $getField: 'started_at' }

/** @param ids marked calls, which are set apart; without, those of the range */
export function sidesOf(
  projectId: string,
  search: CallsSearch,
  ids: readonly string[] | undefined,
  nowS: number,
  zone: string,
): ListSides {
  const { expression, rows } = parsedList(search)
  const requestIn = (of: CallsSearch, filter = expression): ListSide => {
    const { sort_by: _, ...request } = listRequest(projectId, of, filter, nowS, () => zone)
    return request
  }
  if (ids !== undefined) {
    const isOther = { $not: [{ $in: [{ $getField: 'id' }, ids.map((id) => ({ $literal: id }))] }] }
    // Rows stay those of the list: some filters make calls of traces.
    const view = rows === 'calls' ? 'all' : undefined
    return {
      here: { project_id: projectId, filter: { call_ids: [...ids] } },
      elsewhere: withCondition(requestIn(search), isOther),
      ...(expression.length > 0 && { withoutFilter: withCondition(requestIn({ ...search, view }, []), isOther) }),
    }
  }
  const { from, to } = boundsOf(search.range ?? '', nowS) ?? {}
  const outside: Operation[] = []
  if (from !== undefined) outside.push({ $lt: [startedAt, { $literal: from }] })
  if (to !== undefined) outside.push({ $gte: [startedAt, { $literal: to }] })
  const others = outside.length === 1 ? (outside[0] as Operation) : { $or: outside }
  return { here: requestIn(search), elsewhere: withCondition(requestIn({ ...search, range: undefined }), others) }
}
