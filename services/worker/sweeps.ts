// When calls are looked for that show under two start times: every hour, and soon after batches too large to look at once.

export type Sweeps = {
  /** A batch came whose calls were not looked up one by one. */
  touch(): void
  stop(): void
}

const hourMs = 3_600_000
/** More large batches are likely to follow the first one. */
const soonMs = 1_000
/** Batches wait for a sweep, so sweeps take at most this share of the time, and a long one comes once an hour. */
const share = 0.02
const longMs = 2_000

export function createSweeps(deps: { sweep(): Promise<unknown>; onError(error: unknown): void }): Sweeps {
  let soon: NodeJS.Timeout | undefined
  let tookMs = 0
  let isTouched = false
  let running: Promise<void> | undefined
  let isStopped = false

  const sweep = (): Promise<void> => {
    running ??= (async () => {
      const beganMs = performance.now()
      isTouched = false
      await deps.sweep().catch(deps.onError)
      tookMs = performance.now() - beganMs
      running = undefined
      if (isTouched) schedule()
    })()
    return running
  }
  const schedule = (): void => {
    if (soon !== undefined || running !== undefined || isStopped || tookMs > longMs) return
    soon = setTimeout(
      () => {
        soon = undefined
        void sweep()
      },
      Math.max(soonMs, tookMs / share),
    )
    soon.unref()
  }
  const hourly = setInterval(() => void sweep(), hourMs)
  hourly.unref()

  return {
    touch() {
      isTouched = true
      schedule()
    },
    stop() {
      isStopped = true
      clearInterval(hourly)
      clearTimeout(soon)
    },
  }
}
