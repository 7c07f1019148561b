// Aggregates of calls as panels ask for them, and filters that are narrowed.
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { json } from '../api/client.ts'
import type { Shapes } from '../api/routes.gen.ts'
import { parsed } from '../calls/search.ts'
import { type Expression, queryText } from '../engine/query-text.ts'

export type AskedAggregate = Shapes['calls.aggregate']['in']

export function useAggregate(asked: AskedAggregate | undefined) {
  return useQuery({
    queryKey: ['calls.aggregate', asked],
    queryFn: ({ signal }) => json('calls.aggregate', asked as AskedAggregate, { signal }),
    enabled: asked !== undefined,
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  })
}

/** A filter and one more, as text. */
export function narrowed(filter: Expression, more: string): string {
  const { expression } = parsed(more)
  const all = [filter, expression].filter(([first = []]) => first.length > 0)
  return all.map((one) => (all.length > 1 && one.length > 1 ? `(${queryText(one)})` : queryText(one))).join(' ')
}
