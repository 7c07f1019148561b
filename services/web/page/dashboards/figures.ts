// Figures of dashboards: metrics of an aggregate, their format, and the series of its groups.

import type { RowsOf } from '../engine/filter-fields.ts'
import { count, duration, money, tokens } from '../engine/format.ts'
import type { Shapes } from '../routes.gen.ts'

/** One line, or one colour of a stack, over the buckets of a chart. */
export type Series = { name: string; color: string; values: readonly (number | null)[] }

/** A path of a chart: `size` buckets wide and `height` high. */
export type Drawn = { name: string; color: string; path: string; as: 'line' | 'dashed' | 'area'; opacity?: number }

export type Aggregate = Shapes['calls.aggregate']['out']
export type Group = Aggregate['groups'][number]

/** A metric of a group by its name, `calls.sum`. */
export type MetricOf = (name: string) => number | null | undefined
/** A value that is made of metrics. */
export type Figure = (of: MetricOf) => number | null

export const sums = (...fields: string[]) => fields.map((field) => ({ field, as: 'sum' }))
export const latencies = ['p50', 'p95', 'p99'].map((as) => ({ field: 'latency_ms', as }))

/** Colours of groups, in the order of their size; all others together come last. */
const colors = ['--llm', '--tool', '--agent', '--retrieval', '--evaluation', '--embedding', '--guardrail']
/** Groups that are told apart. */
export const maxGroups = colors.length

export const colorOf = (place: number): string => colors[place % colors.length] as string

export const numberOr0 = (value: number | null | undefined): number => value ?? 0

/** Names of what is counted, and of how long it took. */
export const counted = {
  calls: { calls: 'Calls', errors: 'Errors', both: 'Calls and errors', latency: 'Latency' },
  traces: { calls: 'Traces', errors: 'With errors', both: 'Traces and those with errors', latency: 'Duration' },
} satisfies Readonly<Record<RowsOf, Readonly<Record<string, string>>>>
type Words = (typeof counted)[RowsOf]

/** Beside the title of a chart that counts no calls. */
export const countedText = (rows: RowsOf): string => (rows === 'traces' ? 'whole traces' : '')

export type Tile = {
  label: string
  shownAs(value: number | null): string
  of(group: Group): number | null
  isOfErrors?: true
}

export const share = (value: number | null): string =>
  value === null ? '–' : `${(value * 100).toFixed(value < 0.1 ? 1 : 0)} %`
export const countOf = (value: number | null): string => count(value ?? 0)
const total = (name: string) => (group: Group) => group.total[name] ?? null
/** Providers need not report totals. */
const tokensOf = ({ total }: Group): number | null => {
  const [input, output] = [total['input_tokens.sum'] ?? null, total['output_tokens.sum'] ?? null]
  return input === null && output === null ? null : numberOr0(input) + numberOr0(output)
}

export const tilesOf = ({ calls, latency }: Words): readonly Tile[] => [
  { label: calls, shownAs: countOf, of: total('calls.sum') },
  {
    label: 'Error rate',
    shownAs: share,
    of: ({ total }) => (total['calls.sum'] ? numberOr0(total['errors.sum']) / total['calls.sum'] : null),
  },
  { label: `${latency} p50`, shownAs: duration, of: total('latency_ms.p50') },
  { label: `${latency} p95`, shownAs: duration, of: total('latency_ms.p95') },
  { label: 'Tokens', shownAs: tokens, of: tokensOf },
  { label: 'Cost', shownAs: money, of: total('total_cost.sum') },
]

const nameOf = ({ keys, is_rest }: Group): string =>
  is_rest ? 'all others' : keys.map((key) => key || 'unknown').join(' · ')

/** The series of each group with anything to show. */
export function byGroup(answer: Aggregate | undefined, value: Figure): Series[] {
  return (answer?.groups ?? [])
    .filter(({ total }) => numberOr0(value((metric) => total[metric])) > 0)
    .map((group, n) => ({
      name: nameOf(group),
      color: group.is_rest ? '--other' : colorOf(n),
      values: (answer?.buckets ?? []).map((_, at) => value((metric) => group.series[metric]?.[at])),
    }))
}

/** The figures of a ranked group. */
export const rankedFigures = ({ calls, errors }: Words): readonly Tile[] => [
  { label: calls, shownAs: countOf, of: total('calls.sum') },
  { label: errors, shownAs: countOf, of: total('errors.sum'), isOfErrors: true },
  { label: 'p95', shownAs: duration, of: total('latency_ms.p95') },
  { label: 'Tokens', shownAs: tokens, of: tokensOf },
  { label: 'Cost', shownAs: money, of: total('total_cost.sum') },
]
