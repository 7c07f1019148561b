// Explains what a call cost: which usage, which price of which table, and the arithmetic of each bucket of tokens.
import { type ProjectId, parseProjectId } from '../../core/ids.ts'
import { param, sql, systemQuery } from '../../core/store/sql.ts'
import type { QueryOptions, Store } from '../../core/store/store.ts'
import { formatTimestamp } from '../../core/timestamps.ts'
import { createCountMemory } from '../calls/counts.ts'
import { lightSelect, place } from '../calls/light.ts'
import { readPayloads } from '../calls/payloads.ts'
import { readCall } from '../calls/plan.ts'
import { compileCallsQuery } from '../expression/calls-query.ts'
import { isObject, tokensOf, type Usage, usageOf } from './call-costs.ts'
import { type Price, type PriceBook, type Prices, type Tokens, totalsOf } from './prices.ts'

/** Where a price comes from. */
type PriceSource = 'project' | 'operator file' | 'shipped table'

type ExplainedPrice = {
  source: PriceSource
  /** Of a project's price. */
  id: string | null
  provider_id: string
  effective_date: string
  created_by: string
  /** It began before the call did; otherwise nothing else is known. */
  in_force: boolean
}

/** A bucket of tokens; the buckets of a model do not overlap. */
type Bucket = { bucket: string; tokens: number; counted_as: string; price: number; cost: number }

export type ExplainedModel = {
  model: string
  /** As the summary of the call reports it. */
  usage: Usage
  price: ExplainedPrice | null
  /** Prices of the model that were not taken. */
  other_prices: ExplainedPrice[]
  buckets: Bucket[]
  /** Output tokens that went into reasoning: part of the output, without a price of their own. */
  reasoning_tokens: number
  unit: string
  total: number
}

export type ExplainedCost = {
  project_id: string
  call_id: string
  op_name: string
  started_at: string
  models: ExplainedModel[]
  total: number
}

const sourceOf = ({ level, file }: Price): PriceSource =>
  level === 'project' ? 'project' : file === 'operator' ? 'operator file' : 'shipped table'

const priceShown = (price: Price, startedUs: number): ExplainedPrice => ({
  source: sourceOf(price),
  id: price.id ?? null,
  provider_id: price.providerId,
  effective_date: formatTimestamp(price.effectiveUs),
  created_by: price.createdBy,
  in_force: price.effectiveUs <= startedUs,
})

function bucketsOf(price: Price, tokens: Tokens): Bucket[] {
  const { prompt, completion, cacheRead, cacheWrite } = tokens
  const rest = Math.max(0, prompt - cacheRead - cacheWrite)
  const [input, output, read, write] = totalsOf(price, tokens)
  const clamped = prompt < cacheRead + cacheWrite ? ', not below 0' : ''
  const parts = cacheRead + cacheWrite > 0 ? ` - ${cacheRead} cache read - ${cacheWrite} cache write${clamped}` : ''
  return [
    { bucket: 'uncached input', tokens: rest, counted_as: `${prompt} input${parts}`, price: price.prompt, cost: input },
    { bucket: 'cache read', tokens: cacheRead, counted_as: 'as reported', price: price.cacheRead, cost: read },
    { bucket: 'cache write', tokens: cacheWrite, counted_as: 'as reported', price: price.cacheWrite, cost: write },
    { bucket: 'output', tokens: completion, counted_as: 'as reported', price: price.completion, cost: output },
  ]
}

function reasoningOf(usage: Usage): number {
  const details = [usage.completion_tokens_details, usage.output_tokens_details, usage]
  const found = details.find((one) => isObject(one) && typeof one.reasoning_tokens === 'number') as Usage | undefined
  return Number(found?.reasoning_tokens ?? 0)
}

function explainModel(book: PriceBook, model: string, usage: Usage, startedUs: number): ExplainedModel {
  const price = book.at(model, startedUs)
  const buckets = price ? bucketsOf(price, tokensOf(usage)) : []
  return {
    ...{ model, usage, buckets, reasoning_tokens: reasoningOf(usage) },
    price: price && priceShown(price, startedUs),
    other_prices: book
      .all(model)
      .filter((other) => other !== price)
      .map((other) => priceShown(other, startedUs)),
    unit: price?.promptUnit ?? 'USD',
    total: buckets.reduce((sum, { cost }) => sum + cost, 0),
  }
}

export type CostExplainer = {
  /**
   * @param projectId null = wherever the call is
   * @throws Error when there is no such call, or several projects have one
   */
  explain(callId: string, projectId: string | null, options?: QueryOptions): Promise<ExplainedCost>
}

export function createCostExplainer(deps: { store: Pick<Store, 'bytes' | 'rows'>; prices: Prices }): CostExplainer {
  const { store, prices } = deps

  async function projectOf(callId: string, options: QueryOptions): Promise<ProjectId> {
    const of = sql`FROM callhouse.calls_by_id WHERE id = ${param('String', callId)}`
    const query = systemQuery(
      'costs.project-of-call',
      sql`SELECT DISTINCT project_id ${of} ORDER BY project_id LIMIT 10`,
    )
    const found = await store.rows<{ project_id: string }>(query, options)
    const [first, ...others] = found.map((row) => row.project_id)
    if (first === undefined) throw new Error(`There is no call ${callId}`)
    if (others.length > 0)
      throw new Error(`Several projects have a call ${callId}: ${[first, ...others].join(', ')}; name one of them`)
    return parseProjectId(first)
  }

  return {
    async explain(callId, named, options = {}) {
      const projectId = named === null ? await projectOf(callId, options) : parseProjectId(named)
      const names = { prefix: 'platform', aliases: false } as const
      const query = compileCallsQuery({ filter: { call_ids: [callId] }, projectId, ...names })
      const reader = { store, projectId, query, options, memory: createCountMemory() }
      const row = await readCall(reader, lightSelect(null, true))
      if (row === null) throw new Error(`There is no call ${callId} in ${projectId}`)
      const [[payload = {}], book] = await Promise.all([
        readPayloads(store, projectId, [row], ['summary'], 'scattered', options),
        prices.of(projectId, options),
      ])
      const usage = payload.summary ? usageOf(payload.summary) : null
      const startedUs = row[place.startedUs]
      const models = Object.entries(usage ?? {}).flatMap(([model, entry]) =>
        isObject(entry) ? [explainModel(book, model, entry, startedUs)] : [],
      )
      return {
        ...{ project_id: projectId, call_id: callId, op_name: row[2], started_at: formatTimestamp(startedUs), models },
        total: models.reduce((sum, { total }) => sum + total, 0),
      }
    },
  }
}
