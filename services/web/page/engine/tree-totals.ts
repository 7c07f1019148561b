// Counts of the spans of a trace: tokens and costs of each, and of each with everything below it.
import type { Shapes } from '../routes.gen.ts'
import { numberAt } from './span-columns.ts'

type TreeAnswer = Shapes['traces.tree']['out']

/** Columns of spans; those of what they report are empty where none does. */
export type Counts = {
  count: number
  tokensIn: Float64Array
  tokensOut: Float64Array
  cost: Float64Array
  /** Own counts of spans that report also the usage of spans below them; absent: the reported counts. */
  counted?: { tokens: Float64Array; cost: Float64Array } | undefined
}

export function countedOf({ counted, id, tokens_in, tokens_out, cost }: TreeAnswer): Counts['counted'] {
  if (counted.span.length === 0) return undefined
  const of = (value: (span: number) => number | null | undefined) =>
    Float64Array.from(id, (_, span) => value(span) ?? Number.NaN)
  const found = {
    tokens: of((span) => sumOf(tokens_in[span], tokens_out[span])),
    cost: of((span) => cost[span]),
  }
  for (const [n, span] of counted.span.entries()) {
    found.tokens[span] = sumOf(counted.tokens_in[n], counted.tokens_out[n]) ?? Number.NaN
    found.cost[span] = counted.cost[n] ?? Number.NaN
  }
  return found
}

const sumOf = (a: number | null | undefined, b: number | null | undefined): number | null =>
  a === null || a === undefined ? null : a + (b ?? 0)

/** The own tokens of a span; NaN where it reports none. */
export const tokensOfSpan = ({ counted, tokensIn, tokensOut }: Counts, span: number): number =>
  counted ? numberAt(counted.tokens, span) : numberAt(tokensIn, span) + (tokensOut[span] || 0)

/**
 * Counts of spans with everything below them: the server says of which tokens a span reports no more than those below
 * it.
 */
export function totalsOf(
  spans: Counts,
  order: Int32Array,
  parent: Int32Array,
): { tokens: Float64Array; cost: Float64Array } {
  const addUp = (own: (span: number) => number): Float64Array => {
    const total = new Float64Array(spans.count).fill(Number.NaN)
    // Parents stand before their children.
    for (let line = spans.count - 1; line >= 0; line--) {
      const span = order[line] as number
      const [counted, below] = [own(span), total[span] as number]
      const all = Number.isNaN(below) ? counted : below + (counted || 0)
      total[span] = all
      const above = parent[span] as number
      if (above !== -1 && !Number.isNaN(all)) total[above] = (total[above] || 0) + all
    }
    return total
  }
  const { cost, counted } = spans
  return {
    tokens: addUp((span) => tokensOfSpan(spans, span)),
    cost: addUp((span) => numberAt(counted?.cost ?? cost, span)),
  }
}
