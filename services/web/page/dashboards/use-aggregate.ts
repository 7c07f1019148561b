// Aggregates of calls as panels ask for them.
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { json } from '../api/client.ts'
import type { Shapes } from '../routes.gen.ts'

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
