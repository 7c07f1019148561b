// One budget for all work that no request and no batch waits for: counters, field index, sweeps, merges of old months.
import { pause } from '../../core/concurrency/pause.ts'

export type Budget = {
  /**
   * Runs a piece of work when it is its turn. Pieces run one after the other, and all wait for the rest after each, the
   * longer the longer it took. Those in a hurry go first, but not twice in a row while others wait, and do not wait for
   * the end of one that is not. A piece must not wait for another one.
   */
  run<T>(piece: () => Promise<T>, options?: { isUrgent?: boolean }): Promise<T>
}

/** Where nothing else goes on beside the work. */
export const unlimited: Budget = { run: (piece) => piece() }

/** Rests after a piece, as parts of the time that it took: a tenth of a core while batches come, else what is idle. */
const restsBusy = 9
const restsIdle = 0.25
/** A piece that met an outage, or a process that was suspended in it, took long for nothing. */
const longestRestMs = 30_000
/** Above this share of the event loop in use only what is in a hurry begins: requests would wait for it. */
const loadedShare = 0.5
const lookMs = 1_000

/** @param isBusy whether batches come */
export function createBudget(isBusy: () => boolean, signal: AbortSignal): Budget {
  const lines = { urgent: [] as (() => void)[], others: [] as (() => void)[] }
  const running = { urgent: false, others: false }
  let restUntil = 0
  let isResting = false
  let wasUrgent = false

  const next = (): void => {
    const restMs = signal.aborted ? 0 : restUntil - performance.now()
    if (restMs > 0) {
      if (isResting) return
      isResting = true
      void pause(restMs, signal).then(() => {
        isResting = false
        next()
      })
      return
    }
    const mayRunUrgent = lines.urgent.length > 0 && !running.urgent
    const mayRunOther = lines.others.length > 0 && !running.urgent && !running.others
    if (!mayRunUrgent && !mayRunOther) return
    wasUrgent = mayRunUrgent && !(mayRunOther && wasUrgent)
    const kind = wasUrgent ? 'urgent' : 'others'
    running[kind] = true
    lines[kind].shift()?.()
  }
  const quiet = async (): Promise<void> => {
    while (isBusy() && !signal.aborted) {
      const before = performance.eventLoopUtilization()
      await pause(lookMs, signal)
      if (performance.eventLoopUtilization(before).utilization < loadedShare) return
    }
  }

  return {
    async run(piece, { isUrgent = false } = {}) {
      if (!isUrgent) await quiet()
      const kind = isUrgent ? 'urgent' : 'others'
      await new Promise<void>((resolve) => {
        lines[kind].push(resolve)
        next()
      })
      const beganMs = performance.now()
      try {
        return await piece()
      } finally {
        running[kind] = false
        const now = performance.now()
        const restMs = (now - beganMs) * (isBusy() ? restsBusy : restsIdle)
        restUntil = Math.min(now + longestRestMs, Math.max(now, restUntil) + restMs)
        next()
      }
    },
  }
}
