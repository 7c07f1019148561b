// Makes a table anew beside the old one and exchanges the two; applies kept records again. One such task at a time.
import { readFileSync, rmSync } from 'node:fs'
import { mkdir, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Position } from '../core/log/log.ts'
import { formatPositions } from '../core/positions.ts'
import type { TopicName } from '../core/topics.ts'
import { keptRows } from './kept-rows.ts'
import { readOrigins } from './origins.ts'
import { isRebuildable, type Kind, type KindDeps, kindOf, type Task } from './rebuild-kinds.ts'
import type { Worker } from './run.ts'

/** What is kept over a kill. */
type State = {
  table: string
  cursor: number
  rows: number
  startedAt: string
  notes: string[]
  /** Identities of the new tables; they tell whether the exchange was done. Absent until all tables are made. */
  made?: Record<string, string>
}

export type RebuildStatus = {
  task: string
  phase: 'working' | 'exchanging' | 'done' | 'stopped' | 'failed'
  /** How much of what there was at the beginning of the current step, from 0 to 1. */
  part: number
  /** Rows that were applied, copied or counted. */
  rows: number
  rowsPerSecond: number
  /** Of a replay: the record up to which it has got, as a position. */
  at?: string
  notes: string[]
  startedAt: string
  isResumed: boolean
  reason?: string
}

export type Rebuilds = {
  /** Begins with a table, or goes on where the last process was killed; rejects when it is not possible. */
  rebuild(table: string, rowsPerSecond?: number): Promise<RebuildStatus>
  /** Begins to apply the kept records from these positions on once more. */
  replay(from: Position[], rowsPerSecond?: number): RebuildStatus
  /** The current task or the last one. */
  status(): RebuildStatus | null
  /** The table whose rebuild was begun and neither ended nor runs. */
  unfinished(): string | null
  tables(): Promise<string[]>
  /** Gives an unfinished rebuild up: the old table stays. */
  abandon(): Promise<string>
  stop(): Promise<void>
}

export type RebuildDeps = Omit<KindDeps, 'worker'> & {
  worker: Pick<Worker, 'rollups' | 'leafRollups' | 'alone' | 'sweep' | 'reapply'>
  /** File in which an unfinished rebuild is kept. */
  stateFile: string
  onEnd(status: RebuildStatus): void
}

const defaultRowsPerSecond = 20_000

/** Parts that are not merged yet come on top. */
const spaceFactor = 1.5
const mebibytes = (bytes: number): number => Math.ceil(bytes / 2 ** 20)

async function writeDurably(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const file = await open(`${path}.new`, 'w')
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(`${path}.new`, path)
}

export function createRebuilds(deps: RebuildDeps): Rebuilds {
  const { store, worker, stateFile } = deps
  const stopping = new AbortController()
  let current: RebuildStatus | null = null
  let running: Promise<void> | undefined

  const load = (): State | undefined => {
    try {
      return JSON.parse(readFileSync(stateFile, 'utf8')) as State
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }
  const save = (state: State) => writeDurably(stateFile, JSON.stringify(state))

  const begin = (status: RebuildStatus, work: () => Promise<void>): RebuildStatus => {
    current = status
    running = (async () => {
      try {
        await work()
        status.phase = 'done'
        status.part = 1
      } catch (error) {
        status.phase = stopping.signal.aborted ? 'stopped' : 'failed'
        status.reason = error instanceof Error ? error.message : String(error)
      }
      running = undefined
      deps.onEnd(status)
    })()
    return status
  }

  /** Rests so long that the rate is kept and at least half of the time is left to others. */
  const pacer = (status: RebuildStatus, rowsPerSecond: number) => {
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
      async rest(rows: number, tookMs: number): Promise<void> {
        if (rate === Number.POSITIVE_INFINITY) return
        await sleep(Math.max(tookMs, (rows / rate) * 1_000 - tookMs), undefined, { signal: stopping.signal })
        status.rowsPerSecond = Math.round(((status.rows - before) * 1_000) / (performance.now() - beganMs))
      },
    }
  }

  const taskOf = (status: RebuildStatus, state: State, rowsPerSecond: number): Task => {
    const { hurry, rush, rest } = pacer(status, rowsPerSecond)
    const task: Task = {
      cursor: state.cursor,
      hurry,
      rush,
      signal: stopping.signal,
      note(text) {
        if (!state.notes.includes(text)) state.notes.push(text)
      },
      async advanced({ cursor, rows, tookMs, done, of }) {
        task.cursor = cursor
        state.cursor = cursor
        state.rows += rows
        status.rows = state.rows
        status.part = of > 0 ? done / of : 1
        await save(state)
        await rest(rows, tookMs)
      },
    }
    return task
  }

  /** The new tables take about as much as the old ones. */
  async function checkSpace(of: readonly string[]): Promise<void> {
    const [row] = await store.rows<{ free: number; needed: number }>({
      name: 'rebuild.space',
      sql: `SELECT toFloat64(sum(bytes_on_disk)) AS needed, (SELECT toFloat64(min(free_space)) FROM system.disks) AS free
        FROM system.parts WHERE active AND database = 'callhouse' AND table IN {tables:Array(String)}`,
      params: { tables: of },
    })
    const [free, needed] = [Number(row?.free), Number(row?.needed) * spaceFactor]
    if (free < needed)
      throw new Error(
        `too little disk: about ${mebibytes(needed)} MiB are needed beside the old table, ${mebibytes(free)} MiB are free`,
      )
  }

  /** Ends what an earlier process began to exchange; makes the tables when there are none. */
  async function prepare(kind: Kind, state: State): Promise<'filled' | 'to fill'> {
    const { shadow } = kind
    if (state.made) {
      const used = await shadow.inUse(state.made)
      if (used.length === Object.keys(state.made).length) return 'filled'
      // Some of several tables were exchanged: all of them are right, and the rest is made again.
      if (used.length === 0) return 'to fill'
    }
    await checkSpace(shadow.tables)
    state.cursor = 0
    // First of all, so that tables without a state are never left behind.
    delete state.made
    await save(state)
    const { views } = await readOrigins(store)
    const made = await shadow.create(views)
    await kind.begin()
    state.made = made
    await save(state)
    return 'to fill'
  }

  async function run(kind: Kind, status: RebuildStatus, state: State, rowsPerSecond: number): Promise<void> {
    const { shadow } = kind
    if ((await prepare(kind, state)) === 'to fill') {
      const task = taskOf(status, state, rowsPerSecond)
      await kind.fill(task)
      await kind.finish(task, async (options) => {
        stopping.signal.throwIfAborted()
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
    rmSync(stateFile, { force: true })
  }

  const refuseSecond = (): void => {
    if (running) throw new Error(`${current?.task} is running; there is one such task at a time`)
    if (stopping.signal.aborted) throw new Error('the server is shutting down')
  }

  const tables = async (): Promise<string[]> => {
    const origins = await readOrigins(store)
    const rows = await store.rows<{ name: string }>({
      name: 'rebuild.tables',
      sql: `SELECT name FROM system.tables WHERE database = 'callhouse' AND endsWith(engine, 'MergeTree') ORDER BY name`,
      params: {},
    })
    return rows.map(({ name }) => name).filter((name) => isRebuildable(name, origins.of(name)))
  }

  return {
    tables,
    async rebuild(table, rowsPerSecond = defaultRowsPerSecond) {
      refuseSecond()
      const known = await tables()
      if (!known.includes(table))
        throw new Error(`There is no table ${JSON.stringify(table)} that can be rebuilt; one of ${known.join(', ')}`)
      const kept = load()
      if (kept && kept.table !== table)
        throw new Error(
          `the rebuild of ${kept.table} is unfinished: end it first, or give it up (callhouse rebuild abandon)`,
        )
      const origins = await readOrigins(store)
      refuseSecond()
      const kind = kindOf(deps, table, origins.of(table))
      const state = kept ?? { table, cursor: 0, rows: 0, startedAt: new Date().toISOString(), notes: [] }
      const { notes, rows, startedAt } = state
      const isResumed = kept !== undefined
      const status = { task: `rebuild ${table}`, part: 0, rowsPerSecond: 0, rows, notes, startedAt, isResumed }
      return begin({ ...status, phase: 'working' }, async () =>
        run(kind, current as RebuildStatus, state, rowsPerSecond),
      )
    },
    replay(from, rowsPerSecond = defaultRowsPerSecond) {
      refuseSecond()
      const status: RebuildStatus = {
        ...{ task: 'replay', phase: 'working', part: 0, rows: 0, rowsPerSecond: 0, notes: [], isResumed: false },
        startedAt: new Date().toISOString(),
      }
      const { rest } = pacer(status, rowsPerSecond)
      return begin(status, async () => {
        for (const { topic, offset } of from) await replayTopic(topic, offset, status, rest)
      })
    },
    status: () => current,
    unfinished: () => (running ? null : (load()?.table ?? null)),
    async abandon() {
      refuseSecond()
      const kept = load()
      if (!kept) throw new Error('no rebuild is unfinished')
      const origins = await readOrigins(store)
      await kindOf(deps, kept.table, origins.of(kept.table)).shadow.drop()
      rmSync(stateFile, { force: true })
      return kept.table
    },
    async stop() {
      stopping.abort()
      await running
    },
  }

  async function replayTopic(
    topic: TopicName,
    from: number,
    status: RebuildStatus,
    rest: (rows: number, tookMs: number) => Promise<void>,
  ): Promise<void> {
    const first = Math.max(1, from)
    const end = (await deps.log.end(topic))[0]?.offset ?? 0
    let isFirst = true
    for await (const { rows, firstOffset, lastOffset, oldestMs } of keptRows(topic, deps.records(topic, first, end))) {
      stopping.signal.throwIfAborted()
      if (isFirst && firstOffset > first)
        status.notes.push(`${topic}: the log begins at ${firstOffset} (${new Date(oldestMs).toISOString()})`)
      isFirst = false
      const beganMs = performance.now()
      await worker.reapply(topic, rows)
      status.rows += rows.length
      status.at = formatPositions([{ topic, partition: 0, offset: lastOffset }])
      status.part = (lastOffset - first + 1) / (end - first + 1)
      await rest(rows.length, performance.now() - beganMs)
    }
    if (isFirst && end >= first) status.notes.push(`${topic}: the log holds nothing from ${first} on`)
    status.notes.push(`${topic}: applied up to ${end}`)
    if (topic === 'calls' && !isFirst) await worker.sweep()
  }
}
