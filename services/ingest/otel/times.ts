// Times of spans: ISO text of the dump, and the Langfuse attributes that override a span's own times.
import { isPlausible, parseTimestamp } from '../../core/clock/timestamps.ts'
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

/** Times that a table partition may be opened for. 0 means that the sender set none. */
export const isAcceptable = (us: number, nowMs: number): boolean => us === 0 || isPlausible(us, nowMs)
