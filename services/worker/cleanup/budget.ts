// One budget for background work, which no request and no batch waits for: rollups, field index, deduplication, merges.
import { pause } from '../../core/concurrency/pause.ts'

export type Budget = {
  /**
   * Runs a job when the budget allows. Jobs run one after the other, with a pause after each in proportion to its time.
   * Urgent jobs go first, but not twice in a row while others wait, and may run beside one that is not urgent. A job must
   * not wait for another one.
   */
  run<T>(job: () => Promise<T>, options?: { isUrgent?: boolean }): Promise<T>
}

/** Runs each job at once, where nothing else runs beside it. */
export const unlimited: Budget = { run: (job) => job() }

/**
 * Pauses after a job as multiples of its time. While batches come it has a tenth of a core, and more the longer readers
 * have to do what is not derived yet; else most of a core.
 */
const busyPauses = [
  { lagMs: 60_000, factor: 2 },
  { lagMs: 30_000, factor: 4 },
  { lagMs: 0, factor: 9 },
]
const idleFactor = 0.25
/** Limits the pause after an outage or a suspended process, which took long for nothing. */
const maxPauseMs = 30_000
/** Event loop utilization above which only urgent jobs begin: requests would wait for the others. */
const maxUtilization = 0.5
const utilizationWindowMs = 1_000

/**
 * @param isBusy whether batches come
 * @param lagMs age of the oldest change that is not derived yet
 */
export function createBudget(isBusy: () => boolean, signal: AbortSignal, lagMs: () => number = () => 0): Budget {
  const waiting = { urgent: [] as (() => void)[], others: [] as (() => void)[] }
  const running = { urgent: false, others: false }
  let pausedUntil = 0
  let isPaused = false
  let wasUrgent = false

  const next = (): void => {
    const pauseMs = signal.aborted ? 0 : pausedUntil - performance.now()
    if (pauseMs > 0) {
      if (isPaused) return
      isPaused = true
      void pause(pauseMs, signal).then(() => {
        isPaused = false
        next()
      })
      return
    }
    const mayRunUrgent = waiting.urgent.length > 0 && !running.urgent
    const mayRunOther = waiting.others.length > 0 && !running.urgent && !running.others
    if (!mayRunUrgent && !mayRunOther) return
    wasUrgent = mayRunUrgent && !(mayRunOther && wasUrgent)
    const kind = wasUrgent ? 'urgent' : 'others'
    running[kind] = true
    waiting[kind].shift()?.()
  }
  const pauseFactor = (): number => {
    if (!isBusy()) return idleFactor
    const lag = lagMs()
    return busyPauses.find((one) => lag >= one.lagMs)?.factor ?? idleFactor
  }
  const untilUnloaded = async (): Promise<void> => {
    while (isBusy() && !signal.aborted) {
      const before = performance.eventLoopUtilization()
      await pause(utilizationWindowMs, signal)
      if (performance.eventLoopUtilization(before).utilization < maxUtilization) return
    }
  }

  return {
    async run(job, { isUrgent = false } = {}) {
      if (!isUrgent) await untilUnloaded()
      const kind = isUrgent ? 'urgent' : 'others'
      await new Promise<void>((resolve) => {
        waiting[kind].push(resolve)
        next()
      })
      const beganMs = performance.now()
      try {
        return await job()
      } finally {
        running[kind] = false
        const now = performance.now()
        const pauseMs = (now - beganMs) * pauseFactor()
        pausedUntil = Math.min(now + maxPauseMs, Math.max(now, pausedUntil) + pauseMs)
        next()
      }
    },
  }
}
