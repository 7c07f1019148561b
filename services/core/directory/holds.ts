// Holds of a project: everything that removes data skips them.
import { storedId } from '../ids.ts'
import type { Value } from './items.ts'

export type Hold = Value<'hold'>

/** Holds of all projects, by their ids. */
type Holds = { holds: ReadonlyMap<string, Hold> }

/** Whether a hold is of the project, or of a scope that contains it. */
const isOver = (scope: string, projectId: string): boolean =>
  scope === '*' || scope === projectId || projectId.startsWith(`${scope}/`)

/** Holds over a project that have not ended, by their ids. */
export const holdsOver = ({ holds }: Holds, projectId: string, nowMs: number): [string, Hold][] =>
  [...holds].filter(
    ([, { scope, until }]) => isOver(scope, projectId) && (until === undefined || Date.parse(until) > nowMs),
  )

/** Number of held calls that are left out one by one; a project with more of them keeps everything. */
export const mostHeldCalls = 10_000

/** Everything that is held of a project, by all holds over it that have not ended. */
export type HeldKeys = {
  /** The whole of it. */
  all: boolean
  callIds: ReadonlySet<string>
  traceIds: ReadonlySet<string>
  threadIds: ReadonlySet<string>
}

/** The holds of a project. Everything that removes data asks for them each time. */
export function heldOf(state: Holds, projectId: string, nowMs: number): HeldKeys {
  const counting = holdsOver(state, projectId, nowMs).map(([, hold]) => hold)
  const idsOf = (name: 'call_ids' | 'trace_ids' | 'thread_ids') =>
    new Set(counting.flatMap((hold) => hold[name] ?? []).map(name === 'thread_ids' ? String : storedId))
  return {
    all: counting.some(({ all }) => all === true),
    callIds: idsOf('call_ids'),
    traceIds: idsOf('trace_ids'),
    threadIds: idsOf('thread_ids'),
  }
}

/** Whether anything of a project is held. */
export const isHeld = (state: Holds, projectId: string, nowMs = Date.now()): boolean =>
  holdsOver(state, projectId, nowMs).length > 0
