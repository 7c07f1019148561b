// Ranges of numbers for a histogram: round widths, so that some tens of them hold all values.

const steps = [1, 2, 5]
const mostBins = 40

/** The least round width of which at most so many ranges hold all from `min` to `max`. */
export function widthOf(min: number, max: number): number {
  // Not finer than numbers of that size are told apart by.
  const span = max > min ? Math.max(max - min, Math.abs(min) * 1e-9, Math.abs(max) * 1e-9) : 0
  if (!(span > 0) || !Number.isFinite(span)) return 1
  const power = 10 ** Math.floor(Math.log10(span / mostBins))
  const found = [...steps, 10].find((step) => span / (step * power) <= mostBins) ?? 10
  return Number((found * power).toPrecision(12))
}

/** Ranges are numbered: the one with `n` begins at n × width. */
export function binsOf(min: number, max: number, width: number): number[] {
  const first = Math.floor(min / width)
  const last = Math.min(Math.floor(max / width), first + mostBins + 1)
  return Array.from({ length: Math.max(1, last - first + 1) }, (_, n) => first + n)
}

/** Beginning of a range, without the dust of its product. */
export const beginOf = (bin: number, width: number): number => Number((bin * width).toPrecision(12)) + 0
