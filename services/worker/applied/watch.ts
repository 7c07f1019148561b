// Records applied positions while a process runs, and notices when the tables or the log are not its own any more.
import { setTimeout as sleep } from 'node:timers/promises'
import { createSerialQueue } from '../../core/concurrency/serial-queue.ts'
import type { Log, Position, TopicIdentity } from '../../core/log/log.ts'
import type { Progress } from '../../core/log/progress.ts'
import { type Store, StoreError } from '../../core/store/store.ts'
import { LogMismatch, otherLog } from './compare.ts'
import { positionsOf } from './match.ts'
import { type Applied, type AppliedRow, missingText, readApplied, writeApplied, writeMissing } from './table.ts'

/** Interval of writing applied positions while batches come; what a kill leaves unwritten is applied again. */
const writeMs = 1_000
/** Interval of checks of tables and a log that others can change, */
const checkMs = 5_000
/** and the same while readers wait for what the tables hold. */
const checkSoonMs = 500

/** Time to the second check before tables count as lost. */
const recheckMs = 500

/** Error codes of the engine: there is no such table, no such database. */
const goneCodes = new Set([60, 81])

export type AppliedWatch = {
  /** Everything up to the position is in the tables. */
  applied(position: Position): void
  /**
   * Checks that the tables are still those of the log; resolves when they do not answer.
   * @throws LogMismatch when they are not; `failed` rejects too
   */
  verify(): Promise<void>
  /** Known missing records, as a public message. */
  missing(): string | undefined
  /** Rejects with a LogMismatch, and the process must end; never resolves. */
  failed: Promise<never>
  /** Writes what is applied and not yet written. */
  stop(): Promise<void>
}

/**
 * @param deps.known what the tables remembered at the start
 * @param deps.looks whether others can change the tables or the log meanwhile
 */
export async function watchApplied(deps: {
  log: Pick<Log, 'identity' | 'remembered' | 'onRebalance'>
  store: Pick<Store, 'rows' | 'command'>
  known: Applied
  looks: boolean
  /** Whether this process writes into the tables. */
  applies: boolean
  /** Readers wait for what the tables are known to hold. */
  progress: Pick<Progress, 'remembered' | 'isHeldBack'>
  onError(error: Error): void
}): Promise<AppliedWatch> {
  const { log, store, looks, progress } = deps
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => undefined)
  const ids = new Map((await log.identity()).map(({ topic, id }) => [topic, id]))
  let known = deps.known
  let missing = await missingText(store, known)
  progress.remembered(positionsOf(known))
  let waiting = new Map<string, Position>()
  const written = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  const queue = createSerialQueue()
  let mismatch: LogMismatch | undefined
  let isStopped = false
  let isSilent = false

  const keyOf = ({ topic, partition }: Position): string => `${topic}/${partition}`

  const goneTables = () =>
    new LogMismatch('the tables are gone: start again, they are made anew and filled from the log')

  function checkTables(now: Applied): void {
    for (const topic of known.keys()) if (!now.has(topic)) throw goneTables()
    for (const [topic, { ids: found, generation, positions }] of now) {
      const id = ids.get(topic) as string
      if (found.some((one) => one !== id) || generation !== (known.get(topic)?.generation ?? generation))
        throw new LogMismatch(
          `the tables of ${topic} were given to another log (${found.join(', ')}) while this process used them with ${id}: end one of the two`,
        )
      for (const [partition, offset] of positions) {
        const key = keyOf({ topic, partition, offset })
        const before = Math.max(written.get(key) ?? 0, known.get(topic)?.positions.get(partition) ?? 0)
        if (offset < before)
          throw new LogMismatch(
            `the tables of ${topic} went back from ${before} to ${offset}: start again, what they lack is applied from the log`,
          )
      }
    }
  }

  async function checkedTables(): Promise<Applied> {
    try {
      const now = await readApplied(store)
      checkTables(now)
      return now
    } catch (error) {
      if (error instanceof StoreError && goneCodes.has(error.code)) throw goneTables()
      throw error
    }
  }

  /** Records that went by age while the tables were away longer than the log keeps them. */
  async function noteMissing(identities: readonly TopicIdentity[]): Promise<void> {
    const lost = identities.flatMap(({ topic, id, kept }) =>
      kept.flatMap(({ partition, first }) => {
        const held = known.get(topic)?.positions.get(partition)
        if (held === undefined || held + 1 >= first) return []
        return [{ topic, id, partition, first: held + 1, last: first - 1, beforeMs: Date.now() }]
      }),
    )
    if (lost.length === 0) return
    await writeMissing(store, lost)
    await writeApplied(store, rowsOf(lost.map(({ topic, partition, last }) => ({ topic, partition, offset: last }))))
  }

  /** False when they did not answer. @throws LogMismatch */
  async function answered(step: () => Promise<void>): Promise<boolean> {
    if (mismatch) throw mismatch
    try {
      await step()
      isSilent = false
      return true
    } catch (error) {
      if (error instanceof LogMismatch) {
        mismatch = error
        failed.reject(error)
        throw error
      }
      // Once, however long they are away.
      if (!isSilent) deps.onError(error as Error)
      isSilent = true
      return false
    }
  }

  async function lookAtTables(): Promise<void> {
    // The tables are read twice, as a replica may be behind.
    known = await checkedTables().catch(async (error: unknown) => {
      if (!(error instanceof LogMismatch)) throw error
      await sleep(recheckMs)
      return checkedTables()
    })
    progress.remembered(positionsOf(known))
  }

  async function lookAtBoth(): Promise<void> {
    await lookAtTables()
    const identities = await log.identity()
    for (const { topic, id } of identities)
      if (id !== ids.get(topic)) throw otherLog(topic, [ids.get(topic) as string], id)
    if (deps.applies) await noteMissing(identities)
    missing = await missingText(store, known)
  }

  const rowsOf = (positions: Iterable<Position>): AppliedRow[] =>
    [...positions].map((one) => ({
      ...one,
      id: ids.get(one.topic) as string,
      generation: known.get(one.topic)?.generation ?? 1,
    }))

  async function write(): Promise<void> {
    if (waiting.size === 0 || mismatch) return
    if (looks && !(await answered(lookAtBoth))) return
    const positions = waiting
    waiting = new Map()
    try {
      await writeApplied(store, rowsOf(positions.values()))
    } catch (error) {
      for (const [key, one] of positions) if (!waiting.has(key)) waiting.set(key, one)
      throw error
    }
    for (const [key, one] of positions) written.set(key, one.offset)
    log.remembered([...positions.values()])
  }

  const schedule = (): void => {
    if (timer || isStopped) return
    timer = setTimeout(() => {
      timer = undefined
      queue
        .run(write)
        .catch((error: unknown) => void (mismatch ?? deps.onError(error as Error)))
        .finally(() => waiting.size > 0 && schedule())
    }, writeMs)
    timer.unref()
  }
  let looking: NodeJS.Timeout | undefined
  const lookLater = (): void => {
    if (!looks || isStopped || mismatch) return
    looking = setTimeout(
      () => void queue.run(() => answered(lookAtBoth)).then(lookLater, () => undefined),
      progress.isHeldBack() ? checkSoonMs : checkMs,
    )
    looking.unref()
  }
  lookLater()
  if (looks)
    log.onRebalance?.(() => {
      if (!isStopped && !mismatch) void queue.run(() => answered(lookAtBoth)).catch(() => undefined)
    })

  return {
    applied(position) {
      progress.remembered([position])
      const key = keyOf(position)
      if (position.offset <= (waiting.get(key)?.offset ?? 0)) return
      waiting.set(key, position)
      schedule()
    },
    // A state that nobody else can reach stays as it is.
    verify: async () => void (looks && (await queue.run(() => answered(lookAtTables)))),
    missing: () => missing,
    failed: failed.promise,
    async stop() {
      isStopped = true
      clearTimeout(looking)
      clearTimeout(timer)
      await queue.run(write).catch((error: unknown) => void (mismatch ?? deps.onError(error as Error)))
    },
  }
}
