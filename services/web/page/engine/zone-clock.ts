// The clock of a zone: what it shows at an instant, the instant when it shows something, and times as readers write them.

const dayMs = 86_400_000
const clocks = new Map<string, Intl.DateTimeFormat>()
/** The local time of a zone, as if it were UTC. */
export function localMs(ms: number, zone: string): number {
  if (zone === 'UTC') return ms
  let clock = clocks.get(zone)
  if (clock === undefined) {
    const numeric = 'numeric'
    clock = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      hourCycle: 'h23',
      year: numeric,
      month: numeric,
      day: numeric,
      hour: numeric,
      minute: numeric,
      second: numeric,
    })
    clocks.set(zone, clock)
  }
  // As `05/01/2026, 12:00:30`.
  const [day = 1, month = 1, year = 0, hour, minute, second] = clock.format(ms).split(/\D+/).map(Number)
  return Date.UTC(year, month - 1, day, hour, minute, second) + (((ms % 1_000) + 1_000) % 1_000)
}

/** The first instant when the clock of a zone shows this; for a time that the clock skips, the one after it. */
export function instantOf(local: number, zone: string): number {
  const offsets = [local - dayMs, local + dayMs].map((ms) => localMs(ms, zone) - ms)
  const earlier = local - Math.max(...offsets)
  return localMs(earlier, zone) === local ? earlier : local - Math.min(...offsets)
}

/** A day, or month, alone or with a time of the day, that names no zone. */
const localForm = /^\d{4}-[\d-]+(?:[T ][\d:.]+)?$/

/**
 * The instant of a time as it is written, in milliseconds since 1970, NaN where it is none. Without a zone of its own it is
 * one of the reader's; a day alone begins at its 0:00.
 * @param zoneOf is asked where the time names no zone: the first look at the zone of a browser takes long
 */
export function writtenMs(text: string, zoneOf: () => string): number {
  const plain = Date.parse(text)
  if (Number.isNaN(plain) || !localForm.test(text)) return plain
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = text.split(/[-T :]/).map(Number)
  return instantOf(Date.UTC(year, month - 1, day, hour, minute) + Math.round(second * 1_000), zoneOf())
}
