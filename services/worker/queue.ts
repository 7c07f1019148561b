// Runs jobs one after the other, in the order in which they were given.

export type Queue = { run<T>(job: () => Promise<T>): Promise<T> }

export function createQueue(): Queue {
  let last: Promise<unknown> = Promise.resolve()
  return {
    run(job) {
      const next = last.then(job, job)
      last = next.catch(() => undefined)
      return next
    },
  }
}
