// Feedback about held calls stays: whether what somebody wants to purge or replace is held.
import { type Hold, heldOf, holdsOver } from '../../core/directory/holds.ts'
import { fault } from '../../core/http/errors.ts'
import type { RouteContext } from '../../core/http/route.ts'
import { type ProjectId, storedId } from '../../core/ids.ts'
import { type Freshness, latestOfLog, throwIfStale } from '../../core/log/freshness.ts'
import { param, queryOfProject, sql } from '../../core/store/sql.ts'
import type { Query, Store } from '../../core/store/store.ts'
import { presentQuery } from './statements.ts'

export type HeldFeedbackDeps = {
  store: Pick<Store, 'rows'>
  freshness: Freshness
  /** Holds of all projects, by their ids. */
  holds(): ReadonlyMap<string, Hold>
  now?: () => number
}

/** @throws Fault 409 when one of these items is about something that is held */
export type ThrowIfHeld = (
  context: Pick<RouteContext, 'caller' | 'signal'>,
  projectId: ProjectId,
  feedbackIds: readonly string[],
) => Promise<void>

/** The ids of a call that a hold may name. */
type HeldCall = { id: string; trace_id: string; thread_id: string }

/** Also what is deleted, and fragments that came alone: both are held as much as calls that are seen. */
const heldCallsQuery = (projectId: ProjectId, ids: readonly string[]): Query =>
  queryOfProject<'calls' | 'call_keys' | 'call_patches'>('feedback.calls-of-holds', projectId, (project) => {
    const named = param('Array(String)', ids)
    const starts = project.from('call_keys', { where: sql`kind = 'id' AND key IN (${named})` })
    const where = sql`id IN (${named}) AND started_at IN (SELECT started_at ${starts})`
    return sql`SELECT DISTINCT id, trace_id, thread_id ${project.from('calls', { where })}
    UNION ALL SELECT DISTINCT id, trace_id, thread_id ${project.from('call_patches', { where: sql`id IN (${named})` })}`
  })

const covers = ({ call_ids = [], trace_ids = [], thread_ids = [] }: Hold, call: HeldCall): boolean =>
  call_ids.some((id) => storedId(id) === call.id) ||
  trace_ids.some((id) => storedId(id) === call.trace_id) ||
  thread_ids.includes(call.thread_id)

export function createThrowIfHeld({ store, freshness, holds, now = Date.now }: HeldFeedbackDeps): ThrowIfHeld {
  return async function throwIfHeld({ caller, signal }, projectId, feedbackIds) {
    const state = { holds: holds() }
    const nowMs = now()
    const counting = holdsOver(state, projectId, nowMs)
    if (counting.length === 0) return
    // However fresh the caller wants it: what is held must be found.
    throwIfStale(await freshness.wait({ ...latestOfLog(signal), projects: () => [projectId] }, ['feedback', 'calls']))
    const items = await store.rows<{ weave_ref: string }>(presentQuery(projectId, feedbackIds), { signal })
    if (items.length === 0) return
    const lead = `weave:///${projectId}/call/`
    const refs = items.map(({ weave_ref }) => weave_ref).filter((ref) => ref.startsWith(lead))
    const ids = [...new Set(refs.map((ref) => ref.slice(lead.length)))]
    const { all, callIds, traceIds, threadIds } = heldOf(state, projectId, nowMs)
    const calls = ids.map((id) => ({ id, trace_id: '', thread_id: '' }))
    if (!all && ids.length > 0 && traceIds.size + threadIds.size > 0)
      calls.push(...(await store.rows<HeldCall>(heldCallsQuery(projectId, ids), { signal })))
    const call = calls.find(
      ({ id, trace_id, thread_id }) => callIds.has(id) || traceIds.has(trace_id) || threadIds.has(thread_id),
    )
    const found = counting.find(([, hold]) => hold.all === true || (call !== undefined && covers(hold, call)))
    if (found === undefined) return
    const [id, { scope, reason }] = found
    // The same rule as in the list of holds, which shows admins those of the project itself.
    const isShown = scope === projectId && caller.may('admin', projectId)
    const which = isShown ? `hold ${id} (${reason})` : 'a hold'
    throw fault(409, `Some of this feedback is under ${which}: it cannot be deleted until the hold ends`)
  }
}
