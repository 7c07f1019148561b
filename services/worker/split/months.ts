// Old rows are applied a few months at a time: every month of an insert is a part per table, all of them open at once.
import { StoreError } from '../../core/store/store.ts'
import type { SegmentRow } from './segment-rows.ts'

/** Months that one insert of old rows may touch; the store refuses a few more (core/store/chdb/insert.ts). */
export const monthsAtOnce = 12

/** TOO_MANY_PARTS, also told when merges are behind. */
const tooManyParts = 252

export const touchesTooManyMonths = (error: unknown): boolean =>
  error instanceof StoreError &&
  error.code === tooManyParts &&
  error.message.includes('partitions for single INSERT block')

const time = /"(?:started_us|payload_us)":(\d+)/

/** Where a row of calls lies in time; null for one that has no place of its own. */
export function timeUsOf({ text }: Pick<SegmentRow, 'text'>): number | null {
  // Only ids and the record's header come before the times.
  const us = time.exec(text.toString('latin1', 0, 4096))?.[1]
  return us === undefined ? null : Number(us)
}

/** Month of a row as a number that counts up; rows without a time go with those of today. */
function monthOf(row: SegmentRow): number {
  const us = timeUsOf(row)
  const date = new Date(us === null ? Date.now() : us / 1000)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

/** Rows of a few months each, the newest first. */
export function byMonths(rows: SegmentRow[]): SegmentRow[][] {
  const months = new Map<number, SegmentRow[]>()
  for (const row of rows) {
    const month = monthOf(row)
    const same = months.get(month)
    if (same) same.push(row)
    else months.set(month, [row])
  }
  const lists = [...months].sort(([a], [b]) => b - a).map(([, list]) => list)
  const portions: SegmentRow[][] = []
  for (let i = 0; i < lists.length; i += monthsAtOnce) portions.push(lists.slice(i, i + monthsAtOnce).flat())
  return portions
}

/** Microseconds since 1970, the end not included. */
export type TimeRange = { fromUs: number; beforeExclusiveUs: number }

/** The times of a partition of the engine: `202603`, or everything for one that is no month. */
export function monthRange(partition: string): TimeRange {
  const [, year, month] = /^(\d{4})(\d{2})$/.exec(partition) ?? []
  if (year === undefined) return { fromUs: 0, beforeExclusiveUs: Number.MAX_SAFE_INTEGER }
  const at = (n: number) => Date.UTC(Number(year), n) * 1000
  return { fromUs: at(Number(month) - 1), beforeExclusiveUs: at(Number(month)) }
}
