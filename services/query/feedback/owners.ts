// Checks the owner of feedback: only callers with `delete` may purge or replace that of others.
import { fault } from '../../core/http/errors.ts'
import type { Caller, RouteContext } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'
import { type Freshness, latestOfLog, throwIfStale } from '../../core/log/freshness.ts'
import type { Store } from '../../core/store/store.ts'
import { presentQuery } from './statements.ts'

/** @throws Fault 403 when some of these items are of others, and the caller may not delete */
export function throwIfOfOthers(caller: Caller, projectId: ProjectId, items: readonly { user_id: string }[]): void {
  if (!caller.may('delete', projectId) && items.some(({ user_id }) => user_id !== caller.userId))
    throw fault(403, 'Key has no right to delete feedback of others in this project')
}

/** @throws Fault 403 as above, 503 while it cannot be known */
export type ThrowUnlessOwn = (
  context: Pick<RouteContext, 'caller' | 'signal'>,
  projectId: ProjectId,
  feedbackIds: readonly string[],
) => Promise<void>

export const createThrowUnlessOwn =
  ({ store, freshness }: { store: Pick<Store, 'rows'>; freshness: Freshness }): ThrowUnlessOwn =>
  async ({ caller, signal }, projectId, feedbackIds) => {
    if (caller.may('delete', projectId)) return
    // However fresh the caller wants it: whose it is must be found.
    throwIfStale(await freshness.wait({ ...latestOfLog(signal), projects: () => [projectId] }, ['feedback']))
    const items = await store.rows<{ user_id: string }>(presentQuery(projectId, feedbackIds), { signal })
    throwIfOfOthers(caller, projectId, items)
  }
