// POST /trace/tree: what a page shows of a trace at once, however many spans it has.
import { traceTreeRequest, traceTreeResponse } from '../../../schemas/trace-tree.ts'
import { type Route, route } from '../../core/http/route.ts'
import type { Freshness } from '../../core/log/freshness.ts'
import type { Store } from '../../core/store/store.ts'
import { createCountCache } from '../calls/access/counts.ts'
import { compileCallsQuery } from '../calls/conditions/compile-query.ts'
import type { Prices } from '../costs/prices.ts'
import { textReply } from '../text-reply.ts'
import { answerTexts, createColumns } from './columns.ts'
import { loadSpans } from './load.ts'

export type TraceTreeDeps = {
  store: Pick<Store, 'bytes' | 'rows'>
  freshness: Freshness
  prices: Prices
}

/** Most spans of one answer. */
const maxSpans = 500_000
const byStart = [
  { field: 'started_at', direction: 'asc' },
  { field: 'id', direction: 'asc' },
] as const

export function createTraceTreeRoutes({ store, freshness, prices }: TraceTreeDeps): Route[] {
  const cache = createCountCache()
  return [
    route({
      name: 'traces.tree',
      method: 'POST',
      path: '/trace/tree',
      summary: 'The spans of a trace as columns: names, times, status, usage and costs, without payloads',
      body: { type: 'json', schema: traceTreeRequest, check: 'schema' },
      response: traceTreeResponse,
      tables: ['calls', 'call_keys', 'payloads', 'costs', 'feedback', 'feedback_by_ref'],
      async handle(context) {
        const { input, signal } = context
        const projectId = context.project(input.project_id)
        const index = { column: 'trace_id', values: [input.trace_id] } as const
        const query = compileCallsQuery({
          filter: { trace_ids: [input.trace_id] },
          sort_by: byStart,
          projectId,
        })
        const headers = await freshness.wait(context, ['calls', 'costs', 'feedback'])
        const options = { signal }
        const columns = createColumns(input.trace_id)
        let count = 0
        const reading = { limit: maxSpans + 1, prices: prices.of(projectId, options) }
        for await (const spans of loadSpans({ store, projectId, query, options, cache }, index, reading))
          for (const span of spans) if (count++ < maxSpans) columns.add(span)
        return textReply(answerTexts(columns.answer(count > maxSpans)), headers)
      },
    }),
  ]
}
