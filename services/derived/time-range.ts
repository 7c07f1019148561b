// Ranges of time in which calls and payloads begin: of a repair, a recount or a copy.

/** Microseconds since 1970, the end not included. */
export type TimeRange = { fromUs: number; beforeExclusiveUs: number }

/** The times of a partition of the engine: `202603`, or everything for one that is no month. */
export function monthRange(partition: string): TimeRange {
  const [, year, month] = /^(\d{4})(\d{2})$/.exec(partition) ?? []
  if (year === undefined) return { fromUs: 0, beforeExclusiveUs: Number.MAX_SAFE_INTEGER }
  const at = (n: number) => Date.UTC(Number(year), n) * 1000
  return { fromUs: at(Number(month) - 1), beforeExclusiveUs: at(Number(month)) }
}

const hourUs = 3_600_000_000

/** Hours that follow each other are one range. @param hours their begin in seconds */
export function rangesOfHours(hours: Iterable<number>): TimeRange[] {
  const ranges: TimeRange[] = []
  for (const hour of [...new Set(hours)].sort((a, b) => a - b)) {
    const fromUs = hour * 1e6
    const last = ranges.at(-1)
    if (last?.beforeExclusiveUs === fromUs) last.beforeExclusiveUs += hourUs
    else ranges.push({ fromUs, beforeExclusiveUs: fromUs + hourUs })
  }
  return ranges
}
