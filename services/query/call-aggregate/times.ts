// The time axis of an aggregate: buckets of seconds, or of days, weeks and months as a time zone has them.
import { fault } from '../../core/http/errors.ts'
import { param, type Sql, sql } from '../../core/store/sql.ts'
import { bucketsOf, zonedTimes } from '../call-stats/buckets.ts'

export type Bucket = number | 'day' | 'week' | 'month' | null

const maxBuckets = 2_000
const tooMany = () => fault(400, `More than ${maxBuckets} buckets: ask for longer ones or a shorter time`)

/** Text of a call's bucket, '' where there are none. */
export function bucketSql(bucket: Bucket, timezone: string): Sql {
  if (bucket === null) return sql`''`
  if (typeof bucket === 'number') {
    const seconds = sql`toUnixTimestamp(c.started_at)`
    return sql`toString(${seconds} - positiveModulo(${seconds}, ${param('Int64', bucket)}))`
  }
  const day = sql`toDate32(c.started_at, ${param('String', timezone)})`
  if (bucket === 'day') return sql`toString(${day})`
  return bucket === 'week'
    ? sql`toString(addDays(${day}, 1 - toDayOfWeek(${day})))`
    : sql`toString(addDays(${day}, 1 - toDayOfMonth(${day})))`
}

const dayMs = 86_400_000

/** Milliseconds by which the clocks of a zone differ from UTC at an instant. */
function offsetMs(zone: Intl.DateTimeFormat, atMs: number): number {
  const parts = Object.fromEntries(zone.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]))
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts as Record<string, number>
  return Date.UTC(year, month - 1, day, hour % 24, minute, second) - Math.floor(atMs / 1000) * 1000
}

/** The first instant of a day, which is not always midnight. */
function dayStart(zone: Intl.DateTimeFormat, localMs: number): number {
  const guess = localMs - offsetMs(zone, localMs)
  const other = localMs - offsetMs(zone, guess)
  // Around a change of clocks the guesses differ; midnight that is skipped begins at the later one.
  return offsetMs(zone, other) === localMs - other ? other : Math.max(guess, other)
}

function firstDay(localMs: number, bucket: 'day' | 'week' | 'month'): Date {
  const at = new Date(Math.floor(localMs / dayMs) * dayMs)
  if (bucket === 'week') at.setUTCDate(at.getUTCDate() - ((at.getUTCDay() + 6) % 7))
  if (bucket === 'month') at.setUTCDate(1)
  return at
}

/**
 * The buckets of a range: the texts that `bucketSql` gives them, and their starts with the offset of the zone.
 * @throws Fault 400 for more than 2,000 of them, or an unknown zone
 */
export function bucketsWithin(bucket: Bucket, timezone: string, startUs: number, endUs: number) {
  const written = zonedTimes(timezone)
  if (bucket === null) return { names: [''], times: [] }
  const names: string[] = []
  const times: string[] = []
  const add = (name: string, seconds: number): void => {
    if (names.length === maxBuckets) throw tooMany()
    names.push(name)
    times.push(written(seconds))
  }
  if (typeof bucket === 'number') {
    if ((endUs - startUs) / 1e6 / bucket > maxBuckets) throw tooMany()
    for (const seconds of bucketsOf(startUs, endUs, bucket)) add(String(seconds), seconds)
    return { names, times }
  }
  const zone = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
    hourCycle: 'h23',
  })
  const startMs = Math.floor(startUs / 1000)
  const at = firstDay(startMs + offsetMs(zone, startMs), bucket)
  for (;;) {
    const instant = dayStart(zone, at.getTime())
    if (instant * 1000 >= endUs) return { names, times }
    add(at.toISOString().slice(0, 10), Math.floor(instant / 1000))
    if (bucket === 'month') at.setUTCMonth(at.getUTCMonth() + 1)
    else at.setUTCDate(at.getUTCDate() + (bucket === 'week' ? 7 : 1))
  }
}
