// A trace; one that runs, or that the tables do not hold whole yet, is read again every five seconds while it is looked at.
// Bars of what runs grow whether or not a read succeeds.
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { repeat } from '../api/repeat.ts'
import { type Tree, treeOf } from '../engine/tree.ts'
import { traceQuery } from '../parts/trace-query.ts'

const againMs = 5_000
const watchedMs = 600_000

export type LoadedTrace = { tree: Tree; nowUs: number; staleMs: number; runs: boolean }

export function useTrace(projectId: string, traceId: string) {
  const [watch, setWatch] = useState({ traceId, sinceMs: Date.now() })
  if (watch.traceId !== traceId) setWatch({ traceId, sinceMs: Date.now() })
  const [nowMs, setNowMs] = useState(0)
  const query = useQuery({
    ...traceQuery(projectId, traceId),
    refetchInterval: ({ state }) => {
      const { spans, staleMs = 0 } = state.data ?? {}
      const isWhole = staleMs === 0 && !spans?.duration.some((length) => length < 0)
      return !isWhole && Date.now() - watch.sinceMs < watchedMs ? againMs : false
    },
  })
  const { data, dataUpdatedAt, refetch } = query
  const runs = useMemo(() => data?.spans.duration.some((length) => length < 0) ?? false, [data])
  const isOver = runs && Math.max(nowMs, dataUpdatedAt) - watch.sinceMs >= watchedMs
  useEffect(() => {
    if (!runs || isOver) return
    return repeat(() => setNowMs(Date.now()), againMs)
  }, [runs, isOver])
  // A running span ends where the clock is; of a trace that has ended nothing depends on it.
  const atMs = runs ? Math.max(nowMs, dataUpdatedAt) : dataUpdatedAt
  const trace = useMemo((): LoadedTrace | undefined => {
    if (data === undefined) return undefined
    const nowUs = Math.max(0, atMs * 1000 - data.spans.baseUs)
    return { tree: treeOf(data.spans, nowUs), nowUs, staleMs: data.staleMs, runs }
  }, [data, atMs, runs])
  const again = () => {
    setWatch({ traceId, sinceMs: Date.now() })
    void refetch()
  }
  return { ...query, trace, watch: { isOver, again } }
}
