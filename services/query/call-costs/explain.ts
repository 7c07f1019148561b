// Explains what a call cost: which usage, which price of which table, and the arithmetic of each bucket of tokens.

import type { z } from 'zod'
import type { costExplainResponse } from '../../../schemas/costs.ts'
import { formatTimestamp } from '../../core/clock/timestamps.ts'
import { fault } from '../../core/http/errors.ts'
import { type ProjectId, parseProjectId } from '../../core/ids.ts'
import { isObject } from '../../core/json/objects.ts'
import { param, sql, systemQuery } from '../../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../../core/store/store.ts'
import { createCountCache } from '../calls/access/counts.ts'
import { readCall } from '../calls/access/read-calls.ts'
import { compileCallsQuery } from '../calls/conditions/compile-query.ts'
import { type ReportedUsage, reportedUsage, tokensOf } from '../calls/costs.ts'
import { headerReader } from '../calls/header.ts'
import { readPayloads } from '../calls/payloads.ts'
import { type Billed, billedColumns, billedOf, nothingBilled } from '../costs/billed.ts'
import { daysSince } from '../costs/price-age.ts'
import { type Price, type PriceBook, type Prices, totalsOf, uncachedOf } from '../costs/prices.ts'

export type ExplainedCost = z.output<typeof costExplainResponse>
export type ExplainedModel = ExplainedCost['models'][number]
type ExplainedPrice = NonNullable<ExplainedModel['price']>
type Bucket = ExplainedModel['buckets'][number]

const priceSourceOf = ({ level, file }: Price): ExplainedPrice['source'] =>
  level === 'project' ? 'project' : file === 'operator' ? 'operator file' : 'shipped table'

const priceShown = (price: Price, startedUs: number): ExplainedPrice => ({
  source: priceSourceOf(price),
  id: price.id ?? null,
  provider_id: price.providerId,
  effective_date: formatTimestamp(price.effectiveUs),
  created_by: price.createdBy,
  page: price.page ?? null,
  read: price.read ?? null,
  read_days_ago: price.read === undefined ? null : daysSince(price.read, Date.now()),
  in_force: price.effectiveUs <= startedUs,
})

/**
 * Bill of a model: the billed tokens as they were read, and whether the call came with its cached tokens counted in.
 */
type Bill = { billed: Billed; countsCached: boolean }

const cachedOf = ({ cacheRead, cacheWrite, cacheWrite1h }: Billed): number => cacheRead + cacheWrite + cacheWrite1h

function ruleOf(price: Price, { billed, countsCached }: Bill): string {
  if (cachedOf(billed) === 0) return 'nothing was cached'
  if (billed.inside <= 0) return 'outside: more tokens were cached than the input counts, so it counts the others'
  const isShaped = price.isAnthropic && billed.apart > 0
  if (isShaped && countsCached) return 'inside: a span, or an SDK that adds the cached tokens to the input'
  return isShaped
    ? "outside: the usage has the shape of Anthropic's API, which counts cached tokens apart from the input"
    : 'inside: the input counts cached tokens too'
}

/** The key under which a usage reports a number of cached tokens: its own key, or that of its details. */
function keyOf(usage: ReportedUsage, tokens: number): string {
  for (const [key, value] of Object.entries(usage)) {
    if (isObject(value)) {
      const below = keyOf(value, tokens)
      if (below !== 'as reported') return `${key}.${below}`
    } else if (tokens > 0 && key.includes('cache') && Number(value) === tokens) return key
  }
  return 'as reported'
}

function bucketsOf(price: Price, usage: ReportedUsage, { billed, countsCached }: Bill): Bucket[] {
  const tokens = tokensOf(usage)
  const { cacheRead, cacheWrite, cacheWrite1h, moreOutput } = billed
  const bill = countsCached ? { ...billed, apart: 0 } : billed
  const [input, output, read] = totalsOf(price, tokens, bill)
  const uncached = uncachedOf(price, tokens, bill)
  const isInside = cachedOf(billed) > 0 && uncached !== tokens.prompt
  const parts = isInside ? ` - ${cacheRead} cache read - ${cacheWrite + cacheWrite1h} cache write` : ''
  const bucket = (name: string, counted_as: string, of: { tokens: number; price: number; cost: number }): Bucket => ({
    bucket: name,
    tokens: of.tokens,
    counted_as,
    price: of.price,
    cost: of.cost,
  })
  const written = { tokens: cacheWrite, price: price.cacheWrite, cost: cacheWrite * price.cacheWrite }
  const hour = { tokens: cacheWrite1h, price: price.cacheWrite1h, cost: cacheWrite1h * price.cacheWrite1h }
  const whole =
    cacheWrite1h > 0 ? `${keyOf(usage, cacheWrite + cacheWrite1h)} - ${cacheWrite1h}` : keyOf(usage, cacheWrite)
  const out = { tokens: tokens.completion + moreOutput, price: price.completion, cost: output }
  return [
    bucket('uncached input', `${tokens.prompt} input${parts}`, { tokens: uncached, price: price.prompt, cost: input }),
    bucket('cache read', keyOf(usage, cacheRead), { tokens: cacheRead, price: price.cacheRead, cost: read }),
    bucket('cache write', whole, written),
    ...(cacheWrite1h > 0 ? [bucket('cache write 1 h', keyOf(usage, cacheWrite1h), hour)] : []),
    bucket(
      'output',
      moreOutput > 0 ? `${tokens.completion} output + ${moreOutput} reasoning apart` : 'as reported',
      out,
    ),
  ]
}

function reasoningOf(usage: ReportedUsage): number {
  const details = [usage.completion_tokens_details, usage.output_tokens_details, usage]
  const found = details.find((one) => isObject(one) && typeof one.reasoning_tokens === 'number') as
    | ReportedUsage
    | undefined
  return Number(found?.reasoning_tokens ?? 0)
}

function explainModel(
  book: PriceBook,
  model: string,
  usage: ReportedUsage,
  bill: Bill,
  startedUs: number,
): ExplainedModel {
  const price = book.at(model, startedUs)
  const buckets = price ? bucketsOf(price, usage, bill) : []
  const named = book.pricedName(model)
  return {
    model,
    priced_as: named && named.rules.length > 0 ? { name: named.name, rules: [...named.rules] } : null,
    usage,
    buckets,
    reasoning_tokens: reasoningOf(usage),
    rule: price ? ruleOf(price, bill) : 'no price',
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
   * @throws Fault 404 when there is no such call; Error when several projects have one
   */
  explain(callId: string, projectId: string | null, options?: QueryOptions): Promise<ExplainedCost>
}

export function projectsOfCallQuery(callId: string): Query {
  const id = param('String', callId)
  const of = sql`FROM callhouse.calls WHERE id = ${id} AND (project_id, started_at) IN
    (SELECT project_id, started_at FROM callhouse.call_keys WHERE kind = 'id' AND key = ${id})`
  return systemQuery('costs.project-of-call', sql`SELECT DISTINCT project_id ${of} ORDER BY project_id LIMIT 10`)
}

export function createCostExplainer(deps: { store: Pick<Store, 'bytes' | 'rows'>; prices: Prices }): CostExplainer {
  const { store, prices } = deps

  async function projectOf(callId: string, options: QueryOptions): Promise<ProjectId> {
    const found = await store.rows<{ project_id: string }>(projectsOfCallQuery(callId), options)
    const [first, ...others] = found.map((row) => row.project_id)
    if (first === undefined) throw fault(404, `Call ${callId} not found`)
    if (others.length > 0)
      throw new Error(`Several projects have a call ${callId}: ${[first, ...others].join(', ')}; name one of them`)
    return parseProjectId(first)
  }

  return {
    async explain(callId, named, options = {}) {
      const projectId = named === null ? await projectOf(callId, options) : parseProjectId(named)
      const query = compileCallsQuery({ filter: { call_ids: [callId] }, projectId })
      const reader = { store, projectId, query, options, cache: createCountCache() }
      const row = await readCall(reader, headerReader(null, true))
      if (row === null) throw fault(404, `Call ${callId} not found in ${projectId}`)
      const [[payload = {}], book] = await Promise.all([
        readPayloads(store, projectId, [row], ['summary', ...billedColumns], 'scattered', options),
        prices.of(projectId, options),
      ])
      const usage = payload.summary ? reportedUsage(payload.summary) : null
      const { startedUs } = row
      const { counts_cached: counted, ...uncounted } = payload
      const billed = billedOf(uncounted)
      const billOf = (model: string): Bill => ({
        billed: billed.get(model) ?? nothingBilled,
        countsCached: counted !== undefined,
      })
      const models = Object.entries(usage ?? {}).flatMap(([model, entry]) =>
        isObject(entry) ? [explainModel(book, model, entry, billOf(model), startedUs)] : [],
      )
      return {
        project_id: projectId,
        call_id: callId,
        op_name: row.opName,
        started_at: formatTimestamp(startedUs),
        models,
        total: models.reduce((sum, { total }) => sum + total, 0),
      }
    },
  }
}
