// Sums up the results of an evaluation, column by column; the first value of a column sets its type. Rows that failed
// count in the denominators.
import { isLosslessObject, isRawNumber } from '../../core/json/lossless.ts'

/** NaN for what is no number. */
export const numberOf = (value: unknown): number =>
  isRawNumber(value) ? Number(value.rawJSON) : typeof value === 'number' ? value : Number.NaN

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

/**
 * Nulls do not count; undefined = nothing to say: texts, lists, or no value at all.
 * @param failed rows that gave no value because something failed: they count in denominators
 */
export function summaryOf(values: readonly unknown[], failed = 0): unknown {
  const present = values.filter((value) => value !== null && value !== undefined)
  const [first] = present
  if (typeof first === 'boolean') {
    const count = present.filter((value) => value === true).length
    return { true_count: count, true_fraction: count / (present.length + failed) }
  }
  if (Number.isFinite(numberOf(first))) {
    const numbers = present.map(numberOf).filter(Number.isFinite)
    return { mean: sumOf(numbers) / (numbers.length + failed) }
  }
  if (!isLosslessObject(first)) return undefined
  const columns = new Map<string, unknown[]>()
  for (const value of present)
    for (const [name, member] of isLosslessObject(value) ? Object.entries(value) : []) {
      const column = columns.get(name)
      if (column) column.push(member)
      else columns.set(name, [member])
    }
  const found = [...columns].flatMap(([name, column]): [string, unknown][] => {
    const summary = summaryOf(column, failed)
    return summary === undefined ? [] : [[name, summary]]
  })
  return found.length === 0 ? undefined : Object.fromEntries(found)
}

/** Failures of a row, by messages. */
export type RowFailures = { prediction?: string; scores?: Record<string, string> }

/** Output of a call around one prediction and its scores. */
export type RowResult = {
  output: unknown
  scores: Record<string, unknown>
  latency: number | null
  failures: RowFailures
}

/** Number of rows with failures, by kind. */
function failuresOf(results: readonly RowResult[]): Record<string, unknown> | undefined {
  const failed = results.filter(({ failures }) => Object.keys(failures).length > 0)
  if (failed.length === 0) return undefined
  const scores: Record<string, number> = {}
  for (const { failures } of failed)
    for (const name of Object.keys(failures.scores ?? {})) scores[name] = (scores[name] ?? 0) + 1
  return {
    rows: failed.length,
    of: results.length,
    predictions: failed.filter(({ failures }) => failures.prediction !== undefined).length,
    scores,
  }
}

/** @param scorers names in the order of the evaluation */
export function evaluationSummary(results: readonly RowResult[], scorers: readonly string[]): Record<string, unknown> {
  const latencies = results.flatMap(({ latency }) => latency ?? [])
  const failedFor = (name: string) =>
    results.filter(({ failures }) => failures.prediction !== undefined || failures.scores?.[name] !== undefined).length
  const columns: [string, unknown][] = [
    ['failures', failuresOf(results)],
    ...scorers.map((name): [string, unknown] => [
      name,
      summaryOf(
        results.map(({ scores }) => scores[name]),
        failedFor(name),
      ),
    ]),
    ['output', summaryOf(results.map(({ output }) => output))],
    ['model_latency', latencies.length === 0 ? undefined : { mean: sumOf(latencies) / latencies.length }],
  ]
  return Object.fromEntries(columns.filter(([, value]) => value !== undefined))
}
