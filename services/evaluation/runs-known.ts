// What predictions and scores need to know of their run, remembered because it never changes.
import { throwIfStale } from '../core/freshness.ts'
import type { RouteContext } from '../core/http/route.ts'
import type { ProjectId } from '../core/ids.ts'
import { createRecent } from '../core/recent.ts'
import { type Calls, objectOf } from './runs-calls.ts'

export type KnownRun = {
  traceId: string
  /** JSON text of what its calls were made on: the ref of the evaluation. */
  self: string
}

export type KnownRuns = {
  remember(projectId: ProjectId, runId: string, run: KnownRun): void
  /** Null when there is no such run. @throws Fault 503 when the tables are behind and it was not found */
  find(context: RouteContext<unknown>, projectId: ProjectId, runId: string): Promise<KnownRun | null>
}

const mostRuns = 2_000
/** A value that is longer is read each time. */
const longestSelf = 1_000

export function createKnownRuns(calls: Calls): KnownRuns {
  const known = createRecent<KnownRun>(mostRuns)
  const keyOf = (projectId: ProjectId, runId: string) => `${projectId}\n${runId}`
  const remember = (projectId: ProjectId, runId: string, run: KnownRun) => {
    if (run.self.length <= longestSelf) known.set(keyOf(projectId, runId), run)
  }
  return {
    remember,
    async find(context, projectId, runId) {
      const seen = known.get(keyOf(projectId, runId))
      if (seen) return seen
      const headers = await calls.waitToDecide(context)
      const call = await calls.read(context, projectId, runId)
      if (call === null) {
        throwIfStale(headers)
        return null
      }
      const inputs = objectOf(JSON.parse(call.inputs))
      const run = { traceId: call.traceId, self: JSON.stringify(inputs.self ?? inputs.this ?? null) }
      remember(projectId, runId, run)
      return run
    },
  }
}
