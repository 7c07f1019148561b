// Times of spans: ISO text of the dump, and the Langfuse attributes that override a span's own times.
import { isPlausible, parseTimestamp } from '../../core/clock/timestamps.ts'
import { type Nanos, roundedUs } from './spans.ts'
import type { Value } from './values.ts'

const dayUs = 86_400_000_000
const twoDigits = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'))
let cachedDay = Number.NaN
let cachedDate = ''

/** `2023-11-14T22:13:20.123457`, UTC without a zone; spans of a batch mostly share their day. */
export function isoMicros(us: number): string {
  const day = Math.floor(us / dayUs)
  if (day !== cachedDay) {
    cachedDate = new Date(day * (dayUs / 1000)).toISOString().slice(0, -13)
    cachedDay = day
  }
  const rest = us - day * dayUs
  const second = Math.floor(rest / 1e6)
  const minute = Math.floor(second / 60)
  const clock = `${twoDigits[Math.floor(minute / 60)]}:${twoDigits[minute % 60]}:${twoDigits[second % 60]}`
  return `${cachedDate}${clock}.${String(rest - second * 1e6).padStart(6, '0')}`
}

/** Whole numbers up to this one, the year 2603, are seconds: as nanoseconds they would be the first minute of 1970. */
const maxSeconds = 2e10

function writtenUs(value: Value | undefined): number | null {
  if (typeof value === 'string') return value.charCodeAt(4) === 45 ? parseTimestamp(value) : null
  if (typeof value === 'bigint') return Number((value + 500n) / 1000n)
  if (typeof value !== 'number') return null
  // A float of whole seconds and an integer are one number by now.
  const isNanos = Number.isInteger(value) && Math.abs(value) > maxSeconds
  return Math.round(isNanos ? value / 1000 : value * 1e6)
}

/**
 * Microseconds of an override: ISO 8601 text, an integer of nanoseconds or a float of seconds since 1970. null when it
 * is none of them, or a time that no call may have: then the span's own counts.
 */
export function overrideUs(value: Value | undefined, nowMs: number): number | null {
  const us = writtenUs(value)
  return us !== null && isPlausible(us, nowMs) ? us : null
}

/** Possible units of a value in nanoseconds that is no time of a call: the ranges of these do not meet. */
const units: readonly { name: string; toUs: (ns: number) => number }[] = [
  { name: 'microseconds', toUs: (ns) => ns },
  { name: 'milliseconds', toUs: (ns) => ns * 1e3 },
  { name: 'seconds', toUs: (ns) => ns * 1e6 },
]

export type SettledTime = {
  /** null = it is no time that a call may have. */
  us: number | null
  /** The unit that it came in instead of nanoseconds, '' for these. */
  unit: string
}

/** Microseconds of a time that a table partition may be opened for. */
export function settledUs(time: Nanos, nowMs: number): SettledTime {
  const us = roundedUs(time)
  if (isPlausible(us, nowMs)) return { us, unit: '' }
  const ns = time.us * 1000 + time.rest
  for (const { name, toUs } of units) if (isPlausible(toUs(ns), nowMs)) return { us: Math.round(toUs(ns)), unit: name }
  return { us: null, unit: '' }
}

/** Whether the sender said a time at all. */
export const isGiven = ({ us, rest }: Nanos): boolean => us !== 0 || rest !== 0

const dayNs = 86_400e9

export type SpanTimes = {
  startedUs: number
  /** The start of a span that runs. */
  endedUs: number
  isRunning: boolean
  /** The correction, '' = none. */
  fault: string
}

/** Both edges where the usual case ends: plausible, and one after the other. */
function putRight(start: Nanos, end: Nanos, nowMs: number): SpanTimes {
  const isRunning = !isGiven(end)
  const first = settledUs(start, nowMs)
  const last = settledUs(end, nowMs)
  const faults: string[] = []
  const named = (name: string, given: Nanos, { us, unit }: SettledTime): void => {
    if (unit !== '') faults.push(`the ${name} time is in ${unit}`)
    else if (us === null && isGiven(given)) faults.push(`the ${name} time is before 2000 or in the future`)
  }
  named('start', start, first)
  named('end', end, last)
  if (!isGiven(start)) faults.push('there is no start time')
  const nowUs = nowMs * 1000
  let endedUs = isRunning ? null : last.us
  let startedUs = first.us ?? endedUs
  if (startedUs === null) {
    // The clock of the sender may be wrong, and how long it took still right.
    const tookNs = (end.us - start.us) * 1000
    const isKnown = !isRunning && isGiven(start) && tookNs >= 0 && tookNs <= dayNs
    startedUs = isKnown ? nowUs - (end.us - start.us) : nowUs
    endedUs = isRunning ? null : nowUs
  }
  endedUs ??= startedUs
  if (endedUs < startedUs) faults.push('the end lies before the start')
  return { startedUs, endedUs, isRunning, fault: faults.join(', ') }
}

/**
 * Start and end of a span. It runs where no end is given; where no start is, or one of the times cannot be true, the
 * other one is both; a unit that is not nanoseconds is known by its range. When the end is before the start it is not
 * known which one is wrong: both stay, and readers see that it took no time.
 */
export function spanTimes(start: Nanos, end: Nanos, nowMs: number): SpanTimes {
  const startedUs = roundedUs(start)
  const endedUs = roundedUs(end)
  if (isPlausible(startedUs, nowMs) && isPlausible(endedUs, nowMs) && endedUs >= startedUs)
    return { startedUs, endedUs, isRunning: false, fault: '' }
  return putRight(start, end, nowMs)
}
