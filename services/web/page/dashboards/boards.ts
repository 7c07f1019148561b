// The dashboards that every project has: which panels each shows, and what is asked for them.
import { duration, money, tokens } from '../engine/format.ts'
import type { Series } from './chart.tsx'
import { type Aggregate, byGroup, countOf, maxGroups, numberOr0, share, sums } from './figures.ts'

type Metric = { field: string; as: string }

export type ChartPanel = {
  title: string
  kind: 'bars' | 'lines' | 'stack'
  shownAs(value: number | null): string
  /** What is asked for, absent: what the head figures are of. Panels that ask for the same share one request. */
  asked?: { metrics: Metric[]; group_by?: string[]; top?: number }
  /** A further term of the filter. */
  term?: string
  series(answer: Aggregate | undefined): Series[]
}

export type RankingPanel = {
  title: string
  /** Of the column with the names. */
  head: string
  groupBy: 'op_name' | 'user' | 'model' | 'exception'
  /** The greatest of it come first. */
  first: Metric
  term?: string
}

export type Board = { title: string; charts: readonly ChartPanel[]; rankings: readonly RankingPanel[] }

/** One series of the whole: a metric under its name. */
const own = (metrics: readonly (readonly [metric: string, name: string, color: string])[]) => (answer?: Aggregate) =>
  metrics.map(([metric, name, color]) => ({ name, color, values: answer?.groups[0]?.series[metric] ?? [] }))

const costs = { metrics: sums('total_cost', 'input_tokens', 'output_tokens') }
const by = (key: string, asked: { metrics: Metric[] }) => ({ ...asked, group_by: [key], top: maxGroups })
const [calls, errors, cost] = sums('calls', 'errors', 'total_cost') as [Metric, Metric, Metric]
const p95 = { field: 'latency_ms', as: 'p95' }

const callsAndErrors: ChartPanel = {
  ...{ title: 'Calls and errors', kind: 'bars', shownAs: countOf },
  series: own([
    ['calls.sum', 'calls', '--accent'],
    ['errors.sum', 'errors', '--danger'],
  ]),
}
const latency: ChartPanel = {
  ...{ title: 'Latency', kind: 'lines', shownAs: duration },
  series: own([
    ['latency_ms.p50', 'p50', '--success'],
    ['latency_ms.p95', 'p95', '--warning'],
    ['latency_ms.p99', 'p99', '--danger'],
  ]),
}
const tokensByModel: ChartPanel = {
  ...{ title: 'Tokens by model', kind: 'stack', shownAs: tokens, asked: by('model', costs) },
  series: (answer) => byGroup(answer, 'input_tokens.sum', 'output_tokens.sum'),
}
const costBy = (what: string, key: string): ChartPanel => ({
  ...{ title: `Cost by ${what}`, kind: 'stack', shownAs: money, asked: by(key, costs) },
  series: (answer) => byGroup(answer, 'total_cost.sum'),
})

export const boards = {
  overview: {
    title: 'Overview',
    charts: [callsAndErrors, latency, tokensByModel, costBy('model', 'model')],
    rankings: [
      { title: 'Operations with most calls', head: 'Operation', groupBy: 'op_name', first: calls },
      { title: 'Users with most calls', head: 'User', groupBy: 'user', first: calls },
    ],
  },
  cost: {
    title: 'Cost',
    charts: [costBy('model', 'model'), costBy('operation', 'op_name'), costBy('user', 'user'), tokensByModel],
    rankings: [
      { title: 'Operations with most cost', head: 'Operation', groupBy: 'op_name', first: cost },
      { title: 'Users with most cost', head: 'User', groupBy: 'user', first: cost },
    ],
  },
  errors: {
    title: 'Errors',
    charts: [
      {
        ...{ title: 'Error rate', kind: 'lines', shownAs: share },
        series: (answer) => {
          const { 'calls.sum': all = [], 'errors.sum': failed = [] } = answer?.groups[0]?.series ?? {}
          const values = all.map((value, n) => (value ? numberOr0(failed[n]) / value : null))
          return [{ name: 'error rate', color: '--danger', values }]
        },
      },
      {
        ...{ title: 'Errors by operation', kind: 'stack', shownAs: countOf, term: 'status:error' },
        asked: by('op_name', { metrics: [errors] }),
        series: (answer) => byGroup(answer, 'errors.sum'),
      },
    ],
    rankings: [
      { title: 'Most frequent errors', head: 'Message', groupBy: 'exception', first: errors, term: 'status:error' },
      { title: 'Operations with most errors', head: 'Operation', groupBy: 'op_name', first: errors },
    ],
  },
  latency: {
    title: 'Latency',
    charts: [
      latency,
      {
        ...{ title: 'Latency p95 by operation', kind: 'lines', shownAs: duration },
        asked: by('op_name', { metrics: [p95] }),
        series: (answer) => byGroup(answer, 'latency_ms.p95'),
      },
    ],
    rankings: [
      { title: 'Slowest operations', head: 'Operation', groupBy: 'op_name', first: p95 },
      { title: 'Slowest models', head: 'Model', groupBy: 'model', first: p95 },
    ],
  },
} satisfies Readonly<Record<string, Board>>

export type BoardName = keyof typeof boards
export const boardNames = Object.keys(boards) as BoardName[]
