// How many inference requests of a project run at one time (CALLHOUSE_INFERENCE_CONCURRENCY).
import type { Slots } from '../core/concurrency/slots.ts'
import { inferenceFault } from './errors.ts'

export function createSlots(limit: number | undefined): Slots {
  const taken = new Map<string, number>()
  return {
    async take(projectId) {
      const count = taken.get(projectId) ?? 0
      if (limit !== undefined && count >= limit) {
        const full = inferenceFault(429, `More than ${limit} inference requests of this project at one time`, {
          ...{ code: 'concurrency_limit', headers: { 'Retry-After': '1' } },
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
