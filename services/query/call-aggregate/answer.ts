// The answer of an aggregate from its rows: groups with a value per bucket, the greatest first, the rest last.
import type { CallsAggregateResponse } from '../../../schemas/calls-aggregate.ts'
import type { Aggregate } from '../call-stats/aggregates.ts'
import { costsOfSums, placeOfSum } from '../call-stats/costs.ts'
import type { PriceBook } from '../costs/prices.ts'
import type { AggregateMetrics } from './metrics.ts'

type Value = number | null
/** Bucket, whether its group is kept apart, keys, number of data points, of costs the model and the time of its price, values. */
export type AggregateRow = [bucket: string, kept: 0 | 1, ...rest: (string | number | null)[]]
export type AggregateRows = { calls: AggregateRow[]; usage: AggregateRow[]; cost: AggregateRow[] }

/** `rest`: whether all groups beside the greatest are one more. */
export type AnswerShape = { keys: number; metrics: AggregateMetrics; book: PriceBook | null; rest: boolean }
type Cells = Map<string, Record<string, Value>>
type Found = { keys: string[]; cells: Cells }

const groupName = (isKept: boolean, keys: readonly string[]): string => JSON.stringify([isKept, ...keys])

/** Values by group, bucket and name of the metric. */
function groupsOf(rows: AggregateRows, shape: AnswerShape): Map<string, Found> {
  const { keys: count, metrics } = shape
  const groups = new Map<string, Found>()
  const cellsOf = (row: AggregateRow): Record<string, Value> => {
    const [bucket, kept] = row
    const keys = row.slice(2, 2 + count) as string[]
    const key = groupName(kept === 1, keys)
    const group = groups.get(key) ?? { keys, cells: new Map() }
    groups.set(key, group)
    const cells = group.cells.get(bucket) ?? {}
    group.cells.set(bucket, cells)
    return cells
  }
  const place = (list: readonly Aggregate[], key: string): number => list.findIndex((one) => one.key === key)
  for (const kind of ['calls', 'usage'] as const) {
    const wanted = metrics.all.flatMap((one) =>
      one.of === kind ? [{ name: one.name, at: place(metrics[kind], one.key) }] : [],
    )
    for (const row of rows[kind]) {
      const cells = cellsOf(row)
      for (const { name, at } of wanted) cells[name] = (row[3 + count + at] ?? null) as Value
    }
  }
  addCosts(rows.cost, shape, cellsOf)
  return groups
}

/** Adds the costs to the cells of their rows, and the usage that stands beside them. */
function addCosts(
  rows: readonly AggregateRow[],
  { keys: count, metrics, book }: AnswerShape,
  cellsOf: (row: AggregateRow) => Record<string, Value>,
): void {
  if (book === null) return
  const costs = metrics.all.flatMap((one) =>
    one.of === 'cost' ? [{ name: one.name, key: `sum_${one.metric.metric}` }] : [],
  )
  const sumsOfUsage = metrics.all.flatMap((one) =>
    one.of === 'usage' && metrics.isUsageOfCosts ? [{ name: one.name, at: placeOfSum(one.key) }] : [],
  )
  for (const row of rows) {
    const cells = cellsOf(row)
    const model = String(row[3 + count])
    const price = book.at(model, Number(row[4 + count]))
    const sums = row.slice(5 + count) as Value[]
    for (const { name, at } of sumsOfUsage) cells[name] = (cells[name] ?? 0) + (sums[at] ?? 0)
    if (!sums.some(isUsed)) continue
    const values = costsOfSums(metrics.costs, price, sums)
    for (const { name, key } of costs) cells[name] = added(cells[name], price === null ? null : (values[key] ?? 0))
  }
}

const isUsed = (sum: Value): boolean => sum !== null && sum !== 0

/**
 * Adds a value. A value without a price is not nothing: a sum of such values alone is null. @param value null = it has
 * no price
 */
const added = (sum: Value | undefined, value: number | null): Value =>
  value === null ? (sum ?? null) : (sum ?? 0) + value

/** The models without a price whose tokens are in no cost; undefined = no costs were asked for. */
export function unpricedOf(rows: AggregateRows, { keys, book }: AnswerShape): string[] | undefined {
  if (book === null) return undefined
  const used = rows.cost.filter((row) => (row.slice(5 + keys) as Value[]).some(isUsed))
  const models = new Set(used.map((row) => String(row[3 + keys])))
  return [...models].filter((model) => book.latest(model) === null).sort()
}

/** The value where there is no data point: sums and counts of nothing are 0. */
const emptyOf = (name: string): Value => (/\.(?:sum|count)$/.test(name) ? 0 : null)

/** The keys of the greatest groups by the first metric. */
export function topOf(rows: AggregateRows, shape: AnswerShape, top: number): string[][] {
  const [by] = shape.metrics.all
  const value = ({ cells }: Found): number => cells.get('')?.[by?.name ?? ''] ?? Number.NEGATIVE_INFINITY
  return [...groupsOf(rows, shape).values()]
    .sort((a, b) => value(b) - value(a) || (a.keys.join('\0') < b.keys.join('\0') ? -1 : 1))
    .slice(0, top)
    .map(({ keys }) => keys)
}

/** @param isBucketed whether rows over all buckets stand beside those of each */
export function answerOf(
  rows: AggregateRows,
  buckets: readonly string[],
  isBucketed: boolean,
  order: readonly string[][],
  shape: AnswerShape,
): CallsAggregateResponse['groups'] {
  const groups = groupsOf(rows, shape)
  const names = shape.metrics.all.map(({ name }) => name)
  const keysInOrder = shape.keys === 0 ? [[]] : order
  const all = [
    ...keysInOrder.map((keys) => ({ keys, is_rest: false })),
    ...(shape.keys === 0 || !shape.rest ? [] : [{ keys: Array(shape.keys).fill('') as string[], is_rest: true }]),
  ]
  return all.flatMap(({ keys, is_rest }) => {
    const found = groups.get(groupName(!is_rest, keys))
    if (is_rest && found === undefined) return []
    const at = (bucket: string, name: string): Value => {
      const value = found?.cells.get(bucket)?.[name]
      return value === undefined ? emptyOf(name) : value
    }
    const series = isBucketed ? names.map((name) => [name, buckets.map((bucket) => at(bucket, name))]) : []
    const total = names.map((name) => [name, at('', name)])
    return [{ keys, is_rest, series: Object.fromEntries(series), total: Object.fromEntries(total) }]
  })
}
