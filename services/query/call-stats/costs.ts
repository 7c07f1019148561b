// Cost metrics of a time series: from the token sums of a row and the price of its model.
import { type Billed, nothingBilled } from '../costs/billed.ts'
import { type Price, totalsOf } from '../costs/prices.ts'
import { type Aggregate, aggregatesOf, type MetricSpec } from './aggregates.ts'
import { billedMetrics, usageMetrics } from './metrics.ts'

/** Token sums that each cost shows beside it. */
const shownSums = {
  input_cost: ['input_tokens'],
  output_cost: ['output_tokens'],
  total_cost: ['input_tokens', 'output_tokens'],
} as const

type CostMetric = keyof typeof shownSums

export const isCost = (metric: string): metric is CostMetric => metric in shownSums

/** Sums that every cost is made of, in the order in which `costsOfSums` takes them. */
export const tokenSums: readonly Aggregate[] = aggregatesOf(
  ['input_tokens', 'output_tokens', ...Object.keys(billedMetrics)].map((metric) => ({
    metric,
    aggregations: [],
    percentiles: [],
  })),
  { ...usageMetrics, ...billedMetrics },
)

/** Index of a sum among them; -1 for other keys. */
export const placeOfSum = (key: string): number => tokenSums.findIndex((sum) => sum.key === key)

/**
 * The metrics without the costs, which have neither aggregations nor percentiles. A cost brings the sums of its tokens
 * along, unless these tokens are asked for themselves.
 */
export function tokenMetrics(metrics: readonly MetricSpec[]): MetricSpec[] {
  const asked = metrics.filter(({ metric }) => !isCost(metric))
  const names = new Set(asked.map(({ metric }) => metric))
  const sums = metrics.flatMap(({ metric }) => (isCost(metric) ? shownSums[metric] : []))
  for (const metric of new Set(sums)) if (!names.has(metric)) asked.push({ metric, aggregations: [], percentiles: [] })
  return asked
}

/** The costs that were asked for; 0 for a model without a price. */
export function costsOfSums(
  metrics: readonly MetricSpec[],
  price: Price | null,
  sums: readonly (number | null)[],
): Record<string, number> {
  const [prompt = 0, completion = 0, ...numbers] = sums.map((sum) => sum ?? 0)
  // The columns have the order of these numbers.
  const billed = Object.fromEntries(Object.keys(nothingBilled).map((name, n) => [name, numbers[n] ?? 0])) as Billed
  const [input, output, read, write] = price ? totalsOf(price, { prompt, completion }, billed) : [0, 0, 0, 0]
  const values = { input_cost: input, output_cost: output, total_cost: input + output + read + write }
  return Object.fromEntries(
    metrics.flatMap(({ metric }) => (isCost(metric) ? [[`sum_${metric}`, values[metric]]] : [])),
  )
}
