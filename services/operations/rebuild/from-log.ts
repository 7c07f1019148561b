// Rebuilds a table from the log: applies kept records as a second worker would.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Position } from '../../core/log/log.ts'
import { quantity } from '../../core/quantity.ts'
import { topicNamed } from '../../events/registry.ts'
import { tablesOfKind } from '../../tables/registry.ts'
import { type Applier, batchOfRows, createApplier } from '../../worker/apply-batch.ts'
import type { KindDeps, RebuildKind, RebuildTask } from './kind.ts'
import { replayBatches } from './replay-reader.ts'
import { createShadowTables, type ShadowPlan, type ShadowTables, shadowDatabaseOf } from './shadow-tables.ts'

const topicPlans: Partial<Record<string, Omit<ShadowPlan, 'tables' | 'topic'>>> = {
  calls: {
    helpers: ['call_keys'],
    scratch: tablesOfKind('scratch'),
    sinks: ['turns', ...tablesOfKind('dirty')],
  },
}

const aside = { background: true }
/** Passes over what came in meanwhile, before the rest is applied between two batches. */
const passes = 12
const fewRecords = 200
/** Lag of the workers after which a note says so. */
const patienceMs = 10_000

const sum = (numbers: number[]): number => numbers.reduce((all, one) => all + one, 0)

/** Rebuild of one table from the records of its topic. */
type LogRebuild = KindDeps & {
  table: string
  topic: string
  shadow: ShadowTables
  apply: Applier['apply']
  /** Rows that were refused again. */
  refused: number
}

function byPartition(positions: Position[]): number[] {
  const offsets: number[] = []
  for (const { partition, offset } of positions) offsets[partition] = offset
  return Array.from(offsets, (offset) => offset ?? 0)
}

const endsOf = async ({ log, topic }: LogRebuild) => byPartition(await log.end(topic))

/**
 * Ends of the log, once the tables in use have them too: the merge takes the patches of a call from these tables, and
 * would miss those that only the shadow tables hold.
 */
async function appliedEnds(rebuild: LogRebuild, { signal, note }: RebuildTask): Promise<number[]> {
  const { log, topic, server } = rebuild
  const wanted = await endsOf(rebuild)
  for (const beganMs = Date.now(); ; await sleep(server ? 100 : 20, undefined, { signal })) {
    const committed = byPartition(await log.committed(topic))
    if (wanted.every((end, partition) => (committed[partition] ?? 0) >= end)) return wanted
    if (Date.now() - beganMs > patienceMs) note(`waited for workers to apply the topic ${topic}`)
  }
}

/** Copies the rows of the old table, a month of a project at a time; the newest version of a row wins. */
async function copyOldRows({ store, table, server }: LogRebuild, task: RebuildTask): Promise<void> {
  const batches = await store.rows<{ partition: string; project: string; n: number }>({
    name: 'rebuild.batches',
    sql: `SELECT _partition_id AS partition, project_id AS project, toFloat64(count()) AS n FROM callhouse.${table}
      GROUP BY partition, project ORDER BY partition, project`,
    params: {},
  })
  for (const [done, { partition, project, n }] of batches.entries()) {
    task.signal.throwIfAborted()
    const beganMs = performance.now()
    await store.command(
      {
        name: 'rebuild.take-over',
        sql: `INSERT INTO ${shadowDatabaseOf(server)}.${table} SELECT * FROM callhouse.${table}
          WHERE _partition_id = {partition:String} AND project_id = {project:String}`,
        params: { partition, project },
      },
      aside,
    )
    const tookMs = performance.now() - beganMs
    await task.onProgress({ cursor: task.cursor, rows: Number(n), tookMs, done, of: batches.length })
  }
}

async function applyUpTo(rebuild: LogRebuild, task: RebuildTask, to: number[]): Promise<void> {
  const { topic, apply } = rebuild
  for (const [partition, end] of to.entries()) {
    const records = rebuild.records(topic, partition, (task.cursor[partition] ?? 0) + 1, end)
    for await (const { rows, lastOffset } of replayBatches(topic, partition, records)) {
      task.signal.throwIfAborted()
      const beganMs = performance.now()
      await apply(batchOfRows({ topic, partition, offset: lastOffset }, rows), rows)
      const tookMs = performance.now() - beganMs
      const cursor = to.map((_, one) => (one === partition ? lastOffset : (task.cursor[one] ?? 0)))
      await task.onProgress({ cursor, rows: rows.length, tookMs, done: sum(cursor), of: sum(to) })
    }
  }
}

/** Arrival of the oldest kept record to apply, and whether records before it are gone. */
async function firstKept(rebuild: LogRebuild, task: RebuildTask, to: number[]) {
  let isCut = false
  let atMs = 0
  for (const [partition, end] of to.entries()) {
    const next = (task.cursor[partition] ?? 0) + 1
    if (end < next) continue
    let first: { offset: number; appendedMs: number } | undefined
    for await (const { header, appendedMs } of rebuild.records(rebuild.topic, partition, next, end)) {
      first = { offset: header.offset, appendedMs }
      break
    }
    if (first?.offset === next) continue
    isCut = true
    atMs = Math.max(atMs, first?.appendedMs ?? Date.now())
  }
  return { isCut, at: new Date(atMs).toISOString() }
}

async function countRows({ store, table }: LogRebuild, database: string): Promise<number> {
  const query = {
    name: 'rebuild.count',
    params: {},
    sql: `SELECT toFloat64(count()) AS n FROM ${database}.${table} FINAL`,
  }
  return Number((await store.rows<{ n: number }>(query, { pool: 'background', timeoutMs: 600_000 }))[0]?.n)
}

async function fill(rebuild: LogRebuild, task: RebuildTask): Promise<void> {
  const { isCut, at } = await firstKept(rebuild, task, await endsOf(rebuild))
  if (isCut) {
    task.note(`the log holds nothing from before ${at}: older rows are taken over from the old table`)
    await copyOldRows(rebuild, task)
  }
  for (let pass = 0; pass < passes; pass++) {
    const to = await appliedEnds(rebuild, task)
    await applyUpTo(rebuild, task, to)
    if (sum(await endsOf(rebuild)) - sum(to) < fewRecords) break
    task.raiseRate()
  }
  // Counted in this order, the new table has at least what the old one had.
  const before = await countRows(rebuild, 'callhouse')
  await applyUpTo(rebuild, task, await appliedEnds(rebuild, task))
  const now = await countRows(rebuild, shadowDatabaseOf(rebuild.server))
  if (now < before) {
    const lacking = quantity(before - now, 'row of the old table, which is', 'rows of the old table, which are')
    task.note(`the log lacks ${lacking} taken over`)
    await copyOldRows(rebuild, task)
  }
  const refused = quantity(rebuild.refused, 'row was', 'rows were')
  if (rebuild.refused > 0) task.note(`${refused} refused as before; see callhouse deadletters list`)
}

/** Applies the rest between two batches. Records that are not in the tables in use yet are applied to the new ones afterwards. */
const finishAlone = (rebuild: LogRebuild, task: RebuildTask, exchange: () => Promise<void>): Promise<void> =>
  rebuild.worker.exclusive(async () => {
    task.unthrottle()
    await applyUpTo(rebuild, task, await endsOf(rebuild))
    await exchange()
  })

/**
 * Other processes apply batches meanwhile. From before the last pass on, what they write to the old table is mirrored
 * to the new one, so that no read misses a row. A call that was merged with a row of the old table is merged again.
 */
async function finishBesideOthers(
  rebuild: LogRebuild,
  task: RebuildTask,
  exchange: () => Promise<void>,
): Promise<void> {
  const { shadow, table, topic, log, worker } = rebuild
  task.unthrottle()
  await shadow.mirror(table)
  await shadow.awaitOlderInserts(task.signal)
  const before = (await endsOf(rebuild)).map((_, partition) => task.cursor[partition] ?? 0)
  await applyUpTo(rebuild, task, await endsOf(rebuild))
  await exchange()
  await shadow.awaitOlderInserts(task.signal)
  const committed = byPartition(await log.committed(topic))
  for (const [partition, from] of before.entries()) {
    const records = rebuild.records(topic, partition, from + 1, committed[partition] ?? 0)
    for await (const { rows } of replayBatches(topic, partition, records)) await worker.reapply(topic, rows)
  }
}

export function fromLog(deps: KindDeps, table: string, topic: string): RebuildKind {
  const { store, log, server, worker } = deps
  const shadow = createShadowTables(store, { tables: [table], topic: topicNamed(topic), ...topicPlans[table] }, server)
  const deadLetters = { add: async () => void rebuild.refused++ }
  const { apply } = createApplier({ store: shadow.store, log, deadLetters })
  const rebuild: LogRebuild = { ...deps, table, topic, shadow, apply, refused: 0 }
  const finish = server ? finishBesideOthers : finishAlone
  return {
    shadow,
    begin: async () => {},
    fill: (task) => fill(rebuild, task),
    finish: (task, exchange) => finish(rebuild, task, exchange),
    async after() {
      if (table === 'calls') await worker.deduplicateAll()
    },
  }
}
