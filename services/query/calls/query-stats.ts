// Counting calls: POST /calls/query_stats.
import { callsQueryStatsRequest, callsQueryStatsResponse } from '../../../schemas/calls-read.ts'
import { fault } from '../../core/http/errors.ts'
import { type Route, route } from '../../core/http/route.ts'
import type { Freshness } from '../../core/log/freshness.ts'
import type { Store } from '../../core/store/store.ts'
import type { Prices } from '../costs/prices.ts'
import type { CountCache } from './access/counts.ts'
import { countCalls, sizeOfCalls } from './access/read-calls.ts'
import { compileCallsQuery } from './conditions/compile-query.ts'
import {
  callQueryTables,
  joinedTables,
  referredTables,
  topicsOfQuery,
  traceTables,
} from './conditions/joined-tables.ts'
import { pricesFor } from './model-prices.ts'
import type { ReadWholeTraces } from './reader.ts'

export type QueryStatsDeps = {
  store: Pick<Store, 'bytes' | 'rows'>
  freshness: Freshness
  /** Whether payloads have an index of words. */
  words?: boolean
  feedbackPrefix: string
  prices: Prices
  wholeTraces: ReadWholeTraces
  cache: CountCache
}

export function createQueryStatsRoutes(deps: QueryStatsDeps): Route[] {
  const { store, freshness, feedbackPrefix, cache, wholeTraces } = deps
  return [
    route({
      name: 'calls.query_stats',
      countsAll: true,
      method: 'POST',
      path: '/calls/query_stats',
      summary: 'Number of calls that match a filter and a query',
      body: { type: 'json', schema: callsQueryStatsRequest, check: 'schema' },
      response: callsQueryStatsResponse,
      tables: [...callQueryTables, 'call_counts', ...joinedTables, ...traceTables, ...referredTables],
      async handle(context) {
        const { input, signal } = context
        const projectId = context.project(input.project_id)
        const limit = input.limit === undefined ? null : Math.min(input.limit, Number.MAX_SAFE_INTEGER)
        if (limit !== null && limit < 1) throw fault(400, 'Limit must be a positive integer')
        const { filter, query: expression, expand_columns } = input
        const prices = await pricesFor(deps, projectId, context)
        const compiled = compileCallsQuery({
          filter,
          query: expression,
          expand_columns,
          projectId,
          feedbackPrefix,
          prices,
          wholeTraces: true,
        })
        const headers = await freshness.wait(context, topicsOfQuery(compiled))
        const query = await wholeTraces(compiled, { projectId, options: { signal } })
        const reader = { store, projectId, query, options: { signal }, cache, words: deps.words }
        const [count, bytes] = await Promise.all([
          countCalls(reader, limit),
          input.include_total_storage_size ? sizeOfCalls(reader, limit) : null,
        ])
        const hasMore = limit !== null && count >= limit
        return { json: { count, has_more: hasMore, total_storage_size_bytes: bytes }, headers }
      },
    }),
  ]
}
