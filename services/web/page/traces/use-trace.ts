// A trace; one that runs is read again every five seconds while it is looked at.
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type Tree, treeOf } from '../engine/tree.ts'
import { traceQuery } from './trace-query.ts'

const againMs = 5_000
const watchedMs = 600_000

export type LoadedTrace = { tree: Tree; nowUs: number; staleMs: number; runs: boolean }

export function useTrace(projectId: string, traceId: string) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the time is that of the trace
  const openedMs = useMemo(() => Date.now(), [traceId])
  const query = useQuery({
    ...traceQuery(projectId, traceId),
    refetchInterval: ({ state }) => {
      const spans = state.data?.spans
      const runs = spans?.duration.some((length) => length < 0) ?? false
      return runs && Date.now() - openedMs < watchedMs ? againMs : false
    },
  })
  const { data, dataUpdatedAt } = query
  const trace = useMemo((): LoadedTrace | undefined => {
    if (data === undefined) return undefined
    const nowUs = Math.max(0, dataUpdatedAt * 1000 - data.spans.baseUs)
    const runs = data.spans.duration.some((length) => length < 0)
    return { tree: treeOf(data.spans, nowUs), nowUs, staleMs: data.staleMs, runs }
  }, [data, dataUpdatedAt])
  return { ...query, trace }
}
