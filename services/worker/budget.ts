// One budget for all work that no request and no batch waits for: counters, field index, sweeps, merges of old months.
import { pause } from './pause.ts'

export type Budget = {
  /**
   * Runs a piece of work when it is its turn. One piece runs at a time, and all wait for the rest after it, the longer
   * the longer it took; those in a hurry go first, but not twice in a row while others wait. A piece must not wait for
   * another one.
   */
  run<T>(piece: () => Promise<T>, options?: { isHurried?: boolean }): Promise<T>
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
  const hurried: (() => void)[] = []
  const others: (() => void)[] = []
  let isTaken = false

  let wasHurried = false

  const next = (): void => {
    const isHurried = hurried.length > 0 && (others.length === 0 || !wasHurried)
    const begin = (isHurried ? hurried : others).shift()
    wasHurried = isHurried
    if (begin) begin()
    else isTaken = false
  }
  const turn = (line: (() => void)[]): Promise<void> =>
    new Promise((resolve) => {
      line.push(resolve)
      if (isTaken) return
      isTaken = true
      next()
    })
  const quiet = async (): Promise<void> => {
    while (isBusy() && !signal.aborted) {
      const before = performance.eventLoopUtilization()
      await pause(lookMs, signal)
      if (performance.eventLoopUtilization(before).utilization < loadedShare) return
    }
  }

  return {
    async run(piece, { isHurried = false } = {}) {
      if (!isHurried) await quiet()
      await turn(isHurried ? hurried : others)
      const beganMs = performance.now()
      try {
        return await piece()
      } finally {
        const restMs = (performance.now() - beganMs) * (isBusy() ? restsBusy : restsIdle)
        void pause(Math.min(longestRestMs, restMs), signal).then(next)
      }
    },
  }
}
