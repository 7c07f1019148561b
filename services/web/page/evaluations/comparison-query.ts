// The question of a comparison: what the runs of an address have in common, and in what they differ.
import { baseUrl } from '../api/client.ts'
import { ask } from '../worker/client.ts'
import { compareSearch, listOf, maxRuns } from './search.ts'

/** The runs to compare, from an address. */
export function comparedOf(search: Record<string, unknown>) {
  const { runs, lower, metrics } = compareSearch(search)
  return { ids: listOf(runs).slice(0, maxRuns), lower: listOf(lower), chosen: listOf(metrics) }
}

export type ComparedRuns = ReturnType<typeof comparedOf>

export const comparisonQuery = (projectId: string, { ids, lower, chosen }: ComparedRuns) => ({
  queryKey: ['comparison', projectId, ids, lower, chosen],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    ask('comparison', [baseUrl, projectId, ids, lower, chosen], { signal }),
  enabled: ids.length > 1,
  // Data that was read ahead of the page is not read again.
  staleTime: 5_000,
})
