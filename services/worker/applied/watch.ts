// Records applied positions while a process runs, and notices when the tables or the log are not its own any more.
import { setTimeout as sleep } from 'node:timers/promises'
import { createSerialQueue, type SerialQueue } from '../../core/concurrency/serial-queue.ts'
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

type WatchDeps = {
  log: Pick<Log, 'identity' | 'remembered' | 'onRebalance'>
  store: Pick<Store, 'rows' | 'command'>
  /** Positions that the tables remembered at the start. */
  known: Applied
  /** Whether others can change the tables or the log meanwhile. */
  looks: boolean
  /** Whether this process writes into the tables. */
  applies: boolean
  /** Readers wait for what the tables are known to hold. */
  progress: Pick<Progress, 'remembered' | 'isHeldBack'>
  onError(error: Error): void
}

/** The state of a watch; steps on the tables run one after the other in `queue`. */
type Watch = Omit<WatchDeps, 'known'> & {
  /** Ids of the log by topic. */
  ids: ReadonlyMap<string, string>
  /** Positions that the tables held at the last look. */
  known: Applied
  missing: string | undefined
  /** Positions that are applied and not written yet. */
  waiting: Map<string, Position>
  written: Map<string, number>
  queue: SerialQueue
  writing?: NodeJS.Timeout | undefined
  looking?: NodeJS.Timeout | undefined
  failed: PromiseWithResolvers<never>
  mismatch?: LogMismatch
  isStopped: boolean
  /** Whether the tables did not answer the last time. */
  isSilent: boolean
}

const keyOf = ({ topic, partition }: Position): string => `${topic}/${partition}`

const goneTables = () => new LogMismatch('the tables are gone: start again, they are made anew and filled from the log')

/** @throws LogMismatch when the tables are not those that were known */
function checkTables({ known, ids, written }: Watch, now: Applied): void {
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

async function checkedTables(watch: Watch): Promise<Applied> {
  try {
    const now = await readApplied(watch.store)
    checkTables(watch, now)
    return now
  } catch (error) {
    if (error instanceof StoreError && goneCodes.has(error.code)) throw goneTables()
    throw error
  }
}

const rowsOf = ({ ids, known }: Watch, positions: Iterable<Position>): AppliedRow[] =>
  [...positions].map((one) => ({
    ...one,
    id: ids.get(one.topic) as string,
    generation: known.get(one.topic)?.generation ?? 1,
  }))

/** Notes records that went by age while the tables were away longer than the log keeps them. */
async function noteMissing(watch: Watch, identities: readonly TopicIdentity[]): Promise<void> {
  const { store, known } = watch
  const lost = identities.flatMap(({ topic, id, kept }) =>
    kept.flatMap(({ partition, first }) => {
      const held = known.get(topic)?.positions.get(partition)
      if (held === undefined || held + 1 >= first) return []
      return [{ topic, id, partition, first: held + 1, last: first - 1, beforeMs: Date.now() }]
    }),
  )
  if (lost.length === 0) return
  await writeMissing(store, lost)
  const positions = lost.map(({ topic, partition, last }) => ({ topic, partition, offset: last }))
  await writeApplied(store, rowsOf(watch, positions))
}

async function lookAtTables(watch: Watch): Promise<void> {
  // The tables are read twice, as a replica may be behind.
  watch.known = await checkedTables(watch).catch(async (error: unknown) => {
    if (!(error instanceof LogMismatch)) throw error
    await sleep(recheckMs)
    return checkedTables(watch)
  })
  watch.progress.remembered(positionsOf(watch.known))
}

async function lookAtBoth(watch: Watch): Promise<void> {
  await lookAtTables(watch)
  const { log, store, ids, applies } = watch
  const identities = await log.identity()
  for (const { topic, id } of identities)
    if (id !== ids.get(topic)) throw otherLog(topic, [ids.get(topic) as string], id)
  if (applies) await noteMissing(watch, identities)
  watch.missing = await missingText(store, watch.known)
}

/** False when they did not answer. @throws LogMismatch */
async function answered(watch: Watch, look: (watch: Watch) => Promise<void>): Promise<boolean> {
  if (watch.mismatch) throw watch.mismatch
  try {
    await look(watch)
    watch.isSilent = false
    return true
  } catch (error) {
    if (error instanceof LogMismatch) {
      watch.mismatch = error
      watch.failed.reject(error)
      throw error
    }
    // Once, however long they are away.
    if (!watch.isSilent) watch.onError(error as Error)
    watch.isSilent = true
    return false
  }
}

async function write(watch: Watch): Promise<void> {
  const { log, store, looks, written } = watch
  if (watch.waiting.size === 0 || watch.mismatch) return
  if (looks && !(await answered(watch, lookAtBoth))) return
  const positions = watch.waiting
  watch.waiting = new Map()
  try {
    await writeApplied(store, rowsOf(watch, positions.values()))
  } catch (error) {
    for (const [key, one] of positions) if (!watch.waiting.has(key)) watch.waiting.set(key, one)
    throw error
  }
  for (const [key, one] of positions) written.set(key, one.offset)
  log.remembered([...positions.values()])
}

const writeInTurn = (watch: Watch): Promise<void> =>
  watch.queue.run(() => write(watch)).catch((error: unknown) => void (watch.mismatch ?? watch.onError(error as Error)))

function writeLater(watch: Watch): void {
  if (watch.writing || watch.isStopped) return
  watch.writing = setTimeout(() => {
    watch.writing = undefined
    void writeInTurn(watch).finally(() => watch.waiting.size > 0 && writeLater(watch))
  }, writeMs)
  watch.writing.unref()
}

function lookLater(watch: Watch): void {
  const { queue, looks, progress } = watch
  if (!looks || watch.isStopped || watch.mismatch) return
  watch.looking = setTimeout(
    () =>
      void queue
        .run(() => answered(watch, lookAtBoth))
        .then(
          () => lookLater(watch),
          () => undefined,
        ),
    progress.isHeldBack() ? checkSoonMs : checkMs,
  )
  watch.looking.unref()
}

function lookAtOnce(watch: Watch): void {
  if (!watch.isStopped && !watch.mismatch)
    void watch.queue.run(() => answered(watch, lookAtBoth)).catch(() => undefined)
}

function noteApplied(watch: Watch, position: Position): void {
  watch.progress.remembered([position])
  const key = keyOf(position)
  if (position.offset <= (watch.waiting.get(key)?.offset ?? 0)) return
  watch.waiting.set(key, position)
  writeLater(watch)
}

async function stop(watch: Watch): Promise<void> {
  watch.isStopped = true
  clearTimeout(watch.looking)
  clearTimeout(watch.writing)
  await writeInTurn(watch)
}

export async function watchApplied(deps: WatchDeps): Promise<AppliedWatch> {
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => undefined)
  const watch: Watch = {
    ...deps,
    ids: new Map((await deps.log.identity()).map(({ topic, id }) => [topic, id])),
    missing: await missingText(deps.store, deps.known),
    waiting: new Map(),
    written: new Map(),
    queue: createSerialQueue(),
    failed,
    isStopped: false,
    isSilent: false,
  }
  watch.progress.remembered(positionsOf(watch.known))
  lookLater(watch)
  if (watch.looks) deps.log.onRebalance?.(() => lookAtOnce(watch))
  return {
    applied: (position) => noteApplied(watch, position),
    // A state that nobody else can reach stays as it is.
    verify: async () => void (watch.looks && (await watch.queue.run(() => answered(watch, lookAtTables)))),
    missing: () => watch.missing,
    failed: failed.promise,
    stop: () => stop(watch),
  }
}
