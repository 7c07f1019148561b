// Figures of the answers to rows of a dataset: each by itself, and all of a model together.

import { count, duration, money } from '../engine/format.ts'
import type { Shapes } from '../routes.gen.ts'
import type { Run } from './run.ts'

/** Costs by the id of the recorded call; a call without a price has none. */
export type Costs = ReadonlyMap<string, number>

type Usage = Shapes['calls.usage']['out']['call_usage'][string][string]

/** Undefined where no model has a price. */
export function costOf(models: readonly Usage[]): number | undefined {
  const parts = models.flatMap((one) => [
    one.prompt_tokens_total_cost,
    one.completion_tokens_total_cost,
    one.cache_read_input_tokens_total_cost,
    one.cache_creation_input_tokens_total_cost,
  ])
  const known = parts.filter((part) => part !== null)
  return known.length === 0 ? undefined : known.reduce((sum, part) => sum + part, 0)
}

/** Duration, tokens and cost of one answer, as far as they are known. */
export function figuresOf({ totalMs, answer, callId }: Run, costs: Costs): string {
  const cost = callId === null ? undefined : costs.get(callId)
  return [
    totalMs === null ? undefined : duration(Math.round(totalMs)),
    answer.tokensIn === null ? undefined : `${count(answer.tokensIn)} → ${count(answer.tokensOut ?? 0)} tokens`,
    cost === undefined ? undefined : money(cost),
  ]
    .filter((one) => one !== undefined)
    .join(' · ')
}

/** The mean duration, and sums of the rest, of the answers that did not fail. */
export function rowTotals(runs: readonly Run[], costs: Costs): string {
  const done = runs.filter(({ fault }) => fault === null)
  const sum = (values: readonly (number | null | undefined)[]) =>
    values.reduce<number>((all, value) => all + (value ?? 0), 0)
  const known = done.map(({ callId }) => (callId === null ? undefined : costs.get(callId)))
  const failed = runs.length - done.length
  return [
    ...(done.length === 0
      ? []
      : [`average ${duration(Math.round(sum(done.map(({ totalMs }) => totalMs)) / done.length))}`]),
    ...(done.some(({ answer }) => answer.tokensIn !== null)
      ? [
          `${count(sum(done.map(({ answer }) => answer.tokensIn)))} → ${count(sum(done.map(({ answer }) => answer.tokensOut)))} tokens`,
        ]
      : []),
    ...(known.some((cost) => cost !== undefined) ? [money(sum(known))] : []),
    ...(failed > 0 ? [`${count(failed)} failed`] : []),
  ].join(' · ')
}
