// Long bodies are handled one in each round of the event loop, one of each key in turn: those that arrive together do
// not add up to one pause, and those of one key do not hold up another's.
import { createFairQueue, slotIn } from '../concurrency/fair-queue.ts'

/** Bodies up to this size are handled at once. */
const longBytes = 32 * 1024

/** Resolves when a body of this size may be handled. */
export type WaitForLongBody = (key: object, bytes: number) => Promise<void>

export function createLongBodyQueue(): WaitForLongBody {
  const queue = createFairQueue<object>({ slots: 1 })
  return async (key, bytes) => {
    if (bytes <= longBytes) return
    const leave = await slotIn(queue, key)
    setImmediate(leave)
  }
}
