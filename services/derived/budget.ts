// One budget for background work, which no request and no batch waits for: rollups, field index, deduplication, merges.
import { pause } from '../core/concurrency/pause.ts'

export type Budget = {
  /**
   * Runs a job when the budget allows. Jobs run one after the other, with a pause between them in proportion to the time
   * that they take. Urgent jobs go first, but not twice in a row while others wait, and may run beside one that is not
   * urgent. A job must not wait for another one.
   */
  run<T>(job: () => Promise<T>, options?: JobOptions): Promise<T>
}

type JobOptions = {
  isUrgent?: boolean
  /**
   * Lateness of the job's work, as a share of the allowed lag: 0 = in time; from 1 on it rests no more. It is read
   * again while the job waits.
   */
  lateness?(): number
}

/** Runs each job at once, where nothing else runs beside it. */
export const unlimited: Budget = { run: (job) => job() }

/** Pauses as multiples of the time of the job before. While batches come, work that is in time has a tenth of a core. */
const busyFactor = 9
const idleFactor = 0.25
/** Limits the pause after an outage or a suspended process, which took long for nothing. */
const maxPauseMs = 30_000
/** Interval at which a waiting job is asked how late it is. */
const askAgainMs = 500
/** Event loop utilization above which only urgent or late jobs begin: requests would wait for the others. */
const maxUtilization = 0.5
const utilizationWindowMs = 1_000

/** 0 = the job may rest as long as it should, 1 = not at all. */
const urgencyOf = ({ lateness }: JobOptions): number => Math.min(1, Math.max(0, lateness?.() ?? 0))

/** @param isBusy whether batches come */
export function createBudget(isBusy: () => boolean, signal: AbortSignal): Budget {
  const waiting = { urgent: [] as Waiting[], others: [] as Waiting[] }
  const running = { urgent: false, others: false }
  /** Time of the last jobs, and when the last of them ended. */
  const rest = { owedMs: 0, sinceMs: 0 }
  let isPaused = false
  let wasUrgent = false

  const pauseMsOf = ({ options }: Waiting): number => {
    if (signal.aborted) return 0
    const factor = isBusy() ? busyFactor * (1 - urgencyOf(options)) : idleFactor
    return rest.sinceMs + Math.min(maxPauseMs, rest.owedMs * factor) - performance.now()
  }

  /** The job that rests no longer, or the shortest. */
  const earliest = (jobs: readonly Waiting[]): Waiting | undefined =>
    jobs.find((job) => pauseMsOf(job) <= 0) ?? jobs.toSorted((a, b) => pauseMsOf(a) - pauseMsOf(b))[0]

  const next = (): void => {
    const urgent = running.urgent ? undefined : earliest(waiting.urgent)
    const other = running.urgent || running.others ? undefined : earliest(waiting.others)
    if (isPaused) return
    const inOrder = (wasUrgent ? [other, urgent] : [urgent, other]).filter((job) => job !== undefined)
    // One that still rests does not hold the other up.
    const first = inOrder.find((job) => pauseMsOf(job) <= 0)
    if (first === undefined) {
      if (inOrder.length === 0) return
      isPaused = true
      void pause(Math.min(...inOrder.map(pauseMsOf), askAgainMs), signal).then(() => {
        isPaused = false
        next()
      })
      return
    }
    wasUrgent = first === urgent
    const kind = wasUrgent ? 'urgent' : 'others'
    running[kind] = true
    waiting[kind].splice(waiting[kind].indexOf(first), 1)
    first.start()
  }

  const untilUnloaded = async (options: JobOptions): Promise<void> => {
    while (isBusy() && !signal.aborted) {
      const patience = 1 - urgencyOf(options)
      if (patience === 0) return
      const before = performance.eventLoopUtilization()
      await pause(utilizationWindowMs * patience, signal)
      if (performance.eventLoopUtilization(before).utilization < 1 - (1 - maxUtilization) * patience) return
    }
  }

  return {
    async run(job, options = {}) {
      const kind = options.isUrgent ? 'urgent' : 'others'
      if (kind === 'others') await untilUnloaded(options)
      await new Promise<void>((start) => {
        waiting[kind].push({ options, start })
        next()
      })
      const beganMs = performance.now()
      try {
        return await job()
      } finally {
        running[kind] = false
        const now = performance.now()
        // Some rest of a job that ran beside this one may still be owed.
        rest.owedMs = now - beganMs + Math.max(0, rest.owedMs - (now - rest.sinceMs))
        rest.sinceMs = now
        next()
      }
    },
  }
}

type Waiting = { options: JobOptions; start(): void }
