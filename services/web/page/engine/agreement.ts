// Computes the agreement of annotators: per cent, Cohen's kappa for two, Krippendorff's alpha for any number and
// missing values.

export type Value = string | number | boolean
/** One annotator's value of one item. */
export type Rating = { item: string; by: string; value: Value }
/** Distance between two values: by name alone, by rank, or by distance. */
export type Scale = 'nominal' | 'ordinal' | 'interval'

export type Agreement = {
  /** Items with at least two annotators. */
  items: number
  annotators: number
  /** Share of pairs of annotators that say the same. */
  percent: number
  /** Cohen's, where two annotators judged; null when both always said one thing. */
  kappa: number | null
  /** Krippendorff's; null when all values are the same. */
  alpha: number | null
  /** Items on which they differ, the widest apart first. */
  disagreed: { item: string; values: { by: string; value: Value }[] }[]
}

/** The last value of each annotator, by item. */
function unitsOf(ratings: readonly Rating[]): Map<string, Map<string, Value>> {
  const units = new Map<string, Map<string, Value>>()
  for (const { item, by, value } of ratings) {
    const unit = units.get(item) ?? new Map<string, Value>()
    units.set(item, unit.set(by, value))
  }
  return units
}

/** Squared differences of Krippendorff's alpha ("Computing Krippendorff's Alpha-Reliability", 2011), on indexes of values. */
function differences(
  values: readonly Value[],
  counts: readonly number[],
  scale: Scale,
): (a: number, b: number) => number {
  if (scale === 'interval') return (a, b) => (Number(values[a]) - Number(values[b])) ** 2
  if (scale === 'nominal') return (a, b) => Number(a !== b)
  return (a, b) => {
    const [low, high] = a < b ? [a, b] : [b, a]
    let between = 0
    for (let at = low; at <= high; at++) between += counts[at] as number
    return (between - ((counts[low] as number) + (counts[high] as number)) / 2) ** 2
  }
}

function alphaOf(units: readonly (readonly Value[])[], scale: Scale): number | null {
  const values = [...new Set(units.flat())].sort((a, b) => (a < b ? -1 : 1))
  const place = new Map(values.map((value, at) => [value, at]))
  const size = values.length
  // Coincidences: pairs of values within an item, each weighed by the item's number of values.
  const pairs = Array.from({ length: size }, () => new Array<number>(size).fill(0))
  for (const unit of units)
    for (const [first, one] of unit.entries())
      for (const [second, other] of unit.entries()) {
        if (first === second) continue
        const row = pairs[place.get(one) as number] as number[]
        const at = place.get(other) as number
        row[at] = (row[at] as number) + 1 / (unit.length - 1)
      }
  const counts = pairs.map((row) => row.reduce((sum, one) => sum + one, 0))
  const total = counts.reduce((sum, one) => sum + one, 0)
  const distance = differences(values, counts, scale)
  let observed = 0
  let expected = 0
  for (let a = 0; a < size; a++)
    for (let b = 0; b < size; b++) {
      const apart = distance(a, b)
      observed += ((pairs[a] as number[])[b] as number) * apart
      expected += (counts[a] as number) * (counts[b] as number) * apart
    }
  return expected === 0 ? null : 1 - ((total - 1) * observed) / expected
}

function kappaOf(pairs: readonly (readonly [Value, Value])[]): number | null {
  const same = pairs.filter(([a, b]) => a === b).length / pairs.length
  let expected = 0
  for (const value of new Set(pairs.flat())) {
    const first = pairs.filter(([a]) => a === value).length
    const second = pairs.filter(([, b]) => b === value).length
    expected += (first * second) / pairs.length ** 2
  }
  return expected === 1 ? null : (same - expected) / (1 - expected)
}

/** Widest distance between two values of an item, to show the largest disagreements first. */
const width = (values: readonly { value: Value }[], scale: Scale): number =>
  scale === 'nominal'
    ? new Set(values.map(({ value }) => value)).size
    : Math.max(...values.map(({ value }) => Number(value))) - Math.min(...values.map(({ value }) => Number(value)))

/** Labels of the questions that annotators answered differently, by item. */
export function disagreedOn(
  agreements: readonly { spec: { label: string }; found: Agreement | undefined }[],
): Map<string, string[]> {
  const labels = new Map<string, string[]>()
  for (const { spec, found } of agreements)
    for (const { item } of found?.disagreed ?? []) labels.set(item, [...(labels.get(item) ?? []), spec.label])
  return labels
}

/** @returns undefined when no item has two annotators */
export function agreementOf(ratings: readonly Rating[], scale: Scale): Agreement | undefined {
  const units = [...unitsOf(ratings)].filter(([, values]) => values.size > 1)
  if (units.length === 0) return undefined
  const annotators = [...new Set(units.flatMap(([, values]) => [...values.keys()]))].sort()
  let same = 0
  let pairs = 0
  for (const [, values] of units) {
    const all = [...values.values()]
    for (let a = 0; a < all.length; a++)
      for (let b = a + 1; b < all.length; b++) {
        pairs++
        if (all[a] === all[b]) same++
      }
  }
  const [first = '', second = ''] = annotators
  const disagreed = units
    .filter(([, values]) => new Set(values.values()).size > 1)
    .map(([item, values]) => ({ item, values: [...values].map(([by, value]) => ({ by, value })) }))
    .sort((a, b) => width(b.values, scale) - width(a.values, scale))
  return {
    items: units.length,
    annotators: annotators.length,
    percent: (same / pairs) * 100,
    disagreed,
    kappa:
      annotators.length === 2
        ? kappaOf(units.map(([, values]) => [values.get(first) as Value, values.get(second) as Value]))
        : null,
    alpha: alphaOf(
      units.map(([, values]) => [...values.values()]),
      scale,
    ),
  }
}
