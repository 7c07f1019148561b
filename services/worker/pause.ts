// Pauses of the worker, ended early when it stops, and the rest that work in the background takes beside batches.

export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
  })

/** Rests after each portion, as parts of the time that it took. */
const restsBusy = 9
const restsIdle = 0.25
/** Above this share of the event loop in use nothing is done in the background: requests would wait for it. */
const loadedShare = 0.5
const lookMs = 1_000

/**
 * Rests after a portion of background work: a tenth of the time is used while batches come, and none while requests
 * keep the event loop busy.
 */
export const restBeside =
  (isBusy: () => boolean, signal: AbortSignal) =>
  async (tookMs: number): Promise<void> => {
    await pause(tookMs * (isBusy() ? restsBusy : restsIdle), signal)
    while (isBusy() && !signal.aborted) {
      const before = performance.eventLoopUtilization()
      await pause(lookMs, signal)
      if (performance.eventLoopUtilization(before).utilization < loadedShare) return
    }
  }
