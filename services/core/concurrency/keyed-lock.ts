// Lets one job per key run at a time: what reads, decides and writes must not be overtaken by its like.

export type KeyedLock = {
  /** Runs the job when all earlier ones of the key are done, however they ended. */
  run<T>(key: string, job: () => Promise<T>): Promise<T>
}

export function createKeyedLock(): KeyedLock {
  const last = new Map<string, Promise<unknown>>()
  return {
    run(key, job) {
      const next = (last.get(key) ?? Promise.resolve()).then(job, job)
      const done = next
        .catch(() => undefined)
        .then(() => {
          if (last.get(key) === done) last.delete(key)
        })
      last.set(key, done)
      return next
    },
  }
}
