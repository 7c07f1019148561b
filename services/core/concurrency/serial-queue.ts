// Runs jobs one after the other, in the order in which they were given.

export type SerialQueue = {
  /** Rejects after `close`. */
  run<T>(job: () => Promise<T>): Promise<T>
  /** Takes no more jobs; resolves when those at hand are done. */
  close(): Promise<void>
}

export function createSerialQueue(): SerialQueue {
  let last: Promise<unknown> = Promise.resolve()
  let closed = false
  return {
    run(job) {
      if (closed) return Promise.reject(new Error('the worker has stopped'))
      const next = last.then(job, job)
      last = next.catch(() => undefined)
      return next
    },
    async close() {
      closed = true
      await last
    },
  }
}
