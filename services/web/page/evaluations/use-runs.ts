// The questions of evaluations: runs, their rows, what refs of examples stand for.
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { baseUrl, json } from '../api/client.ts'
import type { RunHead, RunRow } from '../engine/evaluation-rows.ts'
import type { ViewRange } from '../engine/lists.ts'
import { useList } from '../parts/use-list.ts'
import { ask } from '../worker/client.ts'
import { type ComparedRuns, comparisonQuery } from './comparison-query.ts'

export const listedRuns = 500
const againMs = 5_000

/** @param ids only these; without it the latest */
export const useRuns = (projectId: string, ids: string[] | null = null) =>
  useList<RunHead>({
    key: ['evaluation runs', projectId, ids],
    read: ({ signal }) => ask('evaluationRuns', [baseUrl, projectId, ids, ids?.length ?? listedRuns], { signal }),
    // Runs that go on are followed.
    everyMs: (heads) => (heads.some(({ status }) => status === 'running') ? againMs : false),
  })

/** Progress of running runs: finished rows, and all of them. */
export function useProgress(projectId: string, ids: readonly string[]) {
  const results = useQueries({
    queries: ids.map((call_id) => ({
      queryKey: ['evaluation progress', projectId, call_id],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        json('evaluations.status', { project_id: projectId, call_id }, { signal }),
      refetchInterval: againMs,
    })),
  })
  return new Map(
    ids.flatMap((id, n): [string, { done: number; total: number }][] => {
      const status = results[n]?.data?.status
      return status?.code === 'running' ? [[id, { done: status.completed_rows, total: status.total_rows }]] : []
    }),
  )
}

export const useRunRows = (projectId: string, runId: string, isRunning: boolean) =>
  useList<RunRow>({
    key: ['evaluation rows', projectId, runId],
    read: ({ signal }) => ask('evaluationRows', [baseUrl, projectId, runId], { signal }),
    everyMs: () => (isRunning ? againMs : false),
  })

export const useComparison = (projectId: string, compared: ComparedRuns) =>
  useQuery({ ...comparisonQuery(projectId, compared), placeholderData: keepPreviousData })

export type RunUsage = { tokens: number; cost: number }

/** Usage of each run with everything below it; none for a run with too many calls to add up. */
export function useUsage(projectId: string, ids: readonly string[]): ReadonlyMap<string, RunUsage> {
  return useQueries({
    queries: ids.map((id) => ({
      queryKey: ['evaluation usage', projectId, id],
      async queryFn({ signal }: { signal: AbortSignal }): Promise<[string, RunUsage]> {
        const asked = { project_id: projectId, call_ids: [id], include_costs: true }
        const models = Object.values((await json('calls.usage', asked, { signal })).call_usage[id] ?? {})
        const costOf = (one: (typeof models)[number]) =>
          (one.prompt_tokens_total_cost ?? 0) +
          (one.completion_tokens_total_cost ?? 0) +
          (one.cache_read_input_tokens_total_cost ?? 0) +
          (one.cache_creation_input_tokens_total_cost ?? 0)
        return [
          id,
          {
            tokens: models.reduce((sum, one) => sum + one.total_tokens, 0),
            cost: models.reduce((sum, one) => sum + costOf(one), 0),
          },
        ]
      },
      staleTime: 60_000,
      retry: false,
    })),
    combine: (results) => new Map(results.flatMap(({ data }) => (data === undefined ? [] : [data]))),
  })
}

type WithExample = { exampleRef: string | null; input: string; expected: string }

/** Examples of the rows in view that stand elsewhere; what was read stays. */
export function useExamples(rows: readonly WithExample[], range: ViewRange) {
  const refs = useMemo(
    () => [...new Set(rows.slice(range.from, range.to).flatMap(({ exampleRef }) => exampleRef ?? []))],
    [rows, range],
  )
  const { data } = useQuery({
    queryKey: ['examples', refs],
    queryFn: ({ signal }) => ask('examples', [baseUrl, refs], { signal }),
    enabled: refs.length > 0,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  })
  return (row: WithExample) =>
    (row.exampleRef === null ? undefined : data?.get(row.exampleRef)) ?? { input: row.input, expected: row.expected }
}
