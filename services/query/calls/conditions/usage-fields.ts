// Fields of calls that follow from the usage that they report: models, tokens, and what they cost by the prices of today.
import { param, type Sql, sql } from '../../../core/store/sql.ts'
import { billedOf, nothingBilled } from '../../costs/billed.ts'
import { type Price, type PriceBook, totalsOf } from '../../costs/prices.ts'
import type { Column, ColumnSql, Row } from '../../language/types.ts'

/** Every model of a call, each an element: for conditions that name one of them. */
export const modelList = { name: 'summary.weave.models', column: 'usage_model' } as const
export const costFieldName = 'summary.weave.cost'

const listAt = (row: Row, column: string): readonly string[] => {
  const value = row[column]
  return Array.isArray(value) ? (value as readonly string[]) : []
}
const sumAt = (row: Row, columns: readonly string[]): number =>
  columns.flatMap((column) => listAt(row, column)).reduce((sum, one) => sum + Number(one), 0)

const model: Column = {
  name: 'summary.weave.model',
  kind: 'string',
  nullable: true,
  reads: ['usage_model'],
  sql: (of) => sql`nullIf(arrayStringConcat(arrayMap(model -> toString(model), ${of('usage_model')}), ', '), '')`,
  read: (row) => listAt(row, 'usage_model').join(', ') || null,
}

/** Sums over the models of a call; a call without usage has none. */
function tokens(name: string, columns: readonly string[]): Column {
  const sums = (of: ColumnSql): Sql =>
    columns.map((column) => sql`arraySum(${of(column)})`).reduce((sum, one) => sql`${sum} + ${one}`)
  return {
    name: `summary.weave.${name}`,
    kind: 'int',
    nullable: true,
    reads: ['usage_model', ...columns],
    sql: (of) => sql`if(empty(${of('usage_model')}), NULL, ${sums(of)})`,
    read: (row) => (listAt(row, 'usage_model').length === 0 ? null : BigInt(sumAt(row, columns))),
  }
}

export const usageColumns: readonly Column[] = [
  model,
  tokens('tokens', ['usage_input', 'usage_output']),
  tokens('input_tokens', ['usage_input']),
  tokens('output_tokens', ['usage_output']),
]

/** Prices of models over time: of each the prices that follow one another, the first from the beginning of time. */
export type ModelPrices = ReadonlyMap<string, readonly { fromUs: number; price: Price }[]>

/** Before all times that calls have. */
const everUs = -(2 ** 53 - 1)

/** @param models names as calls report them; those without a price are left out */
export function modelPrices(book: PriceBook, models: readonly string[]): ModelPrices {
  const found = new Map<string, { fromUs: number; price: Price }[]>()
  for (const name of models) {
    const starts = [everUs, ...new Set(book.all(name).map(({ effectiveUs }) => effectiveUs))].sort((a, b) => a - b)
    const steps = starts.flatMap((fromUs) => {
      const price = book.at(name, fromUs)
      return price === null ? [] : [{ fromUs, price }]
    })
    if (steps.length > 0) found.set(name, steps)
  }
  return found
}

function costSql(prices: ModelPrices, of: ColumnSql): Sql {
  if (prices.size === 0) return sql`CAST(NULL, 'Nullable(Float64)')`
  const names = param('Array(String)', [...prices.keys()])
  const steps = [...prices.values()]
  const all = steps.flat()
  let before = 0
  const starts = steps.map(({ length }) => {
    before += length
    return before - length + 1
  })
  const numbers = (of: (price: Price) => number): Sql =>
    param(
      'Array(Float64)',
      all.map(({ price }) => of(price)),
    )
  const table = sql`arrayZip(${param(
    'Array(Int64)',
    all.map(({ fromUs }) => fromUs),
  )}, ${numbers((one) => one.prompt)},
    ${numbers((one) => one.completion)}, ${numbers((one) => one.cacheRead)}, ${numbers((one) => one.cacheWrite)},
    ${numbers((one) => one.cacheWrite1h)}, ${numbers(({ isAnthropic }) => Number(isAnthropic))})`
  const started = sql`toUnixTimestamp64Micro(${of('started_at')})`
  const priced = (name: Sql): Sql =>
    sql`transform(${name}, ${names}, ${param(
      'Array(Int64)',
      steps.map(({ length }) => length),
    )}, 0)`
  const first = sql`transform(name, ${names}, ${param('Array(Int64)', starts)}, 1)`
  // u: input, output; p: the price that is in force; b: what is billed beside the counts, as billedOf and totalsOf have it.
  const entries = sql`arrayMap((name, input, output) -> (
      (toFloat64(input), toFloat64(output)),
      arrayLast(step -> step.1 <= ${started}, arraySlice(${table}, ${first}, ${priced(sql`name`)})),
      arrayFirst(bill -> bill.1 = name, JSONExtract(${of('billed_usage')}, 'Array(Tuple(String, Float64, Float64, Float64, Float64, Float64, Float64))'))
    ), arrayMap(name -> toString(name), ${of('usage_model')}), ${of('usage_input')}, ${of('usage_output')})`
  const apart = sql`if(${of('counts_cached')} = 'true', 0, entry.3.3)`
  const sum = sql`arraySum(entry -> (entry.1.1 - entry.3.2 + entry.2.7 * ${apart}) * entry.2.2 + (entry.1.2 + entry.3.7) * entry.2.3
      + entry.3.4 * entry.2.4 + entry.3.5 * entry.2.5 + entry.3.6 * entry.2.6, ${entries})`
  return sql`if(arrayExists(name -> ${priced(sql`toString(name)`)} > 0, ${of('usage_model')}), ${sum}, NULL)`
}

function costOf(prices: ModelPrices, row: Row): number | null {
  const text = (name: string): Buffer | undefined => (row[name] ? Buffer.from(String(row[name])) : undefined)
  const [billed_usage, counts_cached] = [text('billed_usage'), text('counts_cached')]
  const billed = billedOf({ ...(billed_usage && { billed_usage }), ...(counts_cached && { counts_cached }) })
  const [input, output] = [listAt(row, 'usage_input'), listAt(row, 'usage_output')]
  const costs = listAt(row, 'usage_model').flatMap((name, n) => {
    const step = prices.get(name)?.findLast(({ fromUs }) => fromUs <= Number(row.started_at))
    if (step === undefined) return []
    const counts = { prompt: Number(input[n] ?? 0), completion: Number(output[n] ?? 0) }
    return totalsOf(step.price, counts, billed.get(name) ?? nothingBilled).reduce((sum, one) => sum + one)
  })
  return costs.length === 0 ? null : costs.reduce((sum, one) => sum + one)
}

/** The cost of a call in dollars, as its record shows it; null where no model of it has a price. */
export const costColumn = (prices: ModelPrices): Column => ({
  name: costFieldName,
  kind: 'double',
  nullable: true,
  reads: ['started_at', 'usage_model', 'usage_input', 'usage_output', 'billed_usage', 'counts_cached'],
  sql: (of) => costSql(prices, of),
  read: (row) => costOf(prices, row),
})
