// What is held of a project: whatever removes data passes it over.
import type { Value } from './items.ts'
import type { DirectoryState } from './state.ts'

export type Hold = Value<'hold'>

/** Of one project, or of everything that its scope contains. */
const isOver = (scope: string, projectId: string): boolean =>
  scope === '*' || scope === projectId || projectId.startsWith(`${scope}/`)

/** Everything that is held of a project, by all holds over it that have not ended. */
export type HeldKeys = {
  /** The whole of it. */
  all: boolean
  callIds: ReadonlySet<string>
  traceIds: ReadonlySet<string>
  threadIds: ReadonlySet<string>
}

/** What whatever removes data asks for, each time that it removes some. */
export function heldOf({ holds }: Pick<DirectoryState, 'holds'>, projectId: string, nowMs: number): HeldKeys {
  const counting = [...holds.values()].filter(
    ({ scope, until }) => isOver(scope, projectId) && (until === undefined || Date.parse(until) > nowMs),
  )
  const idsOf = (name: 'call_ids' | 'trace_ids' | 'thread_ids') => new Set(counting.flatMap((hold) => hold[name] ?? []))
  return {
    all: counting.some(({ all }) => all === true),
    ...{ callIds: idsOf('call_ids'), traceIds: idsOf('trace_ids'), threadIds: idsOf('thread_ids') },
  }
}

/** Whether anything of a project is held. */
export function isHeld(state: Pick<DirectoryState, 'holds'>, projectId: string, nowMs = Date.now()): boolean {
  const { all, callIds, traceIds, threadIds } = heldOf(state, projectId, nowMs)
  return all || callIds.size + traceIds.size + threadIds.size > 0
}
