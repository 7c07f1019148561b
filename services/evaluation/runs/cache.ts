// Remembers runs for predictions, and predictions for scores, for a while after they were written.

import type { RouteContext } from '../../core/http/route.ts'
import { isCallId, type ProjectId } from '../../core/ids.ts'
import { throwIfStale } from '../../core/log/freshness.ts'
import { parseInRoom } from '../../core/memory/heap-room.ts'
import { createRecent } from '../../core/memory/lru-cache.ts'
import { type CallTexts, type EvaluationCalls, objectOf } from './calls.ts'

type CachedRun = {
  traceId: string
  /** JSON text of what its calls were made on: the ref of the evaluation. */
  self: string
}

export type CachedPrediction = Pick<CallTexts, 'traceId' | 'parentId' | 'attributes' | 'inputs' | 'output'>

/**
 * Recent writes of this process are known without a read, so that writes that follow each other need not wait for them.
 */
export type RunCache = {
  rememberRun(projectId: ProjectId, id: string, run: CachedRun): void
  rememberPrediction(projectId: ProjectId, id: string, prediction: CachedPrediction): void
  /** Null when there is no such run. @throws Fault 503 when it was not found and the tables are behind */
  findRun(context: RouteContext<unknown>, projectId: ProjectId, id: string): Promise<CachedRun | null>
  /** Null when there is no such prediction. @throws Fault 503 when it was not found and the tables are behind */
  findPrediction(context: RouteContext<unknown>, projectId: ProjectId, id: string): Promise<CachedPrediction | null>
  /** A prediction that was written here lately. It may have been deleted elsewhere. */
  seenPrediction(projectId: ProjectId, id: string): CachedPrediction | undefined
  /** After they were deleted. */
  forget(projectId: ProjectId, ids: readonly string[]): void
}

/** Time for which a call that was deleted through another route or process may still count as there. */
const keepMs = 60_000
const maxEntries = 2_000
/** Characters of an entry; larger ones are read each time. */
const maxCharacters = 4_000

export function createRunCache(calls: EvaluationCalls): RunCache {
  const runs = createRecent<CachedRun | null>(maxEntries, keepMs)
  const predictions = createRecent<CachedPrediction | null>(maxEntries, keepMs)
  const keyOf = (projectId: ProjectId, id: string) => `${projectId}\n${id}`

  const read = async (context: RouteContext<unknown>, projectId: ProjectId, id: string): Promise<CallTexts | null> => {
    // Nothing is stored under a text of megabytes, and asking for it would hold the event loop.
    if (!isCallId(id)) return null
    const headers = await calls.waitToDecide(context)
    const call = await calls.read(context, projectId, id)
    if (call === null) throwIfStale(headers)
    return call
  }

  const cache: RunCache = {
    rememberRun(projectId, id, run) {
      if (run.self.length <= maxCharacters) runs.set(keyOf(projectId, id), run)
    },
    rememberPrediction(projectId, id, prediction) {
      const { attributes, inputs, output } = prediction
      if (attributes.length + inputs.length + output.length <= maxCharacters)
        predictions.set(keyOf(projectId, id), prediction)
    },
    async findRun(context, projectId, id) {
      const seen = runs.get(keyOf(projectId, id))
      if (seen) return seen
      const call = await read(context, projectId, id)
      if (call === null) return null
      const inputs = objectOf(parseInRoom(call.inputs))
      const run = { traceId: call.traceId, self: JSON.stringify(inputs.self ?? inputs.this ?? null) }
      cache.rememberRun(projectId, id, run)
      return run
    },
    findPrediction: async (context, projectId, id) =>
      predictions.get(keyOf(projectId, id)) ?? (await read(context, projectId, id)),
    seenPrediction: (projectId, id) => predictions.get(keyOf(projectId, id)) ?? undefined,
    forget(projectId, ids) {
      for (const id of ids)
        for (const entries of [runs, predictions])
          if (entries.get(keyOf(projectId, id))) entries.set(keyOf(projectId, id), null)
    },
  }
  return cache
}
