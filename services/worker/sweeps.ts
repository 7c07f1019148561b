// When the clean-up runs: every hour, and for calls under two start times soon after batches too large to look at once.

export type Sweeps = {
  /** A batch came whose calls were not looked up one by one. */
  touch(): void
  stop(): void
}

const hourMs = 3_600_000
/** More large batches are likely to follow the first one. */
const soonMs = 1_000
/** Sweeps take at most this share of the time. */
const share = 0.02

export function createSweeps(deps: {
  sweep(): Promise<unknown>
  /** What else is due every hour. */
  hourly?(): Promise<unknown>
  onError(error: unknown): void
}): Sweeps {
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
    if (soon !== undefined || running !== undefined || isStopped) return
    soon = setTimeout(
      () => {
        soon = undefined
        void sweep()
      },
      Math.max(soonMs, tookMs / share),
    )
    soon.unref()
  }
  const hourly = setInterval(() => void sweep().then(deps.hourly).catch(deps.onError), hourMs)
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
