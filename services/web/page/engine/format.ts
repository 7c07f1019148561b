// Numbers, durations, money and times as people read them; the exact value is always beside.

export function duration(ms: number | null): string {
  if (ms === null) return '–'
  if (ms === 0) return '0 ms'
  if (ms < 1) return `${Math.round(ms * 1000)} µs`
  if (ms < 1000) return `${ms < 10 ? ms.toPrecision(2) : Math.round(ms)} ms`
  const s = ms / 1000
  if (s < 100) return `${s.toPrecision(3)} s`
  const minutes = s / 60
  if (minutes < 100) return `${minutes.toPrecision(3)} min`
  const hours = minutes / 60
  return hours < 100 ? `${hours.toPrecision(3)} h` : `${(hours / 24).toPrecision(3)} d`
}

export function tokens(count: number | null): string {
  if (count === null) return '–'
  if (count < 1_000) return String(count)
  if (count < 1_000_000) return `${(count / 1_000).toPrecision(3).replace(/\.0+$/, '')}k`
  return `${(count / 1_000_000).toPrecision(3)}M`
}

/** Three significant digits, never rounded to 0. */
export function money(amount: number | null): string {
  if (amount === null) return '–'
  if (amount === 0) return '$0'
  if (amount >= 1_000) return `$${Math.round(amount).toLocaleString('en-US')}`
  const text = amount.toPrecision(3)
  return `$${text.includes('e') ? Number(text).toFixed(12).replace(/0+$/, '') : text}`
}

/** Money in columns, of nine letters below $1: the smaller it is the fewer digits it has; of what is too small is said so. */
export function columnMoney(amount: number | null): string {
  if (amount !== null && amount > 0 && amount < 0.0001)
    return amount < 0.00001 ? '<$0.00001' : `$${amount.toPrecision(2)}`
  return money(amount)
}

/** Small numbers without the formats of the browser, whose first use takes long. */
export const count = (value: number): string =>
  Number.isInteger(value) && Math.abs(value) < 1_000 ? String(value) : value.toLocaleString('en-US')

let pluralRules: Intl.PluralRules | undefined
/** `1 call`, `2 calls`. */
export function plural(value: number, one: string, more = `${one}s`): string {
  pluralRules ??= new Intl.PluralRules('en')
  return `${count(value)} ${pluralRules.select(value) === 'one' ? one : more}`
}

export function bytes(size: number): string {
  if (size < 1024) return `${size} B`
  const units = ['KiB', 'MiB', 'GiB']
  let value = size / 1024
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return `${value.toPrecision(3)} ${units[unit]}`
}

const formats = new Map<string, Intl.DateTimeFormat>()
function formatOf(zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${zone} ${JSON.stringify(options)}`
  let format = formats.get(key)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone })
    formats.set(key, format)
  }
  return format
}

const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const
const day = { day: '2-digit', month: 'short' } as const

/** The time of day; with the day when that is another one than now's. */
export function moment(iso: string, zone: string, nowMs: number = Date.now()): string {
  const at = new Date(iso)
  const time = formatOf(zone, clock).format(at)
  const date = formatOf(zone, day)
  const isToday = date.format(at) === date.format(nowMs)
  if (isToday) return time
  const isThisYear = iso.slice(0, 4) === new Date(nowMs).toISOString().slice(0, 4)
  return `${date.format(at)}${isThisYear ? '' : ` ${iso.slice(0, 4)}`} ${time}`
}

export function age(iso: string, nowMs: number = Date.now()): string {
  const ms = nowMs - Date.parse(iso)
  if (ms < 0) return 'in the future'
  const [limit, unit, name] = (
    [
      [60_000, 1_000, 's'],
      [3_600_000, 60_000, 'min'],
      [172_800_000, 3_600_000, 'h'],
      [Number.POSITIVE_INFINITY, 86_400_000, 'd'],
    ] as const
  ).find(([bound]) => ms < bound) ?? [0, 1, 'ms']
  return limit === 0 ? '' : `${Math.floor(ms / unit)} ${name} ago`
}

/** Uses each kind of format once: the first use in a process takes 20 to 50 ms, in whichever thread. */
export function loadFormats(): void {
  plural(1_000, 'call')
  moment(new Date(0).toISOString(), 'UTC')
}
