// Costs of a call: `summary.weave.costs`, from the usage that its summary reports and the prices of its models.

import { spelled } from '../../content/usage-names.ts'
import { formatTimestamp } from '../../core/clock/timestamps.ts'
import { isObject } from '../../core/json/objects.ts'
import { type Billed, billedOf, nothingBilled } from '../costs/billed.ts'
import { type Price, type PriceBook, type Tokens, totalsOf } from '../costs/prices.ts'
import { mayHoldKey, membersOf } from './json-members.ts'
import type { CallDocuments } from './payloads.ts'

/** JSON text of a call's costs by model, from its summary and `billedColumns`; null when no model has a price. */
export type CostsOfCall = (payload: CallDocuments, startedUs: number) => string | null

export type ReportedUsage = Record<string, unknown>

/** A count as it is reported; 0 when it is none. */
function count(usage: ReportedUsage, name: string): number {
  const value = usage[name]
  if (typeof value !== 'number' && (typeof value !== 'string' || value === '')) return 0
  const number = Number(value)
  return Number.isFinite(number) ? number : 0
}

export const tokensOf = (usage: ReportedUsage): Tokens => ({
  prompt: spelled('input', (name) => count(usage, name)),
  completion: spelled('output', (name) => count(usage, name)),
})

function entryText(price: Price, usage: ReportedUsage, billed: Billed): string {
  const tokens = tokensOf(usage)
  const { prompt, completion } = tokens
  const totals = totalsOf(price, tokens, billed)
  return JSON.stringify({
    prompt_tokens: prompt,
    completion_tokens: completion,
    requests: count(usage, 'requests'),
    total_tokens: count(usage, 'total_tokens'),
    cache_read_input_tokens: count(usage, 'cache_read_input_tokens'),
    cache_creation_input_tokens: count(usage, 'cache_creation_input_tokens'),
    prompt_token_cost: price.prompt,
    completion_token_cost: price.completion,
    cache_read_input_token_cost: price.cacheRead,
    cache_creation_input_token_cost: price.cacheWrite,
    prompt_tokens_total_cost: totals[0],
    completion_tokens_total_cost: totals[1],
    cache_read_input_tokens_total_cost: totals[2],
    cache_creation_input_tokens_total_cost: totals[3],
    prompt_token_cost_unit: price.promptUnit,
    completion_token_cost_unit: price.completionUnit,
    effective_date: formatTimestamp(price.effectiveUs),
    created_at: formatTimestamp(price.createdUs),
    provider_id: price.providerId,
    pricing_level: price.level,
    pricing_level_id: price.levelId,
    created_by: price.createdBy,
  })
}

/** The usage that a summary holds, by model. The last one of a repeated key counts, as everywhere. */
export function reportedUsage(summary: Buffer): ReportedUsage | null {
  if (!mayHoldKey(summary, 'usage')) return null
  const member = membersOf(summary)?.findLast(({ key }) => key === 'usage')
  if (!member) return null
  const usage: unknown = JSON.parse(summary.toString('utf8', member.valueStart, member.end))
  return isObject(usage) ? usage : null
}

export const costsOfCalls =
  (book: PriceBook): CostsOfCall =>
  (payload, startedUs) => {
    const usage = payload.summary ? reportedUsage(payload.summary) : null
    if (!usage) return null
    const billed = billedOf(payload)
    let text = ''
    for (const [model, entry] of Object.entries(usage)) {
      const price = isObject(entry) ? book.at(model, startedUs) : null
      if (price)
        text += `${text && ','}${JSON.stringify(model)}:${entryText(price, entry as ReportedUsage, billed.get(model) ?? nothingBilled)}`
    }
    return text === '' ? null : `{${text}}`
  }
