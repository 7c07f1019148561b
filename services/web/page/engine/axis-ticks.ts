// Ticks of a chart's axes: round values with one unit for all of them, and times at round steps of a zone's clock.
import { instantOf, localMs } from './zone-clock.ts'

export const axisUnits = ['count', 'tokens', 'duration', 'money', 'share', 'number'] as const
export type AxisUnit = (typeof axisUnits)[number]

/** `at` is a value of the axis, or a place among its buckets. */
export type Tick = { at: number; text: string }

const [secondMs, minuteMs, hourMs, dayMs] = [1_000, 60_000, 3_600_000, 86_400_000]
const durationUnits: readonly (readonly [ms: number, unit: string])[] = [
  [dayMs, 'd'],
  [hourMs, 'h'],
  [minuteMs, 'min'],
  [secondMs, 's'],
  [1, 'ms'],
  [0.001, 'µs'],
]
/** Round steps of a clock, from two seconds on; below and above they are decimal. */
const clockSteps = [
  2, 5, 10, 20, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400,
].map((seconds) => seconds * secondMs)

/** Ticks beyond zero. */
const mostSteps = 4
/** Ticks of less than this would have no text of their own. */
const smallest = 1e-12

function decimalStep(max: number): number {
  const power = 10 ** Math.floor(Math.log10(max / mostSteps))
  const found = [1, 2, 2.5, 5, 10].find((step) => Math.ceil(max / (step * power) - 1e-9) <= mostSteps) ?? 10
  return Number((found * power).toPrecision(12))
}

function stepOf(max: number, unit: AxisUnit): number {
  if (unit === 'count' || unit === 'tokens') {
    const step = decimalStep(max)
    // Nothing lies between two calls.
    return step < 1 ? 1 : step === 2.5 ? 5 : step
  }
  if (unit !== 'duration' || max <= 2 * mostSteps * secondMs) return decimalStep(max)
  return clockSteps.find((step) => Math.ceil(max / step) <= mostSteps) ?? decimalStep(max / dayMs) * dayMs
}

/** Digits that tell the ticks of a step apart. */
const decimalsOf = (step: number): number => {
  const [digits = '', exponent = '0'] = step.toExponential().split('e')
  return Math.max(0, (digits.split('.')[1]?.length ?? 0) - Number(exponent))
}

const grouped = (text: string): string => text.replace(/\B(?=(\d{3})+(?!\d))(?<!\..*)/g, ',')

/** Numbers of one axis have one unit: `500`, `1,000`, or `0.5 M`, `1 M`. */
function textsOf(values: readonly number[], step: number, unit: AxisUnit): string[] {
  const top = values.at(-1) ?? 0
  const written = (scale: number, before: string, after: string) =>
    values.map((value) => {
      if (value === 0) return `${before}0`
      return before + grouped((value / scale).toFixed(Math.min(12, decimalsOf(step / scale)))) + after
    })
  if (unit === 'share') return written(0.01, '', ' %')
  if (unit === 'duration') {
    const [scale, name] = durationUnits.find(([ms]) => top >= ms) ?? [0.001, 'µs']
    return written(scale, '', ` ${name}`)
  }
  const [scale, sign] = ([
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
  ].find(([size]) => top >= 10 * (size as number)) ?? [1, '']) as [number, string]
  return written(scale, unit === 'money' ? '$' : '', sign)
}

/**
 * Three to five round values from 0 on, the last one not below `max`; of what is counted two, where it is one.
 * @param max of what is shown; an axis of nothing ends at 1
 */
export function valueTicks(max: number, unit: AxisUnit): Tick[] {
  const shown = max > smallest && Number.isFinite(max) ? max : 1
  const step = stepOf(shown, unit)
  const size = Math.max(1, Math.ceil(shown / step - 1e-9))
  const values = Array.from({ length: size + 1 }, (_, n) => Number((n * step).toPrecision(12)))
  const texts = textsOf(values, step, unit)
  return values.map((at, n) => ({ at, text: texts[n] as string }))
}

const timeSteps = [
  ...[1, 2, 5, 10, 15, 30].map((n) => n * secondMs),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * minuteMs),
  ...[1, 2, 3, 6, 12].map((n) => n * hourMs),
  ...[1, 2, 7, 14].map((n) => n * dayMs),
]
const monthSteps = [1, 2, 3, 6, 12, 24, 60, 120]
/** Mondays, counted from 1 January 1970. */
const firstMonday = 4 * dayMs
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

function localTimes(fromMs: number, toMs: number, most: number): { times: number[]; step: number } {
  const fits = (step: number) => (toMs - fromMs) / step <= most
  const step = timeSteps.find(fits)
  if (step !== undefined) {
    const origin = step % (7 * dayMs) === 0 ? firstMonday : 0
    const first = Math.ceil((fromMs - origin) / step) * step + origin
    return { step, times: Array.from({ length: most + 1 }, (_, n) => first + n * step) }
  }
  const count = monthSteps.find((one) => fits(one * 30.4 * dayMs)) ?? (monthSteps.at(-1) as number)
  const start = new Date(fromMs)
  const first = Math.ceil((start.getUTCFullYear() * 12 + start.getUTCMonth()) / count) * count
  // Years below 100 would be those of the last century.
  const monthOf = (n: number) => Date.UTC(Math.floor(n / 12), n % 12, 1)
  const times = Array.from({ length: most + 2 }, (_, n) => monthOf(first + n * count)).filter((at) => at >= fromMs)
  return { times, step: count * 30 * dayMs }
}

const two = (value: number): string => String(value).padStart(2, '0')

function timeText(local: number, step: number, isFirst: boolean): string {
  const at = new Date(local)
  const month = months[at.getUTCMonth()] as string
  const date = `${at.getUTCDate()} ${month}`
  if (step >= 28 * dayMs) return at.getUTCMonth() === 0 || isFirst ? `${month} ${at.getUTCFullYear()}` : month
  if (step >= dayMs) return date
  const clock = `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}${step < minuteMs ? `:${two(at.getUTCSeconds())}` : ''}`
  if (local % dayMs === 0) return date
  return isFirst ? `${date} ${clock}` : clock
}

/**
 * Times at round steps of the zone's clock, with their places among the buckets: 0 is where the first begins. Midnight is
 * named by its day; so is the first tick where there is no midnight.
 * @param buckets when they begin, as ISO times
 */
export function timeTicks(buckets: readonly string[], zone: string, most = 6): Tick[] {
  const begins = buckets.map((time) => Date.parse(time))
  const [first, last] = [begins[0], begins.at(-1)]
  if (first === undefined || last === undefined || begins.some(Number.isNaN)) return []
  // The last bucket is not known to be longer than the shortest.
  const gaps = begins.slice(1).map((begin, n) => begin - (begins[n] as number))
  const ends = last + (gaps.length === 0 ? secondMs : Math.min(...gaps))
  const [from, to] = [localMs(first, zone), localMs(ends, zone)]
  const { times, step } = localTimes(from, to, most)
  const shown: { local: number; at: number }[] = []
  let before = Number.NEGATIVE_INFINITY
  for (const local of times) {
    const ms = instantOf(local, zone)
    // A day may begin after a midnight that its clock skips; other times that it skips are none.
    const isSkipped = ms === before || (local % dayMs !== 0 && localMs(ms, zone) !== local)
    if (ms < first || ms >= ends || isSkipped) continue
    before = ms
    const place = begins.findLastIndex((begin) => begin <= ms)
    const begin = begins[place] as number
    const next = begins[place + 1] ?? ends
    shown.push({ local, at: place + (ms - begin) / (next - begin) })
  }
  const hasDay = shown.some(({ local }) => local % dayMs === 0)
  return shown.map(({ local, at }, n) => ({ at, text: timeText(local, step, n === 0 && !hasDay) }))
}
