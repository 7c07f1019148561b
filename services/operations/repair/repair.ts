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

export function createRepair(deps: RepairDeps): Repair {
  const { store, applier } = deps
  /** Parts whose rows are not all in the log any more, or in no log at all; they stay, and are not tried again. */
  const hopeless = new Map<string, string>()
  const queue = createSerialQueue()
  let isStopped = false

  const broken = () =>
    store.rows<BrokenPart>({
      name: 'repair.parts',
      sql: `SELECT table, name, ifNull(partition_id, '') AS partition FROM system.detached_parts
        WHERE database = 'callhouse' AND (startsWith(reason, 'broken') OR reason = 'unexpected') ORDER BY table, name LIMIT 1000`,
      params: {},
    })

  /** Reapplies the rows of the log that may lie in the ranges; returns when the oldest record came. */
  async function fromLog(topic: string, ranges: TimeRange[]): Promise<{ rows: number; oldestMs: number | null }> {
    let waiting: SegmentRow[] = []
    let bytes = 0
    let rows = 0
    let oldestMs: number | null = null
    const apply = async () => {
      if (waiting.length > 0) await applier.reapply(topic, waiting)
      rows += waiting.length
      waiting = []
      bytes = 0
    }
    for await (const record of deps.records(topic)) {
      if (isStopped) break
      // The first record of all has no predecessors that could be missing.
      oldestMs ??= record.header.offset === 1 ? 0 : record.appendedMs
      for (const row of rowsOfRecord(record)) {
        const us = timeUsOf(row)
        if (
          topic === 'calls' &&
          us !== null &&
          !ranges.some(({ fromUs, beforeExclusiveUs }) => us >= fromUs && us < beforeExclusiveUs)
        )
          continue
        waiting.push(row)
        bytes += row.text.length
        if (bytes >= batchBytes) await apply()
      }
    }
    await apply()
    return { rows, oldestMs }
  }

  /** Rows of a month cannot have been accepted before it began, but for a clock that runs ahead. */
  const missingBefore = (oldestMs: number | null, ranges: TimeRange[]): string | null => {
    if (oldestMs === 0) return null
    const fromUs = Math.min(...ranges.map((range) => range.fromUs))
    const isWhole = oldestMs !== null && fromUs - dayUs >= oldestMs * 1000
    return isWhole ? null : new Date(oldestMs ?? Date.now()).toISOString()
  }

  /** Removes what the engine set aside, now that its rows are elsewhere. */
  const drop = ({ table, name }: BrokenPart): Promise<void> =>
    store.command({
      name: 'repair.drop',
      sql: `ALTER TABLE callhouse.${table} DROP DETACHED PART {name:String} SETTINGS allow_drop_detached = 1`,
      params: { name },
    })

  /** Makes the field index of a month due again, by dropping the note of what is indexed. */
  const forgetIndexed = (partition: string): Promise<void> =>
    store.command({
      name: 'repair.leaves',
      sql: 'ALTER TABLE callhouse.payload_chunks DROP PARTITION ID {partition:String}',
      params: { partition },
    })

  const keyOf = ({ table, name }: BrokenPart): string => `${table}/${name}`

  async function finish(parts: BrokenPart[], work: () => Promise<Omit<RepairReport, 'tables' | 'tookMs'>>) {
    const beganMs = Date.now()
    const done = await work()
    if (isStopped) return
    for (const part of parts) {
      if (done.missingBefore === null) await drop(part)
      else hopeless.set(keyOf(part), `${part.table}: rows accepted before ${done.missingBefore} may be missing`)
    }
    deps.onRepaired({ tables: [...new Set(parts.map(({ table }) => table))], tookMs: Date.now() - beganMs, ...done })
  }

  async function repair(): Promise<void> {
    const parts = (await broken()).filter((part) => !hopeless.has(keyOf(part)))
    if (parts.length === 0 || isStopped) return
    const byTopic = Map.groupBy(parts, ({ table }) => {
      const origin = lineageOf(table)
      return origin?.from === 'log' ? origin.topic : undefined
    })
    for (const [topic, lost] of byTopic) {
      if (topic === undefined) continue
      const ranges = lost.map(({ partition }) => monthRange(partition))
      await finish(lost, async () => {
        const { rows, oldestMs } = await fromLog(topic, ranges)
        // A row that was superseded by another start time is hidden again.
        if (topic === 'calls' && rows > 0) await applier.deduplicateAll()
        return { rows, missingBefore: missingBefore(oldestMs, ranges) }
      })
    }
    // Copies and rollups follow from the calls, which are whole by now.
    for (const part of byTopic.get(undefined) ?? []) {
      const origin = lineageOf(part.table)
      const range = monthRange(part.partition)
      if (origin?.from === 'calls')
        await finish([part], async () => {
          await store.command(copyOfCalls(`callhouse.${part.table}`, await readSelect(store, part.table), range))
          return { rows: 0, missingBefore: null }
        })
      else if (origin?.from === 'marks' || part.table === 'orphan_roots')
        await finish([part], async () => {
          if (part.table === 'payload_leaves') await forgetIndexed(part.partition)
          await applier.recount(range)
          return { rows: 0, missingBefore: null }
        })
      else if (part.table === 'usage_shares')
        await finish([part], async () => {
          await applier.recountShares(range)
          return { rows: 0, missingBefore: null }
        })
      else {
        hopeless.set(keyOf(part), `${part.table}: its rows are nowhere else`)
        deps.onUnknown(part)
      }
    }
  }

  return {
    run: () => queue.run(async () => (isStopped ? undefined : repair())),
    reason: () => [...hopeless.values()][0],
    async stop() {
      isStopped = true
      await queue.idle()
    },
  }
}
