// Cuts a batch that failed into smaller ones: a table from the failure to the cut. Any boundaries between batches give the
// same answer.
import { halves } from '../../core/concurrency/split-batch.ts'
import { StoreError } from '../../core/store/store.ts'
import { type SegmentRow, timeUsOf } from '../../events/segment-rows.ts'

/**
 * The reason why a batch was not applied: the store lacks memory or time for all of it, an insert opens too many
 * months, a row is refused, the batch ended the engine of a child process, or it ended this process although no row of
 * it does alone.
 */
type Failure = 'too large' | 'too many months' | 'refused row' | 'engine ended' | 'process ended'

/** Months that one insert of old rows may touch; the store refuses a few more (core/store/chdb/insert.ts). */
export const monthsAtOnce = 12

/** Batches of a process that ended: few starts, and not many statements. */
const batchesPerStart = 8

const batchesOf = <Row>(rows: readonly Row[], size: number): Row[][] =>
  Array.from({ length: Math.ceil(rows.length / size) }, (_, i) => rows.slice(i * size, (i + 1) * size))

/** Month of a row as a number that counts up; rows without a time go with those of today. */
function monthOf(row: SegmentRow): number {
  const us = timeUsOf(row)
  const date = new Date(us === null ? Date.now() : us / 1000)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

/** Batches of a few months each, the newest first; halves when all rows lie in a few months. */
function byMonths(rows: SegmentRow[]): SegmentRow[][] {
  const months = [...Map.groupBy(rows, monthOf)].sort(([a], [b]) => b - a).map(([, ofMonth]) => ofMonth)
  return months.length > monthsAtOnce ? batchesOf(months, monthsAtOnce).map((some) => some.flat()) : halves(rows)
}

const cuts: Readonly<Record<Failure, (rows: SegmentRow[]) => SegmentRow[][]>> = {
  'too large': halves,
  'too many months': byMonths,
  'refused row': halves,
  'engine ended': halves,
  'process ended': (rows) => batchesOf(rows, Math.ceil(rows.length / batchesPerStart)),
}

/** The smaller batches to attempt after a failure. At least two rows. */
export const cut = (rows: SegmentRow[], failure: Failure): SegmentRow[][] => cuts[failure](rows)

/** TOO_MANY_PARTS, also the code when merges are behind. */
const tooManyParts = 252

/** Whether the rows can never be inserted. */
export const isRefusal = (error: unknown): error is StoreError => error instanceof StoreError && error.kind === 'data'

/** The failure behind an error of the store; undefined when a smaller batch would fare no better. */
export function failureOf(error: unknown): Failure | undefined {
  if (!(error instanceof StoreError)) return undefined
  if (error.kind === 'memory' || error.kind === 'timeout') return 'too large'
  if (error.code === tooManyParts && error.message.includes('partitions for single INSERT block'))
    return 'too many months'
  return isRefusal(error) ? 'refused row' : undefined
}
