// The clock of a zone: what it shows at an instant, the instant when it shows something, and times as readers write them.

const dayMs = 86_400_000
const clocks = new Map<string, Intl.DateTimeFormat>()
/** The local time of a zone, as if it were UTC. */
export function localMs(ms: number, zone: string): number {
  if (zone === 'UTC') return ms
  let clock = clocks.get(zone)
  if (clock === undefined) {
    const [two, numeric] = ['2-digit', 'numeric'] as const
    clock = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      hourCycle: 'h23',
      year: numeric,
      month: two,
      day: two,
      hour: two,
      minute: two,
      second: two,
    })
    clocks.set(zone, clock)
  }
  const parts = new Map(clock.formatToParts(ms).map(({ type, value }) => [type, Number(value)]))
  const [year = 0, month = 1, day = 1] = [parts.get('year'), parts.get('month'), parts.get('day')]
  const [hour = 0, minute = 0, second = 0] = [parts.get('hour'), parts.get('minute'), parts.get('second')]
  return Date.UTC(year, month - 1, day, hour, minute, second) + (((ms % 1_000) + 1_000) % 1_000)
}

/** The first instant when the clock of a zone shows this; for a time that the clock skips, the one after it. */
export function instantOf(local: number, zone: string): number {
  const offsets = [local - dayMs, local + dayMs].map((ms) => localMs(ms, zone) - ms)
  const earlier = local - Math.max(...offsets)
  return localMs(earlier, zone) === local ? earlier : local - Math.min(...offsets)
}

/** A day, or month, alone or with a time of the day, that names no zone. */
const localForm = /^(\d{4})-(\d{1,2})(?:-(\d{1,2}))?(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(\.\d+)?)?)?$/

/**
 * The instant of a time as it is written, in milliseconds since 1970, NaN where it is none. Without a zone of its own it is
 * one of the reader's; a day alone begins at its 0:00.
 * @param zoneOf is asked where the time names no zone: the first look at the zone of a browser takes long
 */
export function writtenMs(text: string, zoneOf: () => string): number {
  const plain = Date.parse(text)
  const found = Number.isNaN(plain) ? null : localForm.exec(text)
  if (found === null) return plain
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0, part = 0] = found
    .slice(1)
    .map((one) => (one === undefined ? undefined : Number(one)))
  const local = Date.UTC(year, month - 1, day, hour, minute, second) + Math.round(part * 1_000)
  return instantOf(local, zoneOf())
}
