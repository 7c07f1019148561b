// The time axis of call statistics: how long buckets are, where they begin, and how their times are written.
import { parseTimestamp } from '../../core/clock/timestamps.ts'
import { fault, invalid } from '../../core/http/errors.ts'

const hour = 3600
const day = 24 * hour
const maxBuckets = 10_000
/** Longer buckets than this hold everything, and their microseconds would not be exact. */
const maxSeconds = 9e9

const automatic: readonly (readonly [upTo: number, granularity: number])[] = [
  [2 * hour, 300],
  [12 * hour, hour],
  [3 * day, 6 * hour],
  [14 * day, 12 * hour],
  [Infinity, day],
]

/** Seconds per bucket: as asked for, or by the span; never so few that there are more than 10,000 buckets. */
export function granularityOf(spanSeconds: number, asked: number | undefined): number {
  const wanted = asked ?? automatic.find(([upTo]) => spanSeconds <= upTo)?.[1] ?? day
  const granularity = Math.min(wanted, maxSeconds)
  return spanSeconds / granularity > maxBuckets
    ? Math.max(granularity, Math.floor(spanSeconds / maxBuckets) + 1)
    : granularity
}

/** Starts of the buckets in seconds, aligned to multiples of the granularity since 1970 in UTC. */
export function bucketsOf(startUs: number, endUs: number, granularity: number): number[] {
  const starts: number[] = []
  const first = Math.floor(startUs / (granularity * 1e6)) * granularity
  for (let at = first; at * 1e6 < endUs; at += granularity) starts.push(at)
  return starts
}

/** Writes times in seconds with the offset that the zone has then. @throws Fault 400 for an unknown zone */
export function zonedTimes(timeZone: string): (seconds: number) => string {
  if (timeZone === 'UTC') return (seconds) => `${new Date(seconds * 1000).toISOString().slice(0, -5)}+00:00`
  let format: Intl.DateTimeFormat
  try {
    if (!/^[A-Za-z]/.test(timeZone)) throw new RangeError('no name')
    format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  } catch {
    throw fault(400, `Unknown timezone: ${timeZone.slice(0, 100)}`)
  }
  return (seconds) => {
    const name = format.formatToParts(seconds * 1000).find((part) => part.type === 'timeZoneName')?.value ?? ''
    const [, sign = '+', hours = '00', minutes = '00'] = /([+-])(\d\d):(\d\d)/.exec(name) ?? []
    const offset = (sign === '-' ? -1 : 1) * (Number(hours) * hour + Number(minutes) * 60)
    return `${new Date((seconds + offset) * 1000).toISOString().slice(0, -5)}${sign}${hours}:${minutes}`
  }
}

/** The years that the engine's times have. */
const [minUs, maxUs] = [Date.UTC(1900, 0, 1) * 1000, Date.UTC(2299, 0, 1) * 1000]

/** A time of a request in microseconds. @throws Fault 422 */
export function statsTime(name: 'start' | 'end', value: string | number): number {
  const us = parseTimestamp(value)
  const refuse = (msg: string) => invalid({ loc: ['body', name], msg, type: 'datetime_type' })
  if (us === null) throw refuse('Input should be a valid datetime')
  if (us < minUs || us > maxUs) throw refuse('Input should be a datetime between 1900 and 2299')
  return us
}
