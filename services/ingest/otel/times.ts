// Times of spans: ISO text of the dump, and the Langfuse attributes that override a span's own times.
import { isPlausible, parseTimestamp } from '../../core/timestamps.ts'
import type { Value } from './values.ts'

let lastSecond = Number.NaN
let lastText = ''

/** `2023-11-14T22:13:20.123457`, UTC without a zone; spans of a batch mostly share their seconds. */
export function isoMicros(us: number): string {
  const second = Math.floor(us / 1e6)
  if (second !== lastSecond) {
    lastText = new Date(Math.min(second, 8.64e12) * 1000).toISOString().slice(0, -4)
    lastSecond = second
  }
  return lastText + String(us - second * 1e6).padStart(6, '0')
}

/**
 * Microseconds of an override: ISO 8601 text, an integer of nanoseconds or a float of seconds since 1970.
 * null when it is none of them.
 */
export function overrideUs(value: Value | undefined): number | null {
  if (typeof value === 'string') return value.charCodeAt(4) === 45 ? parseTimestamp(value) : null
  if (typeof value === 'bigint') return Number((value + 500n) / 1000n)
  if (typeof value !== 'number') return null
  return Math.round(Number.isInteger(value) ? value / 1000 : value * 1e6)
}

/** Times that a table partition may be opened for. 0 means that the sender set none. */
export const isAcceptable = (us: number, nowMs: number): boolean => us === 0 || isPlausible(us, nowMs)
