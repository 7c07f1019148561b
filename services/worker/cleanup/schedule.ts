// When the clean-up runs: every hour, and for calls under two start times soon after batches too large to look at once.

export type CleanupSchedule = {
  /** A batch came whose calls were not looked up one by one. */
  onLargeBatch(): void
  stop(): void
}

const hourMs = 3_600_000
/** More large batches are likely to follow the first one. */
const soonMs = 1_000

export function scheduleCleanup(deps: {
  sweep(): Promise<unknown>
  /** What else is due every hour. */
  hourly?(): Promise<unknown>
  onError(error: unknown): void
}): CleanupSchedule {
  let soon: NodeJS.Timeout | undefined
  let isTouched = false
  let running: Promise<void> | undefined
  let isStopped = false

  const sweep = (): Promise<void> => {
    running ??= (async () => {
      isTouched = false
      await deps.sweep().catch(deps.onError)
      running = undefined
      if (isTouched) schedule()
    })()
    return running
  }
  const schedule = (): void => {
    if (soon !== undefined || running !== undefined || isStopped) return
    soon = setTimeout(() => {
      soon = undefined
      void sweep()
    }, soonMs)
    soon.unref()
  }
  const hourly = setInterval(() => void sweep().then(deps.hourly).catch(deps.onError), hourMs)
  hourly.unref()

  return {
    onLargeBatch() {
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
