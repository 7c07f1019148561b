// A heat map of time by latency: one series per range of latency, as `latency_range` groups calls, the least first.
import type { Tick } from '../engine/axis-ticks.ts'
import { duration } from '../engine/format.ts'
import type { Aggregate, Drawn, Series } from './figures.ts'

export const heatAsked = { metrics: [{ field: 'calls', as: 'sum' }], group_by: ['latency_range'], top: 100 }

/** Beginnings of ranges, in milliseconds: an hour is the 46th. */
const bounds = [0, ...new Set(Array.from({ length: 70 }, (_, n) => Math.ceil(2 ** (n / 2))))]

const andMore = ' and more'

/** Series from the least to the greatest range with any calls; those between are there, too. */
export function heatSeries(answer: Aggregate | undefined): Series[] {
  const found = new Map(
    (answer?.groups ?? []).flatMap(({ keys: [from = ''], is_rest, series }) =>
      is_rest || from === '' ? [] : [[Number(from), series['calls.sum'] ?? []] as const],
    ),
  )
  const places = bounds.flatMap((from, place) => (found.has(from) ? [place] : []))
  const shown = places.length === 0 ? [] : bounds.slice(places[0], (places.at(-1) ?? 0) + 1)
  const none = (answer?.buckets ?? []).map(() => 0)
  return shown.map((from) => ({
    name: `${duration(from)}${andMore}`,
    color: '--accent',
    values: found.get(from) ?? none,
  }))
}

/** Beginnings of some ranges, as shares of the height. */
export function heatTicks(series: readonly Series[]): Tick[] {
  const step = Math.max(1, Math.ceil(series.length / 5))
  return series.flatMap(({ name }, row) =>
    row % step === 0 ? [{ at: row / series.length, text: name.replace(andMore, '') }] : [],
  )
}

const shades = 6

/** Cells of equal shade as one path each; more calls are darker, few are seen beside many. */
export function heatDrawn(series: readonly Series[], height: number): { most: number; drawn: Drawn[] } {
  const most = Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0)))
  const tall = height / Math.max(1, series.length)
  const paths = Array.from({ length: shades }, () => '')
  for (const [row, { values }] of series.entries())
    for (const [n, value] of values.entries()) {
      if (!value) continue
      const shade = Math.min(shades - 1, Math.floor(Math.sqrt(value / most) * shades))
      paths[shade] += `M${n + 0.04} ${height - (row + 1) * tall}h0.92v${tall * 0.92}h-0.92z`
    }
  const drawn = paths.map((path, shade) => {
    return { name: `shade ${shade}`, color: '--accent', path, as: 'area' as const, opacity: (shade + 1) / shades }
  })
  return { most, drawn: drawn.filter(({ path }) => path !== '') }
}
