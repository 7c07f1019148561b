// Repairs what broken parts held: from the log, from the calls that are still stored, or by recomputing.
import { createSerialQueue } from '../../core/concurrency/serial-queue.ts'
import type { StoredRecord } from '../../core/log/segments/read.ts'
import type { Store } from '../../core/store/store.ts'
import { monthRange, type TimeRange } from '../../derived/time-range.ts'
import { rowsOfRecord, type SegmentRow, timeUsOf } from '../../events/segment-rows.ts'
import type { Applier } from '../../worker/apply-batch.ts'
import { copyOfCalls, lineageOf, readSelect } from '../rebuild/lineage.ts'

/** A part that the engine set aside. */
type BrokenPart = { table: string; name: string; partition: string }

/** The outcome of repairing some parts with one lineage. */
type RepairReport = {
  tables: string[]
  /** Rows of the log that were applied again. */
  rows: number
  tookMs: number
  /** ISO time before which rows were accepted that the log does not hold any more; null = everything is there again. */
  missingBefore: string | null
}

export type Repair = {
  /** Looks for broken parts and rebuilds what is new. */
  run(): Promise<void>
  /** The missing rows and the reason; undefined when nothing is known to be missing. */
  reason(): string | undefined
  stop(): Promise<void>
}

export type RepairDeps = {
  store: Pick<Store, 'rows' | 'command'>
  applier: Pick<Applier, 'reapply' | 'recount' | 'recountShares' | 'deduplicateAll'>
  /** Records of a topic that the log still holds, up to its end at the moment of the call. */
  records(topic: string): AsyncIterable<StoredRecord>
  onRepaired(report: RepairReport): void
  /** No other table or log holds the rows of this table. */
  onUnknown(part: BrokenPart): void
}

/** Bytes of rows that are applied at once. */
const batchBytes = 8 * 2 ** 20

const dayUs = 86_400_000_000

/** Repairs so far: parts whose rows are not all in the log any more, or in no log at all, stay, and are not tried again. */
type Repairs = RepairDeps & { hopeless: Map<string, string>; isStopped: boolean }

const readBroken = ({ store }: Repairs) =>
  store.rows<BrokenPart>({
    name: 'repair.parts',
    sql: `SELECT table, name, ifNull(partition_id, '') AS partition FROM system.detached_parts
      WHERE database = 'callhouse' AND (startsWith(reason, 'broken') OR reason = 'unexpected') ORDER BY table, name LIMIT 1000`,
    params: {},
  })

/** Whether a row may lie in one of the ranges; one without a time may lie anywhere. */
function mayLieIn(topic: string, row: SegmentRow, ranges: readonly TimeRange[]): boolean {
  const us = topic === 'calls' ? timeUsOf(row) : null
  return us === null || ranges.some(({ fromUs, beforeExclusiveUs }) => us >= fromUs && us < beforeExclusiveUs)
}

/** Reapplies the rows of the log that may lie in the ranges; returns when the oldest record came. */
async function reapplyLog(
  repairs: Repairs,
  topic: string,
  ranges: readonly TimeRange[],
): Promise<{ rows: number; oldestMs: number | null }> {
  let waiting: SegmentRow[] = []
  let bytes = 0
  let rows = 0
  let oldestMs: number | null = null
  const apply = async () => {
    if (waiting.length > 0) await repairs.applier.reapply(topic, waiting)
    rows += waiting.length
    waiting = []
    bytes = 0
  }
  for await (const record of repairs.records(topic)) {
    if (repairs.isStopped) break
    // The first record of all has no predecessors that could be missing.
    oldestMs ??= record.header.offset === 1 ? 0 : record.appendedMs
    for (const row of rowsOfRecord(record)) {
      if (!mayLieIn(topic, row, ranges)) continue
      waiting.push(row)
      bytes += row.text.length
      if (bytes >= batchBytes) await apply()
    }
  }
  await apply()
  return { rows, oldestMs }
}

/** Rows of a month cannot have been accepted before it began, but for a clock that runs ahead. */
function missingBefore(oldestMs: number | null, ranges: readonly TimeRange[]): string | null {
  if (oldestMs === 0) return null
  const fromUs = Math.min(...ranges.map((range) => range.fromUs))
  const isWhole = oldestMs !== null && fromUs - dayUs >= oldestMs * 1000
  return isWhole ? null : new Date(oldestMs ?? Date.now()).toISOString()
}

/** Removes what the engine set aside, now that its rows are elsewhere. */
const dropPart = ({ store }: Repairs, { table, name }: BrokenPart): Promise<void> =>
  store.command({
    name: 'repair.drop',
    sql: `ALTER TABLE callhouse.${table} DROP DETACHED PART {name:String} SETTINGS allow_drop_detached = 1`,
    params: { name },
  })

/** Makes the field index of a month due again, by dropping the note of what is indexed. */
const forgetIndexed = ({ store }: Repairs, partition: string): Promise<void> =>
  store.command({
    name: 'repair.leaves',
    sql: 'ALTER TABLE callhouse.payload_chunks DROP PARTITION ID {partition:String}',
    params: { partition },
  })

const keyOf = ({ table, name }: BrokenPart): string => `${table}/${name}`

type Done = Omit<RepairReport, 'tables' | 'tookMs'>

async function finish(repairs: Repairs, parts: readonly BrokenPart[], work: () => Promise<Done>): Promise<void> {
  const beganMs = Date.now()
  const done = await work()
  if (repairs.isStopped) return
  for (const part of parts) {
    if (done.missingBefore === null) await dropPart(repairs, part)
    else repairs.hopeless.set(keyOf(part), `${part.table}: rows accepted before ${done.missingBefore} may be missing`)
  }
  repairs.onRepaired({ tables: [...new Set(parts.map(({ table }) => table))], tookMs: Date.now() - beganMs, ...done })
}

const repairFromLog = (repairs: Repairs, topic: string, parts: readonly BrokenPart[]): Promise<void> =>
  finish(repairs, parts, async () => {
    const ranges = parts.map(({ partition }) => monthRange(partition))
    const { rows, oldestMs } = await reapplyLog(repairs, topic, ranges)
    // A row that was superseded by another start time is hidden again.
    if (topic === 'calls' && rows > 0) await repairs.applier.deduplicateAll()
    return { rows, missingBefore: missingBefore(oldestMs, ranges) }
  })

/** Makes the rows of a part of a copy or a rollup again from the calls; undefined when they do not follow from these. */
function recomputing(repairs: Repairs, { table, partition }: BrokenPart): (() => Promise<void>) | undefined {
  const { store, applier } = repairs
  const range = monthRange(partition)
  const origin = lineageOf(table)
  if (origin?.from === 'calls')
    return async () => store.command(copyOfCalls(`callhouse.${table}`, await readSelect(store, table), range))
  if (origin?.from === 'marks' || table === 'orphan_roots')
    return async () => {
      if (table === 'payload_leaves') await forgetIndexed(repairs, partition)
      await applier.recount(range)
    }
  return table === 'usage_shares' ? () => applier.recountShares(range) : undefined
}

async function repair(repairs: Repairs): Promise<void> {
  const parts = (await readBroken(repairs)).filter((part) => !repairs.hopeless.has(keyOf(part)))
  if (parts.length === 0 || repairs.isStopped) return
  const byTopic = Map.groupBy(parts, ({ table }) => {
    const origin = lineageOf(table)
    return origin?.from === 'log' ? origin.topic : undefined
  })
  for (const [topic, lost] of byTopic) if (topic !== undefined) await repairFromLog(repairs, topic, lost)
  // Copies and rollups follow from the calls, which are whole by now.
  for (const part of byTopic.get(undefined) ?? []) {
    const recompute = recomputing(repairs, part)
    if (recompute === undefined) {
      repairs.hopeless.set(keyOf(part), `${part.table}: its rows are nowhere else`)
      repairs.onUnknown(part)
      continue
    }
    await finish(repairs, [part], async () => {
      await recompute()
      return { rows: 0, missingBefore: null }
    })
  }
}

export function createRepair(deps: RepairDeps): Repair {
  const repairs: Repairs = { ...deps, hopeless: new Map(), isStopped: false }
  const queue = createSerialQueue()
  return {
    run: () => queue.run(async () => (repairs.isStopped ? undefined : repair(repairs))),
    reason: () => [...repairs.hopeless.values()][0],
    async stop() {
      repairs.isStopped = true
      await queue.idle()
    },
  }
}
