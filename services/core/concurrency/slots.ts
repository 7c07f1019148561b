// Limits the pieces of work of a project that run at one time; shared by all threads of a process.
import { createFairQueue, type FairQueue, slotIn } from './fair-queue.ts'

export type Slots = {
  /** @returns gives the slot back, once. @throws Fault 429 when all are taken */
  take(projectId: string): Promise<() => void>
}

/** Places of a project that are waited for: those that ask for one by different keys take turns. */
export type SharedSlots = {
  /** @returns gives the place back, once. Rejects with the signal's reason */
  take(projectId: string, key: string, signal: AbortSignal): Promise<() => void>
}

/** @param count of each project */
export function createSharedSlots(count: number): SharedSlots {
  const queues = new Map<string, FairQueue<string>>()
  return {
    async take(projectId, key, signal) {
      const queue = queues.get(projectId) ?? createFairQueue<string>({ slots: count })
      queues.set(projectId, queue)
      const forget = () => {
        if (queue.keys() === 0 && queues.get(projectId) === queue) queues.delete(projectId)
      }
      try {
        const leave = await slotIn(queue, key, { signal })
        return () => {
          leave()
          forget()
        }
      } catch (error) {
        forget()
        throw error
      }
    },
  }
}
