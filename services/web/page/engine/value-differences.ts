// Finds values that some calls have more often, or less often, than others: by the share of calls that have each.

type Value = string | number
export type Counted = { value: Value; calls: number }
/** The commonest values of each field. Where a list is not complete, values that it lacks may be there. */
export type ValueCounts = {
  sampled: number
  fields: ReadonlyMap<string, { values: readonly Counted[]; isComplete: boolean }>
}

export type ValueDifference = {
  field: string
  value: Value
  /** Shares of the calls on either side, 0 to 1. */
  here: number
  elsewhere: number
  /** A share that is no more than this: the value is not among the commonest there. */
  isAtMost: 'here' | 'elsewhere' | undefined
}

/** A value of a single call says nothing about the others. */
const leastCalls = 2
const leastShare = 0.01

type Share = { share: number; isAtMost: boolean }

function shareOf({ sampled, fields }: ValueCounts, field: string, value: Value): Share {
  const { values = [], isComplete = true } = fields.get(field) ?? {}
  const found = values.find((one) => one.value === value)
  // Values are found by the time of their calls: others of the same microsecond may be counted.
  if (found) return { share: Math.min(1, found.calls / sampled), isAtMost: false }
  const last = values.at(-1)
  return isComplete || last === undefined
    ? { share: 0, isAtMost: false }
    : { share: last.calls / sampled, isAtMost: true }
}

/** The values whose shares differ most, the greatest difference first; of an unknown share the least difference counts. */
export function valueDifferences(here: ValueCounts, elsewhere: ValueCounts, most: number): ValueDifference[] {
  if (here.sampled === 0 || elsewhere.sampled === 0) return []
  const found: ValueDifference[] = []
  for (const field of new Set([...here.fields.keys(), ...elsewhere.fields.keys()])) {
    const common = [here, elsewhere].flatMap(({ fields }) =>
      (fields.get(field)?.values ?? []).filter(({ calls }) => calls >= leastCalls),
    )
    for (const value of new Set(common.map((one) => one.value))) {
      const [own, other] = [shareOf(here, field, value), shareOf(elsewhere, field, value)]
      const isAtMost = own.isAtMost ? 'here' : other.isAtMost ? 'elsewhere' : undefined
      found.push({ field, value, isAtMost, here: own.share, elsewhere: other.share })
    }
  }
  return found
    .filter((one) => difference(one) >= leastShare)
    .sort((a, b) => difference(b) - difference(a))
    .slice(0, most)
}

/** An unknown share may be as great as the known one. */
const difference = ({ here, elsewhere, isAtMost }: ValueDifference): number =>
  isAtMost === 'elsewhere'
    ? Math.max(0, here - elsewhere)
    : isAtMost === 'here'
      ? Math.max(0, elsewhere - here)
      : Math.abs(here - elsewhere)
