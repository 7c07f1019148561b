// What the results of an evaluation come to, column by column; the first value of a column tells its type.
import { isLosslessObject, isRawNumber } from '../../core/json/lossless.ts'

/** NaN for what is no number. */
export const numberOf = (value: unknown): number =>
  isRawNumber(value) ? Number(value.rawJSON) : typeof value === 'number' ? value : Number.NaN

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** Nulls do not count; undefined = nothing to say: texts, lists, or no value at all. */
export function summaryOf(values: readonly unknown[]): unknown {
  const present = values.filter((value) => value !== null && value !== undefined)
  const [first] = present
  if (typeof first === 'boolean') {
    const count = present.filter((value) => value === true).length
    return { true_count: count, true_fraction: count / present.length }
  }
  if (Number.isFinite(numberOf(first))) return { mean: meanOf(present.map(numberOf).filter(Number.isFinite)) }
  if (!isLosslessObject(first)) return undefined
  const columns = new Map<string, unknown[]>()
  for (const value of present)
    for (const [name, member] of isLosslessObject(value) ? Object.entries(value) : []) {
      const column = columns.get(name)
      if (column) column.push(member)
      else columns.set(name, [member])
    }
  const found = [...columns].flatMap(([name, column]): [string, unknown][] => {
    const summary = summaryOf(column)
    return summary === undefined ? [] : [[name, summary]]
  })
  return found.length === 0 ? undefined : Object.fromEntries(found)
}

/** Output of a call around one prediction and its scores. */
export type RowResult = { output: unknown; scores: Record<string, unknown>; latency: number | null }

/** @param scorers names in the order of the evaluation */
export function evaluationSummary(results: readonly RowResult[], scorers: readonly string[]): Record<string, unknown> {
  const latencies = results.flatMap(({ latency }) => latency ?? [])
  const columns: [string, unknown][] = [
    ...scorers.map((name): [string, unknown] => [name, summaryOf(results.map(({ scores }) => scores[name] ?? {}))]),
    ['output', summaryOf(results.map(({ output }) => output))],
    ['model_latency', latencies.length === 0 ? undefined : { mean: meanOf(latencies) }],
  ]
  return Object.fromEntries(columns.filter(([, value]) => value !== undefined))
}
