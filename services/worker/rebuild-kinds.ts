// The three ways of making a table anew: from the log, from the calls, and by counting or deriving again.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log, Position } from '../core/log/log.ts'
import type { StoredRecord } from '../core/log/read.ts'
import type { Store } from '../core/store/store.ts'
import { type TopicName, topics } from '../core/topics.ts'
import { createCallMaterializer } from './calls.ts'
import { keptRows } from './kept-rows.ts'
import { createLeaves } from './leaves.ts'
import { copyOfCalls, type Origin } from './origins.ts'
import { createPortions, isPatch } from './portions.ts'
import { createQueue } from './queue.ts'
import { type Rollup, rollupTable } from './rollups.ts'
import type { Worker } from './run.ts'
import { createShadow, type Shadow, type ShadowPlan, shadowDatabase } from './shadow.ts'
import { statement } from './statements.ts'

export type KindDeps = {
  store: Store
  log: Pick<Log, 'end' | 'committed'>
  worker: Pick<Worker, 'rollups' | 'leafRollups' | 'alone' | 'sweep'>
  /** Records of a topic that the log still holds, `toOffset` included. */
  records(topic: TopicName, fromOffset: number, toOffset: number): AsyncIterable<StoredRecord>
}

/** What one rebuild tells and keeps while it works. */
export type Task = {
  /** How far it got: last record of the log, or the time (us) before which everything is done. Kept over a kill. */
  cursor: number
  /** A portion is done and durable; rests. */
  advanced(portion: { cursor: number; rows: number; tookMs: number; done: number; of: number }): Promise<void>
  note(text: string): void
  /** Later passes are faster: what comes in meanwhile must not outrun them. */
  hurry(): void
  /** Rests no more: others wait. */
  rush(): void
  signal: AbortSignal
}

export type Kind = {
  shadow: Shadow
  /** Steps after the tables were made, once. */
  begin(): Promise<void>
  /** Fills the shadow as far as it can while everything goes on. */
  fill(task: Task): Promise<void>
  /** Fills in the rest and calls `exchange` while nothing writes to the tables. */
  finish(task: Task, exchange: (options?: { background: boolean }) => Promise<void>): Promise<void>
  /** Steps after the exchange. */
  after(): Promise<void>
}

const hourUs = 3_600_000_000
const aside = { background: true }
/** Rows of calls that are copied or counted at once; an hour is never split. */
const windowRows = 50_000
/** Passes over what came in meanwhile, before the rest is done between two batches. */
const passes = 12
const fewRecords = 200
/** No log has so many partitions: marks of a rebuild are its own. */
const ownPartition = 2 ** 32 - 1

const topicPlans: Partial<Record<string, Omit<ShadowPlan, 'tables' | 'topic'>>> = {
  calls: {
    helpers: ['calls_batch', 'calls_touched', 'calls_folded', 'calls_by_id'],
    sinks: ['turns', 'call_marks'],
  },
}

function fromLog(deps: KindDeps, table: string, topic: TopicName): Kind {
  const { store, log, worker } = deps
  const shadow = createShadow(store, { tables: [table], topic: topics[topic], ...topicPlans[table] })
  let refused = 0
  const apply = createPortions({
    store: shadow.store,
    deadLetters: { add: async () => void refused++ },
    queue: createQueue(),
  })
  const materializer =
    table === 'calls' ? createCallMaterializer(shadow.store) : { topic, before: async () => {}, after: async () => {} }
  const endOf = async () => (await log.end(topic))[0]?.offset ?? 0
  /**
   * End of the log, once the tables in use have it too: the fold takes the patches of a call from them, and would miss
   * those that only the shadow has seen.
   */
  const appliedEnd = async (signal: AbortSignal): Promise<number> => {
    const end = await endOf()
    while (((await log.committed(topic))[0]?.offset ?? 0) < end) await sleep(20, undefined, { signal })
    return end
  }

  /** Rows of the old table, a month of a project at a time; their versions tell which ones count. */
  const takeOver = async (task: Task): Promise<void> => {
    const pieces = await store.rows<{ partition: string; project: string; n: number }>({
      name: 'rebuild.pieces',
      sql: `SELECT _partition_id AS partition, project_id AS project, toFloat64(count()) AS n FROM callhouse.${table}
        GROUP BY partition, project ORDER BY partition, project`,
      params: {},
    })
    for (const [done, { partition, project, n }] of pieces.entries()) {
      task.signal.throwIfAborted()
      const beganMs = performance.now()
      await store.command(
        {
          name: 'rebuild.take-over',
          sql: `INSERT INTO ${shadowDatabase}.${table} SELECT * FROM callhouse.${table}
            WHERE _partition_id = {partition:String} AND project_id = {project:String}`,
          params: { partition, project },
        },
        aside,
      )
      const tookMs = performance.now() - beganMs
      await task.advanced({ cursor: task.cursor, rows: Number(n), tookMs, done, of: pieces.length })
    }
  }

  const applyUpTo = async (task: Task, end: number): Promise<void> => {
    for await (const { rows, lastOffset, oldestMs } of keptRows(topic, deps.records(topic, task.cursor + 1, end))) {
      task.signal.throwIfAborted()
      const beganMs = performance.now()
      const batch = {
        ...{ topic, partition: 0, firstOffset: lastOffset, lastOffset, records: [], oldestMs, rowCount: rows.length },
        ...{ patchCount: topic === 'calls' ? rows.filter(isPatch).length : 0, source: { bytes: [] } },
      }
      await apply(materializer, batch, rows)
      const tookMs = performance.now() - beganMs
      await task.advanced({ cursor: lastOffset, rows: rows.length, tookMs, done: lastOffset, of: end })
    }
  }

  /** When the oldest kept record came that is still to be applied, and whether others were before it. */
  const firstKept = async (task: Task, end: number) => {
    for await (const { header, appendedMs } of deps.records(topic, task.cursor + 1, end))
      return { isCut: header.offset > task.cursor + 1, at: new Date(appendedMs).toISOString() }
    return { isCut: end > task.cursor, at: new Date().toISOString() }
  }

  const countOf = async (database: string): Promise<number> => {
    const query = {
      name: 'rebuild.count',
      params: {},
      sql: `SELECT toFloat64(count()) AS n FROM ${database}.${table} FINAL`,
    }
    return Number((await store.rows<{ n: number }>(query, { pool: 'background', timeoutMs: 600_000 }))[0]?.n)
  }

  return {
    shadow,
    begin: async () => {},
    async fill(task) {
      const { isCut, at } = await firstKept(task, await endOf())
      if (isCut) {
        task.note(`the log holds nothing from before ${at}: older rows are taken over from the old table`)
        await takeOver(task)
      }
      for (let pass = 0; pass < passes; pass++) {
        const end = await appliedEnd(task.signal)
        await applyUpTo(task, end)
        if ((await endOf()) - end < fewRecords) break
        task.hurry()
      }
      // Counted in this order the new one has at least what the old one had.
      const before = await countOf('callhouse')
      await applyUpTo(task, await appliedEnd(task.signal))
      const now = await countOf(shadowDatabase)
      if (now < before) {
        task.note(`the log lacks ${before - now} rows of the old table: they are taken over`)
        await takeOver(task)
      }
      if (refused > 0) task.note(`${refused} rows were refused as before; see callhouse deadletters list`)
    },
    finish: (task, exchange) =>
      worker.alone(async () => {
        task.rush()
        // What the tables in use have not got yet is applied to the new ones afterwards.
        await applyUpTo(task, await endOf())
        await exchange()
      }),
    async after() {
      if (table === 'calls') await worker.sweep()
    },
  }
}

/** Whole hours that hold calls or, where they count too, payloads, some rows at a time; the first from `fromUs` on. */
async function hoursOf(store: Store, fromUs: number): Promise<{ fromUs: number; beforeUs: number; rows: number }[]> {
  const hours = await store.rows<{ us: number; n: number }>(
    {
      name: 'rebuild.hours',
      sql: `SELECT toFloat64(toUnixTimestamp(toStartOfHour(time))) * 1000000 AS us, toFloat64(count()) AS n
        FROM (SELECT started_at AS time FROM callhouse.calls UNION ALL SELECT at FROM callhouse.payloads WHERE part = 'end')
        GROUP BY us HAVING us >= {from:Int64} ORDER BY us`,
      params: { from: fromUs },
    },
    { pool: 'background', timeoutMs: 600_000 },
  )
  const windows: { fromUs: number; beforeUs: number; rows: number }[] = []
  for (const { us, n } of hours) {
    const last = windows.at(-1)
    if (last && last.rows + Number(n) <= windowRows) {
      last.rows += Number(n)
      last.beforeUs = Number(us) + hourUs
    } else windows.push({ fromUs: Number(us), beforeUs: Number(us) + hourUs, rows: Number(n) })
  }
  return windows
}

async function eachWindow(
  store: Store,
  task: Task,
  work: (window: { fromUs: number; beforeUs: number }) => Promise<void>,
): Promise<void> {
  const windows = await hoursOf(store, task.cursor)
  const of = windows.reduce((sum, { rows }) => sum + rows, 0)
  let done = 0
  for (const window of windows) {
    task.signal.throwIfAborted()
    const beganMs = performance.now()
    await work(window)
    done += window.rows
    await task.advanced({ cursor: window.beforeUs, rows: window.rows, tookMs: performance.now() - beganMs, done, of })
  }
}

function fromCalls({ store }: KindDeps, table: string, select: string): Kind {
  const shadow = createShadow(store, { tables: [table] })
  return {
    shadow,
    begin: () => shadow.mirror(table),
    // In order with the batches: some of these tables keep what came last.
    fill: (task) =>
      eachWindow(store, task, (window) => store.command(copyOfCalls(`${shadowDatabase}.${table}`, select, window))),
    finish: (_, exchange) => exchange(),
    after: async () => {},
  }
}

const leafTables = ['payload_leaves', 'payload_chunks']
const rollupTables: Record<string, string[]> = {
  call_counts: ['call_counts', 'call_counts_hourly'],
  call_stats: ['call_stats'],
  payload_leaves: leafTables,
}

function fromMarks({ store, log, worker }: KindDeps, name: string): Kind {
  const shadow = createShadow(store, { tables: rollupTables[name] as string[], helpers: ['call_marks'] })
  const isLeaves = name === 'payload_leaves'
  const keeper = isLeaves ? worker.leafRollups : worker.rollups
  const marker = createCallMaterializer(shadow.store)
  let covered = new Map<number, number>()

  const recompute = async (task: Task, due: { partition: number; covered: number; upto: number }[]): Promise<void> => {
    const leaves = isLeaves ? createLeaves({ store: shadow.store, rest: async () => {} }) : undefined
    const rollup = (leaves?.rollup ?? rollupTable.find((one) => one.name === name)) as Rollup
    const range = {
      partitions: due.map(({ partition }) => partition),
      covered: due.map((one) => one.covered),
      upto: due.map(({ upto }) => upto),
      least: Math.min(...due.map((one) => one.covered)),
      revision: Date.now() * 1_000,
    }
    const stop = () => leaves?.stop()
    task.signal.addEventListener('abort', stop)
    try {
      for (const file of rollup.statements) await shadow.store.command(statement(file, range), aside)
      await rollup.derive?.(range)
    } finally {
      task.signal.removeEventListener('abort', stop)
    }
  }

  /** What was marked since the rebuild began, also by batches that are not committed yet. */
  const catchUp = async (task: Task): Promise<void> => {
    const committed: Position[] = await log.committed('calls')
    const due = committed.map(({ partition, offset }) => ({
      partition,
      covered: covered.get(partition) ?? -1,
      upto: offset,
    }))
    if (due.length > 0) await recompute(task, due)
    covered = new Map(due.map(({ partition, upto }) => [partition, upto]))
  }

  return {
    shadow,
    begin: () => shadow.mirror('call_marks'),
    async fill(task) {
      await eachWindow(store, task, async ({ fromUs, beforeUs }) => {
        // Hours since 1970 as positions: they grow, and are the same when a portion is done again.
        const position = Math.max(1, fromUs / hourUs)
        await marker.recount({ partition: ownPartition, offset: position }, { fromUs, beforeUs })
        await recompute(task, [{ partition: ownPartition, covered: position - 1, upto: position }])
      })
      await catchUp(task)
    },
    finish: (task, exchange) =>
      keeper.alone(async () => {
        await catchUp(task)
        await exchange(aside)
      }),
    after: async () => {},
  }
}

/** How a table is made anew; throws when it is not. */
export function kindOf(deps: KindDeps, table: string, origin: Origin): Kind {
  if (origin?.from === 'log') return fromLog(deps, table, origin.topic)
  if (origin?.from === 'calls') return fromCalls(deps, table, origin.select)
  const group = Object.entries(rollupTables).find(([, tables]) => tables.includes(table))
  if (group) return fromMarks(deps, group[0])
  throw new Error(`${table} cannot be rebuilt: nothing else holds its rows`)
}

export const isRebuildable = (table: string, origin: Origin): boolean =>
  origin?.from === 'log' || origin?.from === 'calls' || Object.values(rollupTables).flat().includes(table)
