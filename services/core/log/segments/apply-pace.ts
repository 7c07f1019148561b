// Measures how long bytes of the log take to be applied, from batches that follow on one another.

export type ApplyPace = {
  /** @param isMore whether more was waiting when they were applied, so that the next batch began at once */
  applied(bytes: number, isMore: boolean): void
  /** Bytes that are applied in so many milliseconds; undefined before a batch followed on another one. */
  bytesIn(ms: number): number | undefined
}

/** Reports within the first are counted as one batch; a batch of more than the second waited for something else. */
const [minMs, maxMs] = [5, 20_000]
/** Smaller batches spend most of their time on fixed costs. */
const minBytes = 2 ** 20
/** Weight of the newest batch. */
const newest = 0.3

export function createApplyPace(): ApplyPace {
  /** The mean of times, not of speeds: a batch that took long weighs more, as it does for whoever waits behind it. */
  let msPerByte: number | undefined
  let sinceMs = Number.NEGATIVE_INFINITY
  let bytesSince = 0
  let wasMore = false
  return {
    applied(bytes, isMore) {
      const nowMs = performance.now()
      const tookMs = nowMs - sinceMs
      bytesSince += bytes
      if (tookMs < minMs) return
      if (wasMore && tookMs < maxMs && bytesSince >= minBytes) {
        const found = tookMs / bytesSince
        msPerByte = msPerByte === undefined ? found : msPerByte * (1 - newest) + found * newest
      }
      sinceMs = nowMs
      bytesSince = 0
      wasMore = isMore
    },
    bytesIn: (ms) => (msPerByte === undefined ? undefined : ms / msPerByte),
  }
}
