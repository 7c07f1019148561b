// Makes a table anew from the log: kept records are applied as by a second worker.
import { setTimeout as sleep } from 'node:timers/promises'
import { createSerialQueue } from '../../core/concurrency/serial-queue.ts'
import type { Batch, Position } from '../../core/log/log.ts'
import { topicNamed } from '../../events/registry.ts'
import { createCallMaterializer } from '../../worker/calls/merge-fragments.ts'
import { createPortions } from '../../worker/split/portions.ts'
import { isPatch } from '../../worker/split/segment-rows.ts'
import type { KindDeps, RebuildKind, RebuildTask } from './kind.ts'
import { replayBatches } from './replay-reader.ts'
import { createShadowTables, type ShadowPlan, shadowDatabaseOf } from './shadow-tables.ts'

const topicPlans: Partial<Record<string, Omit<ShadowPlan, 'tables' | 'topic'>>> = {
  calls: {
    helpers: ['call_keys'],
    scratch: ['calls_batch', 'calls_touched', 'calls_folded'],
    sinks: ['turns', 'call_marks', 'call_unswept'],
  },
}

const aside = { background: true }
/** Passes over what came in meanwhile, before the rest is done between two batches. */
const passes = 12
const fewRecords = 200
/** How long the workers may be behind before it is said. */
const patienceMs = 10_000

const sum = (numbers: number[]): number => numbers.reduce((all, one) => all + one, 0)

export function fromLog(deps: KindDeps, table: string, topic: string): RebuildKind {
  const { store, log, worker, server } = deps
  const shadowDatabase = shadowDatabaseOf(server)
  const shadow = createShadowTables(store, { tables: [table], topic: topicNamed(topic), ...topicPlans[table] }, server)
  let refused = 0
  const apply = createPortions({
    store: shadow.store,
    deadLetters: { add: async () => void refused++ },
    queue: createSerialQueue(),
  })
  const materializer =
    table === 'calls'
      ? createCallMaterializer(shadow.store)
      : { topic, beforeInsert: async () => {}, afterInsert: async () => {} }
  const byPartition = (positions: Position[]): number[] => {
    const offsets: number[] = []
    for (const { partition, offset } of positions) offsets[partition] = offset
    return Array.from(offsets, (offset) => offset ?? 0)
  }
  const ends = async () => byPartition(await log.end(topic))
  /**
   * Ends of the log, once the tables in use have them too: the fold takes the patches of a call from them, and would
   * miss those that only the shadow has seen.
   */
  const appliedEnds = async (task: RebuildTask): Promise<number[]> => {
    const wanted = await ends()
    for (const beganMs = Date.now(); ; await sleep(server ? 100 : 20, undefined, { signal: task.signal })) {
      const committed = byPartition(await log.committed(topic))
      if (wanted.every((end, partition) => (committed[partition] ?? 0) >= end)) return wanted
      if (Date.now() - beganMs > patienceMs) task.note(`waited for workers to apply the topic ${topic}`)
    }
  }

  /** Rows of the old table, a month of a project at a time; their versions tell which ones count. */
  const takeOver = async (task: RebuildTask): Promise<void> => {
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
      await task.onProgress({ cursor: task.cursor, rows: Number(n), tookMs, done, of: pieces.length })
    }
  }

  const applyUpTo = async (task: RebuildTask, to: number[]): Promise<void> => {
    for (const [partition, end] of to.entries()) {
      const records = deps.records(topic, partition, (task.cursor[partition] ?? 0) + 1, end)
      for await (const { rows, lastOffset, oldestMs } of replayBatches(topic, partition, records)) {
        task.signal.throwIfAborted()
        const beganMs = performance.now()
        const batch: Batch = {
          ...{ topic, partition, firstOffset: lastOffset, lastOffset, records: [], oldestMs, rowCount: rows.length },
          ...{ patchCount: topic === 'calls' ? rows.filter(isPatch).length : 0, source: { bytes: [] } },
        }
        await apply(materializer, batch, rows)
        const tookMs = performance.now() - beganMs
        const cursor = to.map((_, one) => (one === partition ? lastOffset : (task.cursor[one] ?? 0)))
        await task.onProgress({ cursor, rows: rows.length, tookMs, done: sum(cursor), of: sum(to) })
      }
    }
  }

  /** When the oldest kept record came that is still to be applied, and whether others were before it. */
  const firstKept = async (task: RebuildTask, to: number[]) => {
    let isCut = false
    let atMs = 0
    for (const [partition, end] of to.entries()) {
      const next = (task.cursor[partition] ?? 0) + 1
      if (end < next) continue
      let first: { offset: number; appendedMs: number } | undefined
      for await (const { header, appendedMs } of deps.records(topic, partition, next, end)) {
        first = { offset: header.offset, appendedMs }
        break
      }
      if (first?.offset === next) continue
      isCut = true
      atMs = Math.max(atMs, first?.appendedMs ?? Date.now())
    }
    return { isCut, at: new Date(atMs).toISOString() }
  }

  const countOf = async (database: string): Promise<number> => {
    const query = {
      name: 'rebuild.count',
      params: {},
      sql: `SELECT toFloat64(count()) AS n FROM ${database}.${table} FINAL`,
    }
    return Number((await store.rows<{ n: number }>(query, { pool: 'background', timeoutMs: 600_000 }))[0]?.n)
  }

  /**
   * Other processes apply batches meanwhile. What they write to the old table is mirrored to the new one from before
   * the last pass on, so that no read misses a row. A call that was folded with a row of the old table is folded again.
   */
  const finishBesideOthers = async (task: RebuildTask, exchange: () => Promise<void>): Promise<void> => {
    task.unthrottle()
    await shadow.mirror(table)
    await shadow.awaitOlderInserts(task.signal)
    const before = await ends().then((to) => to.map((_, partition) => task.cursor[partition] ?? 0))
    await applyUpTo(task, await ends())
    await exchange()
    await shadow.awaitOlderInserts(task.signal)
    const committed = byPartition(await log.committed(topic))
    for (const [partition, from] of before.entries()) {
      const records = deps.records(topic, partition, from + 1, committed[partition] ?? 0)
      for await (const { rows } of replayBatches(topic, partition, records)) await worker.reapply(topic, rows)
    }
  }

  return {
    shadow,
    begin: async () => {},
    async fill(task) {
      const { isCut, at } = await firstKept(task, await ends())
      if (isCut) {
        task.note(`the log holds nothing from before ${at}: older rows are taken over from the old table`)
        await takeOver(task)
      }
      for (let pass = 0; pass < passes; pass++) {
        const to = await appliedEnds(task)
        await applyUpTo(task, to)
        if (sum(await ends()) - sum(to) < fewRecords) break
        task.raiseRate()
      }
      // Counted in this order the new one has at least what the old one had.
      const before = await countOf('callhouse')
      await applyUpTo(task, await appliedEnds(task))
      const now = await countOf(shadowDatabase)
      if (now < before) {
        task.note(`the log lacks ${before - now} rows of the old table: they are taken over`)
        await takeOver(task)
      }
      if (refused > 0) task.note(`${refused} rows were refused as before; see callhouse deadletters list`)
    },
    finish: (task, exchange) =>
      server
        ? finishBesideOthers(task, exchange)
        : worker.exclusive(async () => {
            task.unthrottle()
            // What the tables in use have not got yet is applied to the new ones afterwards.
            await applyUpTo(task, await ends())
            await exchange()
          }),
    async after() {
      if (table === 'calls') await worker.deduplicateAll()
    },
  }
}
