// Usage by model as plain numbers: made from the columns of a call, merged, and written as JSON.
import { type Billed, nothingBilled } from '../costs/billed.ts'
import { type PriceBook, totalsOf } from '../costs/prices.ts'

/**
 * requests, prompt, completion, total, cache read and cache creation tokens, as reported. With costs these follow: what
 * is billed beside them (in the order of `billedNumbers`), and in its place, once they are made, the four costs (prompt,
 * completion, cache read, cache creation).
 */
export type Entry = number[]

/** Entries by model. */
export type Usage = Map<string, Entry>

/** Usage columns of a call, one element per model; tokens as reported, both spellings added. */
export type UsageColumns = {
  models: string[]
  requests: number[]
  input: number[]
  output: number[]
  total: number[]
  cacheRead: number[]
  cacheWrite: number[]
}

const reported = 6
const billedNumbers = Object.keys(nothingBilled) as (keyof Billed)[]

/** Costs of one entry of a call that began at `startedUs`: prompt, completion, cache read, cache creation. */
export type CostsOf = (model: string, entry: Readonly<Entry>, startedUs: number) => readonly number[]

/** Costs by the price that was in force when the call began; 0 without one. */
export const costsBy =
  (book: PriceBook): CostsOf =>
  (model, entry, startedUs) => {
    const price = book.at(model, startedUs)
    if (!price) return [0, 0, 0, 0]
    const [, prompt = 0, completion = 0] = entry
    const billed = billedNumbers.map((name, n) => [name, entry[reported + n] ?? 0])
    return totalsOf(price, { prompt, completion }, Object.fromEntries(billed) as Billed)
  }

/**
 * The usage that a call reports itself; null when there is none. A total that is 0 or absent is prompt + completion.
 * @param billed what costs are made of; null = no costs are asked for
 */
export function usageOf(columns: UsageColumns, billed: ReadonlyMap<string, Billed> | null): Usage | null {
  const { models, requests, input, output, total, cacheRead, cacheWrite } = columns
  if (models.length === 0) return null
  const usage: Usage = new Map()
  for (const [n, model] of models.entries()) {
    const prompt = input[n] ?? 0
    const completion = output[n] ?? 0
    const own = billed?.get(model) ?? nothingBilled
    usage.set(model, [
      requests[n] ?? 0,
      prompt,
      completion,
      total[n] || prompt + completion,
      cacheRead[n] ?? 0,
      cacheWrite[n] ?? 0,
      ...(billed ? billedNumbers.map((name) => own[name]) : []),
    ])
  }
  return usage
}

/** Puts its costs into the usage of a call that began at `startedUs`. */
export function addCosts(usage: Usage, startedUs: number, costsOf: CostsOf): void {
  for (const [model, entry] of usage) entry.splice(reported, entry.length, ...costsOf(model, entry, startedUs))
}

/** Adds usage to a call's; returns how many models were new to it. */
export function addUsage(to: Usage, usage: Usage): number {
  const before = to.size
  for (const [model, entry] of usage) {
    const known = to.get(model)
    if (known === undefined) to.set(model, [...entry])
    else for (let n = 0; n < entry.length; n++) known[n] = (known[n] as number) + (entry[n] as number)
  }
  return to.size - before
}

/** Takes from usage what others carry, never below 0. */
export function withoutUsage(usage: Usage, others: Usage): Usage {
  const own: Usage = new Map()
  for (const [model, entry] of usage) {
    const taken = others.get(model)
    own.set(model, taken ? entry.map((value, n) => Math.max(0, value - (taken[n] ?? 0))) : entry)
  }
  return own
}

/** The numbers of a usage, summed over its models; null = there is none. */
export function reportedBy(usage: Usage | null): Entry | null {
  if (usage === null) return null
  const [first, ...others] = usage.values()
  if (first === undefined || others.length === 0) return first ?? null
  return first.map((value, n) => others.reduce((sum, entry) => sum + (entry[n] ?? 0), value))
}

/** The part of a usage that is its share; of several models the first ones. */
export function shareOfUsage(usage: Usage, share: readonly number[]): Usage {
  const left = [...share]
  const taken: Usage = new Map()
  for (const [model, entry] of usage) {
    const own = entry.map((value, n) => Math.min(value, left[n] ?? 0))
    for (const [n, value] of own.entries()) left[n] = (left[n] ?? 0) - value
    taken.set(model, own)
  }
  return taken
}

const names = [
  'requests',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'prompt_tokens_total_cost',
  'completion_tokens_total_cost',
  'cache_read_input_tokens_total_cost',
  'cache_creation_input_tokens_total_cost',
]

/** Null for what was not asked for, and for what no double can hold. */
const numberText = (value: number | undefined): string => (Number.isFinite(value) ? String(value) : 'null')

const isZero = (value: number): boolean => value === 0

/** JSON text, model by model; those whose numbers are all 0 are left out. */
export function* usageTexts(usage: Usage | null): Generator<string> {
  let before = '{'
  for (const [model, entry] of usage ?? []) {
    if (entry.every(isZero)) continue
    const fields = names.map((name, n) => `"${name}":${numberText(entry[n])}`)
    yield `${before}${JSON.stringify(model)}:{${fields.join(',')}}`
    before = ','
  }
  yield before === '{' ? '{}' : '}'
}
