// Keeps the accept timestamps of several machines together: each follows the database's clock where its own differs much.
import type { Registry } from 'prom-client'
import type { Clock } from '../clock/clock.ts'
import type { Logger } from '../process/logger.ts'
import { metricsIn } from '../process/metrics-in.ts'
import { databaseNowMs } from './now.ts'
import type { Store } from './store.ts'

const everyMs = 60_000
/** Smaller differences are left: edges that agree so far order writes as well as their clients can tell. */
const toleranceMs = 1_000
/** An answer that took longer tells too little; the best of a few counts. */
const quickMs = 100
const attempts = 3

type Deps = { store: Pick<Store, 'rows'>; clock: Pick<Clock, 'follow'>; logger: Logger; registry: Registry }

/** @returns how far the database's clock is ahead, and how far that may be wrong; milliseconds */
async function measure(store: Deps['store']): Promise<{ aheadMs: number; doubtMs: number }> {
  let best = { aheadMs: 0, doubtMs: Number.POSITIVE_INFINITY }
  for (let attempt = 0; attempt < attempts && best.doubtMs > quickMs; attempt++) {
    const beganMs = performance.now()
    const nowMs = await databaseNowMs(store)
    const doubtMs = (performance.now() - beganMs) / 2
    const middleMs = performance.timeOrigin + beganMs + doubtMs
    if (nowMs !== undefined && doubtMs < best.doubtMs) best = { aheadMs: nowMs - middleMs, doubtMs }
  }
  return best
}

/** Compares the clocks once before it resolves, then every minute. */
export async function followClock({ store, clock, logger, registry }: Deps): Promise<{ stop(): void }> {
  let followedMs = 0
  const skew = metricsIn(registry).gauge(
    'callhouse_clock_skew_seconds',
    "How far this machine's clock is ahead of the database's",
  )
  const look = async (): Promise<void> => {
    const { aheadMs, doubtMs } = await measure(store)
    skew.set(-aheadMs / 1000)
    const next = Math.abs(aheadMs) > toleranceMs + doubtMs ? aheadMs : 0
    if (Math.abs(next - followedMs) > toleranceMs)
      logger.warn(
        { skewMs: Math.round(-aheadMs) },
        "this machine's clock differs from the database's, which is followed",
      )
    followedMs = next
    clock.follow(next * 1000)
  }
  const lookAgain = (): void =>
    void look().catch((error: unknown) => logger.debug({ error: String(error) }, 'clocks not compared'))
  await look().catch((error: unknown) => logger.warn({ error: String(error) }, 'clocks not compared'))
  const looking = setInterval(lookAgain, everyMs)
  looking.unref()
  return { stop: () => clearInterval(looking) }
}
