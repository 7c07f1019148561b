// Feedback over time: how many gave each sign, and the mean of each score and annotation, by the buckets of a chart.
import { isReaction } from './feedback.ts'

/** The counted parts of an item of feedback; parts of its payload are texts, as a query of fields answers them. */
export type Given = { feedback_type: string; created_at: string; emoji: string; value: string; output: string }

/** The more items the earlier it stands. */
type Values = { name: string; items: number; values: (number | null)[] }

const maxSeries = 7
const maxMembers = 20

const numberOf = (value: unknown): number | undefined =>
  typeof value === 'boolean' ? Number(value) : typeof value === 'number' && Number.isFinite(value) ? value : undefined

/** The value in a text that may be a number, a truth or an object. */
function valueIn(text: string): unknown {
  if (!/^(?:[-\d{]|true$|false$)/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Numbers of a score, or of its members; truths count as 1 and 0. */
function numbersOf(name: string, text: string): [name: string, value: number][] {
  const value = valueIn(text)
  const own = numberOf(value)
  if (own !== undefined) return [[name, own]]
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value)
    .slice(0, maxMembers)
    .flatMap(([member, one]) => {
      const number = numberOf(one)
      return number === undefined ? [] : [[`${name}.${member}`, number] as [string, number]]
    })
}

function scoresOf({ feedback_type, value, output }: Given): [name: string, value: number][] {
  const [, kind, name] = /^\w+\.(annotation|runnable)\.(.+)$/.exec(feedback_type) ?? []
  if (name === undefined) return []
  return numbersOf(name, kind === 'annotation' ? value : output)
}

/** The last bucket that begins by then; -1 before the first. */
function bucketAt(starts: readonly number[], at: number): number {
  let [low, high] = [0, starts.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((starts[middle] as number) <= at) low = middle + 1
    else high = middle
  }
  return low - 1
}

export function feedbackSeries(items: readonly Given[], buckets: readonly string[]) {
  const starts = buckets.map((time) => Date.parse(time))
  const found = { reactions: new Map<string, number[]>(), scores: new Map<string, [sum: number, count: number][]>() }
  for (const item of items) {
    const bucket = bucketAt(starts, Date.parse(item.created_at))
    if (bucket < 0) continue
    const sign = isReaction(item.feedback_type) ? item.emoji : ''
    if (sign !== '') {
      const counts = found.reactions.get(sign) ?? buckets.map(() => 0)
      counts[bucket] = (counts[bucket] ?? 0) + 1
      found.reactions.set(sign, counts)
    }
    for (const [name, value] of scoresOf(item)) {
      const sums = found.scores.get(name) ?? buckets.map(() => [0, 0] as [number, number])
      const at = sums[bucket] as [number, number]
      at[0] += value
      at[1]++
      found.scores.set(name, sums)
    }
  }
  const most = (all: Values[]) =>
    all.sort((a, b) => b.items - a.items || (a.name < b.name ? -1 : 1)).slice(0, maxSeries)
  return {
    reactions: most(
      [...found.reactions].map(([name, values]) => ({
        name,
        values,
        items: values.reduce((sum, one) => sum + one, 0),
      })),
    ),
    scores: most(
      [...found.scores].map(([name, sums]) => ({
        name,
        items: sums.reduce((sum, [, count]) => sum + count, 0),
        values: sums.map(([sum, count]) => (count === 0 ? null : sum / count)),
      })),
    ),
  }
}
