// Schedules the clean-up: the deduplication of calls hourly and shortly after a large batch, everything else hourly.

export type CleanupSchedule = {
  /** Schedules a deduplication after a batch whose calls were not looked up one by one. */
  onLargeBatch(): void
  stop(): void
}

const hourMs = 3_600_000
/** More large batches are likely to follow the first one. */
const soonMs = 1_000

export function scheduleCleanup(deps: {
  deduplicate(): Promise<unknown>
  /** Further hourly work. */
  hourly?(): Promise<unknown>
  onError(error: unknown): void
}): CleanupSchedule {
  let soon: NodeJS.Timeout | undefined
  let isDue = false
  let running: Promise<void> | undefined
  let isStopped = false

  const deduplicate = (): Promise<void> => {
    running ??= (async () => {
      isDue = false
      await deps.deduplicate().catch(deps.onError)
      running = undefined
      if (isDue) schedule()
    })()
    return running
  }
  const schedule = (): void => {
    if (soon !== undefined || running !== undefined || isStopped) return
    soon = setTimeout(() => {
      soon = undefined
      void deduplicate()
    }, soonMs)
    soon.unref()
  }
  const hourly = setInterval(() => void deduplicate().then(deps.hourly).catch(deps.onError), hourMs)
  hourly.unref()

  return {
    onLargeBatch() {
      isDue = true
      schedule()
    },
    stop() {
      isStopped = true
      clearInterval(hourly)
      clearTimeout(soon)
    },
  }
}
