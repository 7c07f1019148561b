// Computes the own share of spans of a trace whose usage others below them report too (docs/adr/0059).
import type { z } from 'zod'
import type { traceTreeResponse } from '../../../schemas/trace-tree.ts'
import { sharesOf } from '../../content/usage-shares.ts'
import { addCosts, type CostsOf, reportedBy, shareOfUsage, type Usage } from '../usage/entries.ts'

type Counted = z.output<typeof traceTreeResponse>['counted']
type Sums = { tokensIn: number; tokensOut: number; cost: number | null }

/** Sums of a usage that has its costs. @param hasPrice whether any of its models has a price */
export function sumsOf(usage: Usage, hasPrice: boolean): Sums {
  const sums = { tokensIn: 0, tokensOut: 0, cost: 0 }
  for (const [, prompt = 0, completion = 0, , , , ...costs] of usage.values()) {
    sums.tokensIn += prompt
    sums.tokensOut += completion
    for (const one of costs) sums.cost += one
  }
  return { ...sums, ...(!hasPrice && { cost: null }) }
}

/** A usage before it has its costs. */
export type Reported = { usage: Usage; startedUs: number; hasPrice: boolean; costsOf: CostsOf }

export function createCounted() {
  const reported = new Map<number, Reported>()
  return {
    add: (place: number, one: Reported) => void reported.set(place, one),
    /** @param parents places of parents, -1 = none */
    answer(parents: readonly number[]): Counted {
      const counted: Counted = { span: [], tokens_in: [], tokens_out: [], cost: [] }
      const shares = sharesOf(
        Int32Array.from(parents),
        (place) => reportedBy(reported.get(place)?.usage ?? null),
        () => true,
      )
      for (const [place, share] of [...shares].sort(([a], [b]) => a - b)) {
        const { usage, startedUs, hasPrice, costsOf } = reported.get(place) as Reported
        const own = shareOfUsage(usage, share)
        addCosts(own, startedUs, costsOf)
        const { tokensIn, tokensOut, cost } = sumsOf(own, hasPrice)
        counted.span.push(place)
        counted.tokens_in.push(jsonNumber(tokensIn))
        counted.tokens_out.push(jsonNumber(tokensOut))
        counted.cost.push(jsonNumber(cost))
      }
      return counted
    },
  }
}

/** Numbers that no JSON holds are null. */
export const jsonNumber = (value: number | null): number | null =>
  value === null || Number.isFinite(value) ? value : null
