// POST /v2/{entity}/{project}/traces/query: totals of whole traces, of some by their ids or of those of matching roots.

import { tracesQueryRequest, tracesQueryResponse } from '../../../schemas/traces.ts'
import { fault } from '../../core/http/errors.ts'
import { type Route, route } from '../../core/http/route.ts'
import type { Freshness } from '../../core/log/freshness.ts'
import type { Store } from '../../core/store/store.ts'
import { createCountCache } from '../calls/access/counts.ts'
import { compileCallsQuery } from '../calls/conditions/compile-query.ts'
import { callQueryTables, joinedTables, topicsOfQuery, traceTables } from '../calls/conditions/joined-tables.ts'
import type { ReadWholeTraces } from '../calls/reader.ts'
import type { Prices } from '../costs/prices.ts'
import { nonNegative } from '../list-rows.ts'
import { readFigures } from './figures.ts'
import { readOrder } from './order.ts'

export type TracesDeps = {
  store: Pick<Store, 'bytes' | 'rows'>
  freshness: Freshness
  prices: Prices
  wholeTraces: ReadWholeTraces
  feedbackPrefix: string
  /** Whether payloads have an index of words. */
  words?: boolean
}

export function tracesQueryRoute(deps: TracesDeps): Route {
  const { store, freshness, prices, feedbackPrefix, words, wholeTraces } = deps
  const cache = createCountCache()
  const covered = { covered: new Map() }
  return route({
    name: 'traces.query',
    countsAll: true,
    method: 'POST',
    path: '/v2/{entity}/{project}/traces/query',
    summary: 'Errors, tokens, costs, models, spans and times of whole traces, ordered and filtered by them',
    body: { type: 'json', schema: tracesQueryRequest, check: 'schema' },
    response: tracesQueryResponse,
    tables: [...callQueryTables, ...joinedTables, ...traceTables],
    async handle(context) {
      const { input, params, signal } = context
      const projectId = context.project(`${params.entity}/${params.project}`)
      const { trace_ids: ids, filter, query: expression, where, sort_by, limit, include_counts } = input
      const offset = nonNegative('offset', input.offset) as number
      if (ids !== undefined && (filter !== undefined || expression !== undefined || where !== undefined))
        throw fault(400, 'trace_ids goes without filter, query and where')
      const compiled = compileCallsQuery({
        filter: { ...filter, trace_roots_only: true },
        query: expression,
        projectId,
        feedbackPrefix,
        wholeTraces: true,
      })
      const headers = await freshness.wait(context, [...topicsOfQuery(compiled), 'costs'])
      const options = { signal }
      const query = await wholeTraces(compiled, { projectId, options })
      const book = prices.of(projectId, options)
      book.catch(() => {})
      const source = { store, projectId, options }
      const { ids: found, counts } =
        ids !== undefined
          ? { ids, counts: undefined }
          : await readOrder({ ...source, query, cache, words }, covered, () => book, {
              where,
              sort_by,
              limit: limit + 1,
              offset,
              include_counts,
            })
      const shown = ids === undefined ? found.slice(0, limit) : found
      const traces = await readFigures(source, shown, await book)
      return { json: { traces, has_more: found.length > shown.length, ...(counts && { counts }) }, headers }
    },
  })
}
