// When the files of a month are written again without the rows that a purge removed: as late as they may stay, since the
// rest of the month is written once more.

const dayMs = 86_400_000
/** Days from one rewrite of a month to the next at least, whatever comes late or is set anew. */
const rewriteDays = 7

/** A name has its day among the days of a round, so that not all have their turn at once. */
export const isDayOf = (name: string, roundDays: number, nowMs: number): boolean => {
  const place = [...name].reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) % 1_000_003, 7)
  return Math.floor(nowMs / dayMs) % roundDays === place % roundDays
}

/** Rows of a project in the files of a month, with the times of those that were removed, in microseconds. */
export type RemovedRows = {
  rows: number
  removed: number
  oldestUs: number
  newestUs: number
  cutoffUs: number | undefined
}

/**
 * Whether the removed rows of a month are taken out of its files today: in the last week of those that may stay, on the
 * month's day of it, since the rest is written once more. Rows that no cutoff explains (of settings that have changed, or of another reason) wait for the day of their month.
 * @param roundDays for which a hidden row may stay in the files
 */
export function isRewritten(name: string, projects: readonly RemovedRows[], roundDays: number, nowMs: number): boolean {
  const some = projects.filter(({ removed }) => removed > 0)
  if (some.length === 0) return false
  const isWhole = projects.every(({ rows, removed }) => rows === removed)
  const everyDays = Math.min(rewriteDays, roundDays)
  const waitUs = (roundDays - everyDays) * dayMs * 1000
  const isDue = some.some(({ oldestUs, cutoffUs }) => cutoffUs !== undefined && oldestUs < cutoffUs - waitUs)
  const isOther = some.some(({ newestUs, cutoffUs }) => cutoffUs === undefined || newestUs >= cutoffUs)
  return isWhole || (isDue && isDayOf(name, everyDays, nowMs)) || (isOther && isDayOf(name, roundDays, nowMs))
}
