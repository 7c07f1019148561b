// Limits the concurrent inference requests of a project (CALLHOUSE_INFERENCE_CONCURRENCY, and limits of the project).
import type { Slots } from '../core/concurrency/slots.ts'
import { inferenceFault } from './errors.ts'

/** @param ofProject the project's own limit; 0 or undefined = none */
export function createSlots(
  ofServer: number | undefined,
  ofProject: (projectId: string) => number | undefined = () => undefined,
): Slots {
  const taken = new Map<string, number>()
  return {
    async take(projectId) {
      const count = taken.get(projectId) ?? 0
      const limit = Math.min(ofServer ?? Number.POSITIVE_INFINITY, ofProject(projectId) || Number.POSITIVE_INFINITY)
      if (count >= limit) {
        const full = inferenceFault(429, `More than ${limit} concurrent inference requests for this project`, {
          code: 'concurrency_limit',
          headers: { 'Retry-After': '1' },
        })
        full.policy = 'inference_concurrency'
        throw full
      }
      taken.set(projectId, count + 1)
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        const left = (taken.get(projectId) ?? 1) - 1
        if (left === 0) taken.delete(projectId)
        else taken.set(projectId, left)
      }
    },
  }
}
