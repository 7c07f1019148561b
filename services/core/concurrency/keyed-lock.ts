// Runs one job per key at a time: what reads, decides and writes must not be overtaken by another job of its key.
import { createSerialQueue, type SerialQueue } from './serial-queue.ts'

export type KeyedLock = {
  /** Runs the job once all earlier ones of the key are done, however they ended. */
  run<T>(key: string, job: () => Promise<T>): Promise<T>
}

export function createKeyedLock(): KeyedLock {
  const queues = new Map<string, { queue: SerialQueue; jobs: number }>()
  return {
    async run(key, job) {
      const entry = queues.get(key) ?? { queue: createSerialQueue(), jobs: 0 }
      queues.set(key, entry)
      entry.jobs++
      try {
        return await entry.queue.run(job)
      } finally {
        if (--entry.jobs === 0) queues.delete(key)
      }
    },
  }
}
