// Whether any of the calls that a dashboard counts has a field: what groups by it is not asked for where none has.
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { lines } from '../api/client.ts'
import { parsed } from '../engine/calls-search.ts'
import { narrowed } from '../engine/dashboard-filters.ts'
import type { Shared } from './panel-props.ts'

const startedAt = { $getField: 'started_at' }

/** @param field undefined: nothing is asked for @param within the filter of the panel */
export function useHasField(requestOf: Shared['requestOf'], field: string | undefined, within: string | undefined) {
  const term = field === undefined ? undefined : narrowed(parsed(within).expression, `has:${field}`)
  const { project_id, filter, query, start, end } = requestOf(term)
  const inRange = [{ $gte: [startedAt, { $literal: start }] }, { $lt: [startedAt, { $literal: end }] }]
  const asked = {
    project_id,
    filter,
    query: { $expr: { $and: [...(query ? [query.$expr] : []), ...inRange] } },
    columns: ['id'],
    sort_by: [{ field: 'started_at', direction: 'desc' as const }],
    limit: 1,
  }
  return useQuery({
    queryKey: ['calls.has', asked],
    queryFn: async ({ signal }) => (await lines('calls.stream_query', asked, { signal })).length > 0,
    enabled: field !== undefined,
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  })
}
