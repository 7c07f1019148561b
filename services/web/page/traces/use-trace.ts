// A trace as it streams in; one that runs is read again every five seconds while it is looked at.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { baseUrl } from '../api/client.ts'
import { type Tree, treeOf } from '../engine/tree.ts'
import { ask } from '../worker/client.ts'
import type { TraceAnswer } from '../worker/main.ts'

const againMs = 5_000
const watchedMs = 600_000

export type Trace = { tree: Tree; nowUs: number; staleMs: number; isWhole: boolean; runs: boolean }

export function useTrace(projectId: string, traceId: string) {
  const client = useQueryClient()
  const queryKey = useMemo(() => ['trace', projectId, traceId], [projectId, traceId])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the time is that of the trace
  const openedMs = useMemo(() => Date.now(), [traceId])
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) =>
      ask('trace', [baseUrl, projectId, traceId], {
        signal,
        // What has come already is shown, unless more is shown already.
        part: (answer: TraceAnswer) =>
          client.setQueryData(queryKey, (before: TraceAnswer | undefined) =>
            before?.isWhole && before.spans.count >= answer.spans.count ? before : answer,
          ),
      }),
    staleTime: 60_000,
    refetchInterval: ({ state }) => {
      const spans = state.data?.spans
      const runs = spans?.duration.some((length) => length < 0) ?? false
      return runs && Date.now() - openedMs < watchedMs ? againMs : false
    },
  })
  const { data, dataUpdatedAt } = query
  const trace = useMemo((): Trace | undefined => {
    if (data === undefined) return undefined
    const nowUs = Math.max(0, dataUpdatedAt * 1000 - data.spans.baseUs)
    const runs = data.spans.duration.some((length) => length < 0)
    return { tree: treeOf(data.spans, nowUs), nowUs, staleMs: data.staleMs, isWhole: data.isWhole, runs }
  }, [data, dataUpdatedAt])
  return { ...query, trace }
}

export const openQuery = (projectId: string, id: string) => ({
  queryKey: ['call', projectId, id],
  queryFn: ({ signal }: { signal: AbortSignal }) => ask('open', [baseUrl, projectId, id], { signal }),
  staleTime: 60_000,
  gcTime: 120_000,
})
