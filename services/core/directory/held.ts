// Whether something of a project must stay, whatever its age.
import type { Value } from './items.ts'

/** @param nowMs holds end at their time */
export function isHeld(holds: Iterable<Value<'hold'>>, projectId: string, nowMs = Date.now()): boolean {
  const scopes = new Set(['*', projectId.slice(0, projectId.indexOf('/')), projectId])
  for (const { scope, until } of holds)
    if (scopes.has(scope) && (until === undefined || Date.parse(until) > nowMs)) return true
  return false
}
