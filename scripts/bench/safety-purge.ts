// How much the removal of old rows rewrites, by its own rule of when a month is rewritten: days are counted, nothing is
// stored. Fifty projects write the same amount every day, and keep it for 7 to 365 days.
import { isRewritten } from '../../services/worker/cleanup/purge.ts'

const dayMs = 86_400_000
const projects = Array.from({ length: 50 }, (_, n) => ({ days: Math.round(7 + (n * (365 - 7)) / 49) }))
/** Days that are counted after the longest of them: what comes is as much as what goes. */
const [warmUpDays, countedDays] = [400, 730]

type Month = { name: string; rows: { day: number; keptDays: number; isRemoved: boolean }[] }

const monthOf = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 7).replace('-', '')

/** @returns rows rewritten for each row that came */
export function rewritesPerRow(roundDays: number): number {
  const months = new Map<string, Month>()
  const first = Math.floor(Date.UTC(2024, 0, 1) / dayMs)
  let [written, rewritten] = [0, 0]
  for (let day = first; day < first + warmUpDays + countedDays; day++) {
    const isCounted = day >= first + warmUpDays
    const name = monthOf(day)
    const month = months.get(name) ?? { name, rows: [] }
    months.set(name, month)
    for (const { days } of projects) month.rows.push({ day, keptDays: days, isRemoved: false })
    if (isCounted) written += projects.length
    for (const one of months.values()) {
      for (const row of one.rows) row.isRemoved ||= day - row.day > row.keptDays
      const removed = one.rows.filter((row) => row.isRemoved).length
      const asked = { table: 'payloads', month: one.name, removed, rows: one.rows.length }
      if (!isRewritten(asked, roundDays, day * dayMs)) continue
      one.rows = one.rows.filter((row) => !row.isRemoved)
      if (isCounted) rewritten += one.rows.length
    }
  }
  return rewritten / written
}
