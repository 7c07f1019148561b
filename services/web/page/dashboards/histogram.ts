// A histogram of numbers of a field: its bounds are asked for first, then how many calls lie in each of some round ranges.
import type { Tick } from '../engine/axis-ticks.ts'
import type { RowsOf } from '../engine/filter-fields.ts'
import { beginOf, binsOf, widthOf } from '../engine/value-bins.ts'
import type { Aggregate, Series } from './figures.ts'

/** @param field by its name in the request, as in all of these but the term */
export const boundsAsked = (field: string) => ['min', 'max', 'count'].map((as) => ({ field, as }))

export type Ranges = { width: number; bins: readonly number[] }

/** Undefined where no call has a number there. */
export function rangesOf(field: string, answer: Aggregate): Ranges | undefined {
  const { total = {} } = answer.groups[0] ?? {}
  const [min, max] = [total[`${field}.min`] ?? null, total[`${field}.max`] ?? null]
  if (min === null || max === null) return undefined
  const width = widthOf(min, max)
  return { width, bins: binsOf(min, max, width) }
}

export const histogramAsked = (field: string, { width }: Ranges) => ({
  metrics: [{ field: 'calls', as: 'sum' }],
  group_by: [`range ${width} ${field}`],
  top: 100,
})

export function histogramSeries({ bins }: Ranges, answer: Aggregate, rows: RowsOf): Series[] {
  const found = new Map(answer.groups.map(({ keys: [key = ''], total }) => [key, total['calls.sum'] ?? 0]))
  return [{ name: rows, color: '--accent', values: bins.map((bin) => found.get(String(bin)) ?? 0) }]
}

export const rangeName = ({ width }: Ranges, bin: number): string =>
  `${beginOf(bin, width)} to ${beginOf(bin + 1, width)}`

/** Beginnings of some ranges, at round numbers of them. */
export function rangeTicks({ width, bins }: Ranges): Tick[] {
  const step = [1, 2, 5, 10, 20].find((one) => bins.length / one <= 6) ?? bins.length
  return bins.flatMap((bin, at) => (bin % step === 0 ? [{ at, text: String(beginOf(bin, width)) }] : []))
}

/** The filter of the calls in some ranges, first and last included. */
export const rangeTerm = (field: string, { width, bins }: Ranges, from: number, to: number): string => {
  const [first = 0, last = 0] = [bins[Math.min(from, to)], bins[Math.max(from, to)]]
  return `${field}>=${beginOf(first, width)} ${field}<${beginOf(last + 1, width)}`
}
