// Timestamps on the wire: every accepted input form to microseconds since 1970, and microseconds to the output form.

const dayMs = 86_400_000

/** 2000-01-01T00:00:00Z: earlier times are refused, because every month of data is a partition of the store. */
const earliestUs = 946_684_800_000_000

/** The most that a time may be ahead of this machine's clock. */
const aheadUs = dayMs * 1000

/** The first and last time at which a call may begin or end. */
export const plausibleUs = (nowMs: number): { min: number; max: number } => ({
  min: earliestUs,
  max: nowMs * 1000 + aheadUs,
})

/** True when a call may begin or end at this time. */
export const isPlausible = (us: number, nowMs = Date.now()): boolean => us >= earliestUs && us <= nowMs * 1000 + aheadUs

const daysIn = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Days from 1970-01-01 to a date of the proleptic Gregorian calendar (Howard Hinnant, "chrono-compatible date algorithms"). */
function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year
  const era = Math.floor(y / 400)
  const yearOfEra = y - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}

/** Two digits at `at`, -1 when they are none. */
function two(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 48
  const ones = text.charCodeAt(at + 1) - 48
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -1
}

/** Minutes of a UTC offset written from `at` to the end of the text, NaN when it is none. */
function offsetMinutes(text: string, at: number): number {
  if (at === text.length) return 0
  const sign = text.charCodeAt(at)
  if (at === text.length - 1 && (sign === 90 || sign === 122)) return 0
  if (sign !== 43 && sign !== 45) return Number.NaN
  const hours = two(text, at + 1)
  let minutes = 0
  if (text.length === at + 5) minutes = two(text, at + 3)
  else if (text.length === at + 6 && text.charCodeAt(at + 3) === 58) minutes = two(text, at + 4)
  else if (text.length !== at + 3) return Number.NaN
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return Number.NaN
  return sign === 45 ? -(hours * 60 + minutes) : hours * 60 + minutes
}

/** Seconds from 1970 to midnight UTC of the date `YYYY-MM-DD` at the beginning of a text, NaN when it is none. */
function midnightSeconds(text: string): number {
  const century = two(text, 0)
  const yearOfCentury = two(text, 2)
  const month = two(text, 5)
  const day = two(text, 8)
  if (century < 0 || yearOfCentury < 0 || text.charCodeAt(4) !== 45 || text.charCodeAt(7) !== 45) return Number.NaN
  if (month < 1 || month > 12 || day < 1) return Number.NaN
  const year = century * 100 + yearOfCentury
  const leap = month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  if (day > (daysIn[month - 1] as number) + (leap ? 1 : 0)) return Number.NaN
  return daysFromCivil(year, month, day) * 86_400
}

/** Microseconds of the digits from `from` to `to`; those after the sixth count nothing. */
function fractionUs(text: string, from: number, to: number): number {
  let micros = 0
  for (let at = from, unit = 100_000; at < to; at++, unit = Math.floor(unit / 10))
    micros += (text.charCodeAt(at) - 48) * unit
  return micros
}

/** Position behind the digits that begin at `from`. */
function endOfDigits(text: string, from: number): number {
  let at = from
  for (let c = text.charCodeAt(at); c >= 48 && c <= 57; c = text.charCodeAt(++at));
  return at
}

function parseIso(text: string): number | null {
  const midnight = midnightSeconds(text)
  if (Number.isNaN(midnight)) return null
  if (text.length === 10) return midnight * 1e6
  const separator = text.charCodeAt(10)
  if (separator !== 84 && separator !== 116 && separator !== 32) return null
  const hour = two(text, 11)
  const minute = two(text, 14)
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || text.charCodeAt(13) !== 58) return null
  const hasSecond = text.charCodeAt(16) === 58
  const second = hasSecond ? two(text, 17) : 0
  if (second < 0 || second > 59) return null
  let at = hasSecond ? 19 : 16
  let micros = 0
  const point = text.charCodeAt(at)
  if (hasSecond && (point === 46 || point === 44)) {
    at = endOfDigits(text, 20)
    if (at === 20) return null
    micros = fractionUs(text, 20, at)
  }
  const offset = offsetMinutes(text, at)
  return Number.isNaN(offset) ? null : (midnight + hour * 3600 + (minute - offset) * 60 + second) * 1e6 + micros
}

/** Unix time in seconds up to 2e10, else in milliseconds; decimals are cut as written, not as the nearest double. */
function parseUnix(value: number): number | null {
  if (!Number.isFinite(value)) return null
  const seconds = Math.abs(value) <= 2e10
  const [whole = '0', fraction = ''] = String(value).split('.')
  if (/e/.test(whole + fraction)) return Math.abs(value) < 1 ? 0 : value * 1000
  const digits = seconds ? 6 : 3
  const cut = Number(fraction.slice(0, digits).padEnd(digits, '0'))
  const us = Number(whole) * (seconds ? 1e6 : 1e3)
  return value < 0 ? us - cut : us + cut
}

/**
 * Microseconds since 1970 of an ISO 8601 text (with Z or offset, without = UTC, date only = midnight UTC) or of unix
 * time as a number or numeric text. More than six fraction digits are cut off. null = not a timestamp.
 */
export function parseTimestamp(value: unknown): number | null {
  if (typeof value === 'number') return parseUnix(value)
  if (typeof value !== 'string') return null
  if (value.charCodeAt(4) === 45) return parseIso(value)
  return /^[+-]?\d{1,16}(\.\d+)?$/.test(value) ? parseUnix(Number(value)) : null
}

let cachedDay = Number.NaN
let cachedDate = ''
const pad = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'))

/** `YYYY-MM-DDTHH:MM:SSZ`, with exactly six fraction digits when the microseconds are not zero. */
export function formatTimestamp(us: number): string {
  const seconds = Math.floor(us / 1e6)
  const micros = us - seconds * 1e6
  const day = Math.floor(seconds / 86_400)
  if (day !== cachedDay) {
    cachedDate = new Date(day * dayMs).toISOString().slice(0, -14)
    cachedDay = day
  }
  const rest = seconds - day * 86_400
  const clock = `${pad[Math.floor(rest / 3600)]}:${pad[Math.floor(rest / 60) % 60]}:${pad[rest % 60]}`
  return micros === 0
    ? `${cachedDate}T${clock}Z`
    : `${cachedDate}T${clock}.${String(Math.floor(micros)).padStart(6, '0')}Z`
}
