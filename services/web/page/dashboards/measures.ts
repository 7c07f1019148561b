// Measures of panels: the metrics of the aggregate request, and the values computed from them.
import type { AxisUnit } from '../engine/axis-ticks.ts'
import { fieldAsked } from '../engine/boards.ts'
import type { RowsOf } from '../engine/filter-fields.ts'
import { count, duration, money, tokens } from '../engine/format.ts'
import {
  type Aggregate,
  byGroup,
  counted,
  countOf,
  type Figure,
  type MetricOf,
  numberOr0,
  type Series,
  share,
  sums,
} from './figures.ts'

export type Metric = { field: string; as: string }

export type Measure = {
  label: string
  /** Metrics of the request; panels with the same ones share one request. */
  asked: readonly Metric[]
  /** Groups are told apart by it, and the greatest come first in a table. */
  first: Metric
  shownAs(value: number | null): string
  unit: AxisUnit
  /** One series each of the whole. */
  lines: readonly (readonly [name: string, color: string, of: Figure])[]
  /** The value of a group, and the single figure. */
  main: Figure
}

const metric =
  (name: string): Figure =>
  (of: MetricOf) =>
    of(name) ?? null

/** The sum of those that there are; providers need not report all. */
const sumOf =
  (...names: string[]): Figure =>
  (of) =>
    names.every((name) => (of(name) ?? null) === null)
      ? null
      : names.reduce((sum, name) => sum + numberOr0(of(name)), 0)

const rounded = (value: number | null): string => (value === null ? '–' : String(Number(value.toPrecision(3))))

const errorRate: Figure = (of) => {
  const calls = of('calls.sum')
  return calls ? numberOr0(of('errors.sum')) / calls : null
}

const [calls, errors, cost] = sums('calls', 'errors', 'total_cost') as [Metric, Metric, Metric]
const p95 = { field: 'latency_ms', as: 'p95' }
/** Costs and tokens are asked for together. */
const costs = sums('total_cost', 'input_tokens', 'output_tokens')
const percentiles: readonly (readonly [as: string, color: string])[] = [
  ['p50', '--success'],
  ['p95', '--warning'],
  ['p99', '--danger'],
]

/** Formats of values beside a chart, by unit. */
const writtenAs = {
  count: countOf,
  duration,
  money,
  number: (value: number | null) => (value === null ? '–' : count(value)),
} as const

const one = (label: string, first: Metric, unit: keyof typeof writtenAs, color: string, asked = [first]): Measure => {
  const main = metric(`${first.field}.${first.as}`)
  const shownAs = writtenAs[unit]
  return { label, asked, first, shownAs, unit, lines: [[label.toLowerCase(), color, main]], main }
}

const measuresBy = (of: (typeof counted)[RowsOf]) =>
  ({
    calls: one(of.calls, calls, 'count', '--accent'),
    errors: one(of.errors, errors, 'count', '--danger'),
    calls_errors: {
      ...one(of.both, calls, 'count', '--accent', [calls, errors]),
      lines: [
        [of.calls.toLowerCase(), '--accent', metric('calls.sum')],
        [of.errors.toLowerCase(), '--danger', metric('errors.sum')],
      ],
    },
    error_rate: {
      label: 'Error rate',
      asked: [calls, errors],
      first: errors,
      shownAs: share,
      unit: 'share',
      main: errorRate,
      lines: [['error rate', '--danger', errorRate]],
    },
    latency: {
      ...one(`${of.latency} p50, p95 and p99`, p95, 'duration', '--warning'),
      asked: percentiles.map(([as]) => ({ field: 'latency_ms', as })),
      lines: percentiles.map(([as, color]) => [as, color, metric(`latency_ms.${as}`)] as const),
    },
    p95: one(`${of.latency} p95`, p95, 'duration', '--warning'),
    tokens: {
      label: 'Tokens',
      asked: costs,
      first: costs[1] as Metric,
      shownAs: tokens,
      unit: 'tokens',
      lines: [
        ['input', '--accent', metric('input_tokens.sum')],
        ['output', '--success', metric('output_tokens.sum')],
      ],
      main: sumOf('input_tokens.sum', 'output_tokens.sum'),
    },
    cost: one('Cost', cost, 'money', '--accent', costs),
  }) satisfies Readonly<Record<string, Measure>>

/** The measures of calls, and of whole traces. */
export const measures = { calls: measuresBy(counted.calls), traces: measuresBy(counted.traces) }

export type MeasureName = keyof typeof measures.calls
export const measureNames = Object.keys(measures.calls) as MeasureName[]

/** Measures of feedback, by the time when it was given; its series are its values. */
export const feedbackMeasures = {
  scores: { label: 'Scores and annotations (mean)', shownAs: rounded, unit: 'number' },
  reactions: { label: 'Reactions', shownAs: countOf, unit: 'count' },
} satisfies Readonly<Record<string, Pick<Measure, 'label' | 'shownAs' | 'unit'>>>
export type FeedbackMeasure = keyof typeof feedbackMeasures
export const isOfFeedback = (name: string): name is FeedbackMeasure => Object.hasOwn(feedbackMeasures, name)

/** The field of a histogram's measure, `count output.score`. */
export const fieldOf = (name: string): string | undefined => /^\S+ (\S.{0,199})$/.exec(name)?.[1]

/** Aggregates of numbers of a field. */
export const fieldAggregates = ['avg', 'sum', 'min', 'max', 'p50', 'p95', 'count'] as const

const isOf = <Name extends string>(names: readonly Name[], name: string): name is Name =>
  (names as readonly string[]).includes(name)

/** A measure by its name, or of a field: `avg output.score`; undefined where there is none. */
export function measureNamed(name: string, rows: RowsOf = 'calls'): Measure | undefined {
  if (isOf(measureNames, name)) return measures[rows][name]
  const [, as = '', field = ''] = /^(\S+) (\S.{0,199})$/.exec(name) ?? []
  if (!isOf(fieldAggregates, as)) return undefined
  return one(`${field} ${as}`, { field: fieldAsked(field), as }, 'number', '--accent')
}

/** The series of a measure: of the whole, or one per group. */
export function seriesOf({ lines, main }: Measure, answer: Aggregate | undefined, isGrouped: boolean): Series[] {
  if (isGrouped) return byGroup(answer, main)
  const { series = {} } = answer?.groups[0] ?? {}
  return lines.map(([name, color, of]) => ({
    name,
    color,
    values: (answer?.buckets ?? []).map((_, at) => of((metric) => series[metric]?.[at] ?? null)),
  }))
}
