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
