// Tracks how far each topic is applied in this process, and wakes the waiters.
import type { Log, Position } from './log.ts'

export type Progress = {
  /** The worker reports that everything up to `position` can be read. */
  applied(position: Position): void
  /** Offset up to which a topic's partition can be read. */
  offset(topic: string, partition: number): number
  /** Resolves true once every position is applied, false after `boundMs` or when the signal aborts. */
  reach(positions: Position[], boundMs: number, signal?: AbortSignal): Promise<boolean>
  /**
   * Limits reads of these partitions to the positions that the tables are known to hold (`remembered`), whatever is
   * reported as applied, until they hold everything up to these positions.
   */
  holdBack(until: readonly Position[]): void
  remembered(positions: readonly Position[]): void
  /** The positions, or what can be read of partitions that are held back. */
  readable(positions: readonly Position[]): Position[]
  isHeldBack(): boolean
}

type Waiter = { positions: Position[]; done: (reached: boolean) => void }

export function createProgress(): Progress {
  const offsets = new Map<string, number>()
  const waiters = new Set<Waiter>()
  const offset = (topic: string, partition: number): number => offsets.get(`${topic}.${partition}`) ?? 0
  /** Partitions that are held back: until where, and what the tables are known to hold. */
  const held = new Map<string, { until: number; offset: number }>()
  const keyOf = ({ topic, partition }: Position): string => `${topic}.${partition}`
  const readable = (position: Position): Position => ({
    ...position,
    offset: Math.min(position.offset, held.get(keyOf(position))?.offset ?? position.offset),
  })
  const reached = (positions: Position[]): boolean => positions.every((p) => offset(p.topic, p.partition) >= p.offset)

  return {
    offset,
    applied(reported) {
      const position = readable(reported)
      if (position.offset <= offset(position.topic, position.partition)) return
      offsets.set(keyOf(position), position.offset)
      for (const waiter of waiters) if (reached(waiter.positions)) waiter.done(true)
    },
    holdBack(until) {
      for (const one of until) held.set(keyOf(one), { until: one.offset, offset: 0 })
    },
    remembered(positions) {
      for (const one of positions) {
        const of = held.get(keyOf(one))
        if (of === undefined) continue
        of.offset = Math.max(of.offset, one.offset)
        if (of.offset >= of.until) held.delete(keyOf(one))
      }
    },
    readable: (positions) => positions.map(readable),
    isHeldBack: () => held.size > 0,
    reach(positions, boundMs, signal) {
      if (reached(positions)) return Promise.resolve(true)
      if (boundMs <= 0 || signal?.aborted) return Promise.resolve(false)
      return new Promise((resolve) => {
        const abort = () => waiter.done(false)
        const timer = setTimeout(abort, boundMs)
        const waiter: Waiter = {
          positions,
          done(result) {
            clearTimeout(timer)
            signal?.removeEventListener('abort', abort)
            waiters.delete(waiter)
            resolve(result)
          },
        }
        signal?.addEventListener('abort', abort, { once: true })
        waiters.add(waiter)
      })
    },
  }
}

/** A reader that waits asks the log this often; several readers share one question. */
const askMs = 10

/** Progress as the log knows it, for a log that other processes apply too. Asks only while somebody waits. */
export function followProgress(log: Pick<Log, 'committed'>): Progress {
  const known = createProgress()
  const waiting = new Map<string, number>()
  let asking = false

  const ask = async (): Promise<void> => {
    asking = true
    while (waiting.size > 0) {
      // A log that does not answer leaves the readers to their bound.
      const positions = await Promise.all([...waiting.keys()].map((topic) => log.committed(topic))).catch(() => [])
      for (const position of positions.flat()) known.applied(position)
      if (waiting.size > 0) await new Promise((resolve) => setTimeout(resolve, askMs))
    }
    asking = false
  }

  return {
    ...known,
    async reach(positions, boundMs, signal) {
      const names = new Set(positions.map(({ topic }) => topic))
      for (const name of names) waiting.set(name, (waiting.get(name) ?? 0) + 1)
      if (!asking) void ask()
      const reached = await known.reach(positions, boundMs, signal)
      for (const name of names) {
        const others = (waiting.get(name) ?? 1) - 1
        if (others > 0) waiting.set(name, others)
        else waiting.delete(name)
      }
      return reached
    },
  }
}
