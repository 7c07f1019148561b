// How far each topic is applied in this process, and whoever waits for it.
import type { Log, Position } from './log/log.ts'
import type { TopicName } from './topics.ts'

export type Progress = {
  /** The worker reports that everything up to `position` can be read. */
  applied(position: Position): void
  /** Offset up to which a topic's partition can be read. */
  offset(topic: TopicName, partition: number): number
  /** Resolves true once every position is applied, false after `boundMs` or when the signal aborts. */
  reach(positions: Position[], boundMs: number, signal?: AbortSignal): Promise<boolean>
}

type Waiter = { positions: Position[]; done: (reached: boolean) => void }

export function createProgress(): Progress {
  const offsets = new Map<string, number>()
  const waiters = new Set<Waiter>()
  const offset = (topic: TopicName, partition: number): number => offsets.get(`${topic}.${partition}`) ?? 0
  const reached = (positions: Position[]): boolean => positions.every((p) => offset(p.topic, p.partition) >= p.offset)

  return {
    offset,
    applied(position) {
      if (position.offset <= offset(position.topic, position.partition)) return
      offsets.set(`${position.topic}.${position.partition}`, position.offset)
      for (const waiter of waiters) if (reached(waiter.positions)) waiter.done(true)
    },
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
  const waiting = new Map<TopicName, number>()
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
    applied: known.applied,
    offset: known.offset,
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
