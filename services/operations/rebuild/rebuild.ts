// Rebuilds a table beside the old one and exchanges the two; replays kept records. One such task at a time.
import { setTimeout as sleep } from 'node:timers/promises'
import { Refusal } from '../../core/errors.ts'
import type { Position } from '../../core/log/log.ts'
import { formatPositions } from '../../core/log/positions.ts'
import { StoreError } from '../../core/store/store.ts'
import type { KindDeps, RebuildKind, RebuildTask } from './kind.ts'
import { rebuildableTables, rebuildKindOf } from './kinds.ts'
import { readViews } from './lineage.ts'
import { replayBatches } from './replay-reader.ts'
import type { RebuildState, StateKeeper } from './state.ts'

export type RebuildStatus = {
  task: string
  phase: 'working' | 'exchanging' | 'done' | 'stopped' | 'failed'
  /** Share of the current step's work at its beginning that is done, from 0 to 1. */
  progress: number
  /** Rows that were applied, copied or counted. */
  rows: number
  rowsPerSecond: number
  /** The last record that a replay has applied, as a position. */
  at?: string
  notes: string[]
  startedAt: string
  isResumed: boolean
  reason?: string
}

export type Rebuilds = {
  /** Begins to rebuild a table, or resumes where the last process was killed; rejects when that is not possible. */
  rebuild(table: string, rowsPerSecond?: number): Promise<RebuildStatus>
  /** Begins to reapply the kept records from these positions on. */
  replay(from: Position[], rowsPerSecond?: number): RebuildStatus
  /** The current task or the last one. */
  status(): RebuildStatus | null
  /** The table whose rebuild was begun, has not ended and is not running. */
  unfinished(): Promise<string | null>
  /** Cancels an unfinished rebuild and keeps the old table. */
  abandon(): Promise<string>
  stop(): Promise<void>
}

export type RebuildDeps = KindDeps & {
  /** Storage of an unfinished rebuild's state. */
  state: StateKeeper
  onEnd(status: RebuildStatus): void
}

const defaultRowsPerSecond = 20_000

/** Parts that are not merged yet come on top. */
const spaceFactor = 1.5
const mebibytes = (bytes: number): number => Math.ceil(bytes / 2 ** 20)

/** The task that runs or ran last. */
type Running = RebuildDeps & {
  stopping: AbortController
  current: RebuildStatus | null
  work: Promise<void> | undefined
}

const databaseOf = ({ server }: RebuildDeps): string => server?.database ?? 'callhouse'

function refuseSecond({ work, current, stopping }: Running): void {
  if (work) throw new Error(`${current?.task} is running; there is one such task at a time`)
  if (stopping.signal.aborted) throw new Error('the server is shutting down')
}

/** Runs a task, whose end the status tells. */
function begin(
  running: Running,
  status: RebuildStatus,
  work: () => Promise<void>,
  release: () => Promise<void> = async () => {},
): RebuildStatus {
  running.current = status
  running.work = (async () => {
    try {
      await work()
      status.phase = 'done'
      status.progress = 1
    } catch (error) {
      status.phase = running.stopping.signal.aborted ? 'stopped' : 'failed'
      status.reason = error instanceof Error ? error.message : String(error)
    }
    await release()
    running.work = undefined
    running.onEnd(status)
  })()
  return status
}

const newStatus = (task: string): RebuildStatus => ({
  task,
  phase: 'working',
  progress: 0,
  rows: 0,
  rowsPerSecond: 0,
  notes: [],
  isResumed: false,
  startedAt: new Date().toISOString(),
})

type Pacer = { hurry(): void; rush(): void; rest(rows: number, tookMs: number): Promise<void> }

/** Pauses to keep the rate and to leave at least half of the time to others. */
function createPacer(signal: AbortSignal, status: RebuildStatus, rowsPerSecond: number): Pacer {
  const beganMs = performance.now()
  const before = status.rows
  let rate = rowsPerSecond
  return {
    hurry: () => {
      rate *= 2
    },
    rush: () => {
      rate = Number.POSITIVE_INFINITY
    },
    async rest(rows, tookMs) {
      if (rate === Number.POSITIVE_INFINITY) return
      await sleep(Math.max(tookMs, (rows / rate) * 1_000 - tookMs), undefined, { signal })
      status.rowsPerSecond = Math.round(((status.rows - before) * 1_000) / (performance.now() - beganMs))
    },
  }
}

function taskOf(
  { state: keeper, stopping }: Running,
  status: RebuildStatus,
  state: RebuildState,
  { hurry, rush, rest }: Pacer,
): RebuildTask {
  const task: RebuildTask = {
    cursor: [...state.cursor],
    raiseRate: hurry,
    unthrottle: rush,
    signal: stopping.signal,
    note(text) {
      if (!state.notes.includes(text)) state.notes.push(text)
    },
    async onProgress({ cursor, rows, tookMs, done, of }) {
      task.cursor = cursor
      state.cursor = [...cursor]
      state.rows += rows
      status.rows = state.rows
      status.progress = of > 0 ? done / of : 1
      await keeper.save(state)
      await rest(rows, tookMs)
    },
  }
  return task
}

/** The new tables take about as much space as the old ones. @throws Error when that is not free */
async function checkSpace(running: Running, tables: readonly string[]): Promise<void> {
  const [row] = await running.store.rows<{ free: number; needed: number }>({
    name: 'rebuild.space',
    // Other disks of a server, those for backups among them, may be as full as they like. The parts are read once: a
    // first part that appears between two readings would be on no disk in one of them.
    sql: `SELECT toFloat64(sum(of.bytes)) AS needed, toFloat64(min(disks.free_space)) AS free
      FROM (SELECT disk_name, sum(bytes_on_disk) AS bytes FROM system.parts
        WHERE active AND database = {database:String} AND table IN {tables:Array(String)} GROUP BY disk_name) AS of
      INNER JOIN system.disks AS disks ON disks.name = of.disk_name`,
    params: { tables, database: databaseOf(running) },
  })
  const [free, needed] = [Number(row?.free), Number(row?.needed) * spaceFactor]
  if (free < needed)
    throw new Error(
      `too little disk: about ${mebibytes(needed)} MiB are needed beside the old table, ${mebibytes(free)} MiB are free`,
    )
}

/** Detects an exchange that an earlier process finished; creates the tables when there are none. */
async function prepare(running: Running, kind: RebuildKind, state: RebuildState): Promise<'filled' | 'to fill'> {
  const { shadow } = kind
  const { state: keeper, store, stopping } = running
  if (state.made) {
    const used = await shadow.inUse(state.made)
    if (used.length === Object.keys(state.made).length) return 'filled'
    // Some of several tables were exchanged: all of them are right, and the rest is made again.
    if (used.length === 0) return 'to fill'
  }
  await checkSpace(running, shadow.tables)
  state.cursor = []
  // First of all, so that tables without a state are never left behind.
  delete state.made
  await keeper.save(state)
  const made = await shadow.create(await readViews(store, databaseOf(running)))
  await kind.begin(stopping.signal)
  state.made = made
  await keeper.save(state)
  return 'to fill'
}

/** Pauses before another attempt where the log or the store does not answer: two minutes in all. */
const tryAgainAfterMs = [500, 2_000, 5_000, 10_000, 20_000, 30_000, 60_000]
const isUnavailable = (error: unknown): boolean =>
  error instanceof Refusal ? error.kind === 'unavailable' : error instanceof StoreError && error.kind === 'outage'

/** Fills and exchanges, once more after each outage: an attempt goes on where the last one ended. */
async function fillDespiteOutages(
  running: Running,
  status: RebuildStatus,
  state: RebuildState,
  pacer: Pacer,
): Promise<void> {
  const { signal } = running.stopping
  for (const waitMs of tryAgainAfterMs)
    try {
      return await fillAndExchange(running, rebuildKindOf(running, state.table), status, state, pacer)
    } catch (error) {
      if (!isUnavailable(error) || signal.aborted) throw error
      status.phase = 'working'
      await sleep(waitMs, undefined, { signal })
    }
  await fillAndExchange(running, rebuildKindOf(running, state.table), status, state, pacer)
}

/** Fills the new tables and exchanges them with the old ones. */
async function fillAndExchange(
  running: Running,
  kind: RebuildKind,
  status: RebuildStatus,
  state: RebuildState,
  pacer: Pacer,
): Promise<void> {
  const { shadow } = kind
  const { state: keeper, stopping } = running
  if ((await prepare(running, kind, state)) === 'to fill') {
    const task = taskOf(running, status, state, pacer)
    await kind.fill(task)
    await kind.finish(task, async (options) => {
      stopping.signal.throwIfAborted()
      await keeper.save(state)
      status.phase = 'exchanging'
      const changed = await shadow.changed()
      if (changed.length > 0)
        throw new Error(
          `${changed.join(', ')} changed since the rebuild began: give it up (callhouse rebuild abandon) and begin again`,
        )
      await shadow.exchange(options)
    })
  }
  await kind.after()
  await shadow.drop()
  await keeper.clear()
}

/** The rebuild of a table that an earlier process began, or a new one. @throws Error when another is unfinished */
async function resume(deps: RebuildDeps, table: string): Promise<{ state: RebuildState; isResumed: boolean }> {
  const log = (await deps.log.identity()).find(({ topic }) => topic === 'calls')?.id ?? ''
  const kept = await deps.state.load()
  if (kept === undefined)
    return {
      state: { table, log, cursor: [], rows: 0, startedAt: new Date().toISOString(), notes: [] },
      isResumed: false,
    }
  if (kept.table !== table)
    throw new Error(
      `the rebuild of ${kept.table} is unfinished: end it first, or give it up (callhouse rebuild abandon)`,
    )
  if ((kept.log ?? log) !== log)
    throw new Error(
      `the rebuild of ${kept.table} was begun with another log: give it up (callhouse rebuild abandon) and begin again`,
    )
  // An older release kept a number.
  kept.cursor = [kept.cursor].flat()
  return { state: kept, isResumed: true }
}

async function rebuild(running: Running, table: string, rowsPerSecond: number): Promise<RebuildStatus> {
  refuseSecond(running)
  if (!rebuildableTables.includes(table))
    throw new Error(
      `There is no table ${JSON.stringify(table)} that can be rebuilt; one of ${rebuildableTables.join(', ')}`,
    )
  const { state: keeper, stopping } = running
  await keeper.claim()
  const { state, isResumed } = await resume(running, table).catch(async (error) => {
    await keeper.release()
    throw error
  })
  refuseSecond(running)
  const { notes, rows, startedAt } = state
  const status = { ...newStatus(`rebuild ${table}`), notes, rows, startedAt, isResumed }
  const pacer = createPacer(stopping.signal, status, rowsPerSecond)
  return begin(running, status, () => fillDespiteOutages(running, status, state, pacer), keeper.release)
}

async function replayPartition(
  running: Running,
  { topic, partition, offset: from }: Position,
  status: RebuildStatus,
  { rest }: Pacer,
): Promise<void> {
  const { log, worker, stopping } = running
  const first = Math.max(1, from)
  const found = (await log.end(topic)).find((one) => one.partition === partition)
  if (found === undefined) throw new Error(`the log has no partition ${partition} of ${topic}`)
  const end = found.offset
  const name = formatPositions([found]).replace(/=.*/, '')
  let isFirst = true
  const kept = running.records(topic, partition, first, end)
  for await (const { rows, firstOffset, lastOffset, oldestMs } of replayBatches(topic, partition, kept)) {
    stopping.signal.throwIfAborted()
    if (isFirst && firstOffset > first)
      status.notes.push(`${name}: the log begins at ${firstOffset} (${new Date(oldestMs).toISOString()})`)
    isFirst = false
    const beganMs = performance.now()
    await worker.reapply(topic, rows)
    status.rows += rows.length
    status.at = formatPositions([{ topic, partition, offset: lastOffset }])
    status.progress = (lastOffset - first + 1) / (end - first + 1)
    await rest(rows.length, performance.now() - beganMs)
  }
  if (isFirst && end >= first) status.notes.push(`${name}: the log holds nothing from ${first} on`)
  status.notes.push(`${name}: applied up to ${end}`)
}

function replay(running: Running, from: Position[], rowsPerSecond: number): RebuildStatus {
  refuseSecond(running)
  const status = newStatus('replay')
  const pacer = createPacer(running.stopping.signal, status, rowsPerSecond)
  return begin(running, status, async () => {
    for (const position of from) await replayPartition(running, position, status, pacer)
    if (from.some(({ topic }) => topic === 'calls') && status.rows > 0) await running.worker.deduplicateAll()
  })
}

async function abandon(running: Running): Promise<string> {
  refuseSecond(running)
  const { state: keeper } = running
  if (!(await keeper.load())) throw new Error('no rebuild is unfinished')
  await keeper.claim()
  const kept = await keeper.load()
  if (!kept) throw new Error('no rebuild is unfinished')
  await rebuildKindOf(running, kept.table).shadow.drop()
  await keeper.clear()
  return kept.table
}

export function createRebuilds(deps: RebuildDeps): Rebuilds {
  const running: Running = { ...deps, stopping: new AbortController(), current: null, work: undefined }
  return {
    rebuild: (table, rowsPerSecond = defaultRowsPerSecond) => rebuild(running, table, rowsPerSecond),
    replay: (from, rowsPerSecond = defaultRowsPerSecond) => replay(running, from, rowsPerSecond),
    status: () => running.current,
    unfinished: async () => (running.work ? null : ((await running.state.load())?.table ?? null)),
    abandon: () => abandon(running),
    async stop() {
      running.stopping.abort()
      await running.work
    },
  }
}
