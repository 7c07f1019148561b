// Deleting runs, predictions and scores with everything below them, however large their traces are.

import type { Invoke } from '../../core/http/invoke.ts'
import type { RouteContext } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'
import { throwIfStale } from '../../core/log/freshness.ts'
import type { RunCache } from './cache.ts'
import { asCaller, type EvaluationCalls, joinPositions } from './calls.ts'

/** Traces whose calls are looked through at once: two ids of each call are held. */
const tracesAtOnce = 10
/** Number of ids that `calls.delete` takes. */
const idsAtOnce = 1_000

const chunks = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, n) => all.slice(n * size, (n + 1) * size))

/** The ids and everything below them, children before their parents. */
function childrenFirst(ids: readonly string[], childrenOf: ReadonlyMap<string, string[]>): string[] {
  const reached = new Set(ids)
  // Ids that are added while a set is walked are walked too.
  for (const id of reached) for (const child of childrenOf.get(id) ?? []) reached.add(child)
  return [...reached].reverse()
}

/**
 * Deletes the calls and their descendants; ids of no call are passed over. Whoever asked for is deleted last, so that a
 * request that breaks off can be sent again.
 * @returns the header with the positions
 */
export async function deleteCalls(
  { calls, cache, invoke }: { calls: EvaluationCalls; cache: RunCache; invoke: Invoke },
  context: RouteContext<unknown>,
  projectId: ProjectId,
  ids: readonly string[],
): Promise<Record<string, string>> {
  const headers: Record<string, string>[] = []
  const idsByTrace = new Map<string, string[]>()
  const filter = { call_ids: [...new Set(ids)] }
  if (filter.call_ids.length === 0) return {}
  // Calls that are not in the tables yet would stay.
  throwIfStale(await calls.waitToDecide(context))
  for await (const { id, traceId } of calls.list(context, projectId, { filter, columns: ['trace_id'] })) {
    const together = idsByTrace.get(traceId)
    if (together) together.push(id)
    else idsByTrace.set(traceId, [id])
  }
  for (const traces of chunks([...idsByTrace], tracesAtOnce)) {
    const childrenOf = new Map<string, string[]>()
    const query = { filter: { trace_ids: traces.map(([trace]) => trace) }, columns: ['parent_id' as const] }
    for await (const { id, parentId } of calls.list(context, projectId, query)) {
      if (parentId === null) continue
      const siblings = childrenOf.get(parentId)
      if (siblings) siblings.push(id)
      else childrenOf.set(parentId, [id])
    }
    const reached = childrenFirst(
      traces.flatMap(([, asked]) => asked),
      childrenOf,
    )
    for (const call_ids of chunks(reached, idsAtOnce)) {
      const body = { project_id: projectId, call_ids }
      headers.push((await invoke.answer('calls.delete', body, asCaller(context))).headers)
      cache.forget(projectId, call_ids)
    }
  }
  // The last position of one topic is behind all others.
  return joinPositions(...headers.slice(-1))
}
