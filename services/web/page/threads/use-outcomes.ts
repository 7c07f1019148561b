// Outcomes of turns: one below which something failed is none that went well.
import { useQueries } from '@tanstack/react-query'
import { baseUrl } from '../api/client.ts'
import { useTotals } from '../calls/use-totals.ts'
import type { Row } from '../engine/rows.ts'
import { type Outcome, outcomeOf, outcomeWith, totalsIn } from '../engine/trace-totals.ts'
import { errorsBelow, treeOf } from '../engine/tree.ts'
import { ask } from '../worker/client.ts'

/** Errors below a turn that is not the root of its trace, by the tree of that: others of the trace are no part of it. */
const belowQuery = (projectId: string, { id, traceId }: Row, errors: number) => ({
  queryKey: ['errors below', projectId, traceId, id, errors],
  async queryFn({ signal }: { signal: AbortSignal }): Promise<number> {
    const { spans } = await ask('trace', [baseUrl, projectId, traceId], { signal })
    return errorsBelow(treeOf(spans), id)
  },
  enabled: errors > 0,
  staleTime: 60_000,
})

/** @returns the outcome of each turn, which is that of its own call while nothing more is known */
export function useOutcomes(projectId: string, turns: readonly Row[], isLive: boolean): (turn: Row) => Outcome {
  const totalsOf = useTotals({ projectId, rows: turns, ofTraces: true, isOn: true, isLive, looks: 0 })
  const inner = turns.filter(({ parentId }) => parentId !== null)
  const below = useQueries({
    queries: inner.map((turn) => belowQuery(projectId, turn, totalsIn(totalsOf(turn.traceId))?.errors ?? 0)),
  })
  return (turn) => {
    const place = inner.indexOf(turn)
    return place === -1 ? outcomeOf(turn, totalsOf(turn.traceId)) : outcomeWith(turn, below[place]?.data ?? 0)
  }
}
