// Runs jobs one after the other, in the order of their calls.

export type SerialQueue = {
  /** Resolves and rejects as the job does; a job that fails does not stop the next one. Rejects after `close`. */
  run<T>(job: () => T | Promise<T>): Promise<T>
  /** Resolves once the jobs that were given so far are done, however they ended. */
  idle(): Promise<void>
  /** Takes no more jobs; resolves once in-flight jobs finish. */
  close(): Promise<void>
}

/** @param closed the error of a job that comes after `close` */
export function createSerialQueue(closed = (): Error => new Error('the queue is closed')): SerialQueue {
  let last: Promise<unknown> = Promise.resolve()
  let isClosed = false
  const idle = async (): Promise<void> => {
    await last
  }
  return {
    run(job) {
      if (isClosed) return Promise.reject(closed())
      const result = last.then(() => job())
      last = result.catch(() => undefined)
      return result
    },
    idle,
    close() {
      isClosed = true
      return idle()
    },
  }
}
