// What a call cost, by model and kind of tokens, with the prices that were applied: `summary.weave.costs` as lines.

export type BillLine = { what: string; tokens: number | null; price: number | null; cost: number | null }
export type Bill = { model: string; lines: BillLine[]; total: number; since: string; level: string }

type Members = Record<string, unknown>
const membersOf = (value: unknown): Members => (typeof value === 'object' && value !== null ? (value as Members) : {})
const numberOf = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null)
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const kinds = [
  ['Input', 'prompt_tokens', 'prompt_token_cost', 'prompt_tokens_total_cost'],
  ['Output', 'completion_tokens', 'completion_token_cost', 'completion_tokens_total_cost'],
  ...[
    ['Cache, read', 'cache_read_input_tokens', 'cache_read_input_token_cost', 'cache_read_input_tokens_total_cost'],
    [
      ...['Cache, written', 'cache_creation_input_tokens', 'cache_creation_input_token_cost'],
      'cache_creation_input_tokens_total_cost',
    ],
  ],
] as [what: string, tokens: string, price: string, cost: string][]

/** @param summary of a call that was read with its costs. Models without a price are not among them. */
export function billsOf(summary: unknown): Bill[] {
  const costs = membersOf(membersOf(membersOf(summary).weave).costs)
  return Object.entries(costs).map(([model, value]) => {
    const one = membersOf(value)
    const lines = kinds.flatMap(([what, tokens, price, cost]): BillLine[] => {
      const line = { what, tokens: numberOf(one[tokens]), price: numberOf(one[price]), cost: numberOf(one[cost]) }
      return line.tokens === null || (line.tokens === 0 && !line.cost) ? [] : [line]
    })
    const total = lines.reduce((sum, { cost }) => sum + (cost ?? 0), 0)
    return { model, lines, total, since: textOf(one.effective_date), level: textOf(one.pricing_level) }
  })
}

/** Models whose usage is reported but has no price. */
export function unpricedOf(summary: unknown): string[] {
  const { usage, weave } = membersOf(summary)
  const priced = membersOf(membersOf(weave).costs)
  return Object.keys(membersOf(usage)).filter((model) => !Object.hasOwn(priced, model))
}
