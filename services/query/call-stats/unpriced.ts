// GET /v2/{entity}/{project}/unpriced_models: which models were used that no price is known of.

import { unpricedModelsResponse } from '../../../schemas/costs.ts'
import { formatTimestamp } from '../../core/clock/timestamps.ts'
import { fault } from '../../core/http/errors.ts'
import { type Route, route } from '../../core/http/route.ts'
import { compileCallsQuery } from '../calls/conditions/compile-query.ts'
import { readTuples } from '../compact-rows.ts'
import { aggregatesOf } from './aggregates.ts'
import { usageMetrics } from './metrics.ts'
import { planSeries } from './plan.ts'
import { createStatsCache } from './rollup.ts'
import type { CallStatsDeps } from './routes.ts'

const dayUs = 86_400e6
const [usualDays, mostDays] = [30, 366]
/** Days and models of one answer, one row each. */
const mostRows = 200_000

const asked = ['input_tokens', 'output_tokens'].map((metric) => ({
  metric,
  aggregations: ['sum' as const],
  percentiles: [],
}))

/** Sums: input and output tokens. */
type Row = [bucket: number, model: string, points: number, ...sums: (number | null)[]]

function daysOf(text: string | null): number {
  const days = text === null || text === '' ? usualDays : Number(text)
  if (!Number.isInteger(days) || days < 1 || days > mostDays)
    throw fault(400, `days is a whole number from 1 to ${mostDays}`)
  return days
}

export function unpricedModelsRoute({ store, freshness, prices }: CallStatsDeps): Route {
  const cache = createStatsCache()
  return route({
    name: 'costs.unpriced_models',
    countsAll: true,
    method: 'GET',
    path: '/v2/{entity}/{project}/unpriced_models',
    summary: 'Models without a price in the last 30 days (`days`), with their tokens',
    body: { type: 'none' },
    response: unpricedModelsResponse,
    tables: ['calls', 'call_keys', 'payloads', 'call_marks', 'call_stats', 'usage_shares', 'rollups', 'costs'],
    async handle(context) {
      const { params, signal } = context
      const projectId = context.project(`${params.entity}/${params.project}`)
      const days = daysOf(context.query.get('days'))
      const endUs = Math.ceil(Date.now() / 60_000) * 60e6
      const time = { startUs: endUs - days * dayUs, endUs, granularity: 86_400 }
      const headers = await freshness.wait(context, ['calls', 'costs'])
      const options = { signal }
      const query = compileCallsQuery({ projectId })
      const plan = await planSeries(
        { store, projectId, options, cache },
        { query, usageQuery: query, rootsOnly: false, withCosts: false, time },
      )
      const statement = plan.usage(aggregatesOf(asked, usageMetrics), { exactTotals: false, most: mostRows })
      const [rows, book] = await Promise.all([
        readTuples<Row>(store, statement, options),
        prices.of(projectId, options),
      ])
      const models = new Map<string, { calls: number; input_tokens: number; output_tokens: number }>()
      for (const [, model, points, input, output] of rows) {
        if (book.latest(model) !== null) continue
        const sums = models.get(model) ?? { calls: 0, input_tokens: 0, output_tokens: 0 }
        sums.calls += points
        sums.input_tokens += input ?? 0
        sums.output_tokens += output ?? 0
        models.set(model, sums)
      }
      const tokensOf = (one: { input_tokens: number; output_tokens: number }) => one.input_tokens + one.output_tokens
      const listed = [...models].map(([model, sums]) => ({ model, ...sums })).filter((one) => tokensOf(one) > 0)
      listed.sort((a, b) => tokensOf(b) - tokensOf(a) || (a.model < b.model ? -1 : 1))
      return { json: { start: formatTimestamp(time.startUs), end: formatTimestamp(endUs), models: listed }, headers }
    },
  })
}
