// Ranges of whole hours that hold stored calls, in which much is copied or counted again.

import { statement } from '../../core/store/statements.ts'
import type { Store } from '../../core/store/store.ts'

/** A range of hours in microseconds, the end not included, with the number of rows that begin in it. */
export type HourRange = { fromUs: number; beforeExclusiveUs: number; rows: number }

/** Rows of calls that are copied or counted at once; an hour is never split. */
const rangeRows = 50_000
const hourUs = 3_600_000_000

/** Reads the hours from `fromUs` on that hold calls or payloads of ends that came alone. */
export async function readHourRanges(store: Pick<Store, 'rows'>, fromUs: number): Promise<HourRange[]> {
  const hours = await store.rows<{ us: number; n: number }>(statement('rebuild.hours', { from: fromUs }), {
    pool: 'background',
    timeoutMs: 600_000,
  })
  const windows: HourRange[] = []
  for (const { us, n } of hours) {
    const last = windows.at(-1)
    if (last && last.rows + Number(n) <= rangeRows) {
      last.rows += Number(n)
      last.beforeExclusiveUs = Number(us) + hourUs
    } else windows.push({ fromUs: Number(us), beforeExclusiveUs: Number(us) + hourUs, rows: Number(n) })
  }
  return windows
}
