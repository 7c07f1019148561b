// The SQL of usage and statistics of calls as checked-in text, so that a review shows every change of it.
import { it } from 'vitest'
import { type TraceWhere, tracesQueryRequest } from '../../schemas/traces.ts'
import type { ProjectId } from '../../services/core/ids.ts'
import type { Query } from '../../services/core/store/store.ts'
import { aggregatesOf } from '../../services/query/call-stats/aggregates.ts'
import { tokenSums } from '../../services/query/call-stats/costs.ts'
import { callMetrics, usageMetrics } from '../../services/query/call-stats/metrics.ts'
import {
  dirtyStatsQuery,
  minutesWithoutOpsQuery,
  rolledCallsQuery,
  rolledUsageQuery,
  splitTime,
  usageFactsQuery,
} from '../../services/query/call-stats/rollup.ts'
import { callSeriesQuery, seriesOf, usageSeriesQuery } from '../../services/query/call-stats/series.ts'
import { compileCallsQuery } from '../../services/query/calls/conditions/compile-query.ts'
import { conditionsOf } from '../../services/query/calls/conditions/conditions.ts'
import { countQuery, keysQuery } from '../../services/query/calls/page.ts'
import { priceBook, priceTable } from '../../services/query/costs/prices.ts'
import { figuresQuery, tracesUsageQuery } from '../../services/query/traces/figures.ts'
import { countsQuery, idsQuery, orderQuery } from '../../services/query/traces/order.ts'
import type { PartColumn } from '../../services/query/traces/parts.ts'
import { priceGrid } from '../../services/query/traces/price-grid.ts'
import { traceModelsQuery } from '../../services/query/traces/read-parts.ts'
import { wholeTraceRows } from '../../services/query/traces/whole-traces.ts'
import { usageQuery } from '../../services/query/usage/by-key.ts'
import { nestedQuery, tracesOfQuery } from '../../services/query/usage/load.ts'
import { expectReviewed } from '../fixtures/sql-snapshot.ts'

const projectId = 'ent/proj' as ProjectId
const series = (filter: object) => {
  const query = compileCallsQuery({ projectId, filter })
  return seriesOf(projectId, query, { startUs: 1_000_000, endUs: 2_000_000, granularity: 300 })
}
const latency = aggregatesOf([{ metric: 'latency_ms', aggregations: ['avg', 'max'], percentiles: [95] }], callMetrics)
const totals = aggregatesOf([{ metric: 'total_tokens', aggregations: ['sum', 'count'], percentiles: [] }], usageMetrics)
const averages = aggregatesOf([{ metric: 'latency_ms', aggregations: ['avg'], percentiles: [] }], callMetrics)
const sums = aggregatesOf([{ metric: 'total_tokens', aggregations: ['sum'], percentiles: [] }], usageMetrics)
const hours = { ...series({}), granularity: 3600 }

const everything = { fromUs: 0, beforeUs: 7_200_000_000 }
const tracesSplit = splitTime(0, 7_200_000_000, [3660])
const price = {
  llmId: 'm',
  providerId: 'p',
  level: 'default' as const,
  levelId: 'default',
  effectiveUs: 0,
  prompt: 0.5,
  completion: 0.25,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  isAnthropic: false,
  promptUnit: 'USD',
  completionUnit: 'USD',
  createdUs: 0,
  createdBy: '',
}
const book = priceBook(priceTable([]), priceTable([price, { ...price, effectiveUs: 3_600_000_000, prompt: 1 }]))
const byCost = tracesQueryRequest.parse({
  where: { errors: { gt: 0 }, model: { contains: 'gpt' } },
  sort_by: [{ field: 'cost', direction: 'desc' }],
  limit: 101,
})
const bySpans = tracesQueryRequest.parse({ sort_by: [{ field: 'spans', direction: 'asc' }], limit: 101, offset: 5 })
const ofRoots = compileCallsQuery({ projectId, filter: { trace_roots_only: true, op_names: ['op'] } })
const refinedRoots = {
  scope: { projectId, range: { fromUs: 1_000_000, beforeUs: null }, index: null, keys: null },
  conditions: conditionsOf(ofRoots),
}
const parts = { split: tracesSplit, range: everything, roots: { fromUs: 60_000_000, beforeUs: null }, grid: null }

const wholeTraces = (expression: object, needs: readonly PartColumn[], field: string) => {
  const query = compileCallsQuery({
    projectId,
    filter: { trace_roots_only: true },
    query: { $expr: expression },
    sort_by: [{ field, direction: 'asc' }],
    wholeTraces: true,
  })
  const { traces } = query.derivedFields
  const asked = { split: tracesSplit, range: everything, needs: new Set(needs), grid: null }
  const all = compileCallsQuery({ projectId })
  const rows = wholeTraceRows(projectId, [...traces.columns], { ...asked, query: all })
  return { ...query, derivedFields: { ...query.derivedFields, traces: { ...traces, rows } } }
}
const failed = { $gt: [{ $getField: 'trace.errors' }, { $literal: 0 }] }
const ofOp = { $eq: [{ $getField: 'op_name' }, { $literal: 'op' }] }
const failedOfOp = wholeTraces({ $and: [failed, ofOp] }, ['errors'], 'started_at')
const failedOrOfOp = wholeTraces({ $or: [failed, ofOp] }, ['errors', 'has_top', 'model'], 'trace.model')
const anywhere = { projectId, range: everything, index: null, keys: null }

const queries: [about: string, query: Query][] = [
  ['minutes that lag', dirtyStatsQuery(projectId, { fromUs: 1_000_000, beforeUs: 2_000_000 }, [])],
  [
    'whether minutes know calls or usage not by op and user',
    minutesWithoutOpsQuery(projectId, splitTime(1_000_000, 7_200_000_000, [])),
  ],
  ['what the usage of calls has', usageFactsQuery(projectId, splitTime(1_000_000, 7_200_000_000, []))],
  ['traces of calls', tracesOfQuery(projectId, ['a', 'b'])],
  [
    'spans with shares',
    nestedQuery(projectId, [
      { id: 'a', traceId: 't', parentId: '', startedUs: 1_000_000, isRunning: false, version: '1', usage: null },
    ]),
  ],
  ['calls per bucket', callSeriesQuery(series({ op_names: ['op:*'] }), latency)],
  ['usage per bucket', usageSeriesQuery(series({}), totals, { rootsOrSpans: false, exactTotals: false, most: 9 })],
  ['usage of keys by day', usageQuery(projectId, { project_id: projectId, from: 0, to: 86_400, by: 'day' })],
  ['usage of keys by key', usageQuery(projectId, { project_id: projectId, from: 0, to: 86_400, by: 'key' })],
  [
    'usage of roots and spans',
    usageSeriesQuery(series({}), totals, { rootsOrSpans: true, exactTotals: false, most: 9 }),
  ],
  [
    'usage with exact totals',
    usageSeriesQuery(series({}), totals, { rootsOrSpans: false, exactTotals: true, most: 9 }),
  ],
  [
    'what costs are made of',
    usageSeriesQuery(series({}), tokenSums, { rootsOrSpans: false, exactTotals: false, most: 9 }),
  ],
  [
    'what costs are made of, where nothing but tokens is billed in whole minutes',
    usageSeriesQuery({ ...series({}), unbilled: splitTime(1_000_000, 150_000_000, []) }, tokenSums, {
      rootsOrSpans: false,
      exactTotals: false,
      most: 9,
    }),
  ],
  [
    'what costs are made of, from hours, minutes and calls',
    rolledUsageQuery(hours, tokenSums, { split: splitTime(1_000_000, 7_200_000_000, []), rootsOnly: false, most: 9 }),
  ],
  [
    'calls per bucket from hours and minutes',
    rolledCallsQuery(hours, averages, {
      split: splitTime(1_000_000, 9_000_000_000, [3660]),
      rootsOnly: true,
      byHour: true,
    }),
  ],
  [
    'usage per bucket from hours and minutes',
    rolledUsageQuery(hours, sums, { split: splitTime(0, 7_200_000_000, []), rootsOnly: true, most: 9 }),
  ],
  ['what traces come to', figuresQuery(projectId, ['a', 'b'])],
  ['what traces used', tracesUsageQuery(projectId, ['a', 'b'], [2_000_000], [3_600_000_000])],
  ['models of traces', traceModelsQuery(projectId, tracesSplit, everything)],
  [
    'traces by their cost',
    orderQuery(
      projectId,
      {
        ...parts,
        needs: new Set(['begun', 'root', 'has_top', 'top_cost', 'other_cost', 'errors', 'model']),
        grid: priceGrid(book, ['m'], everything),
        query: compileCallsQuery({ projectId }),
      },
      byCost,
      null,
    ),
  ],
  [
    'traces of some roots by their spans, from the calls',
    orderQuery(
      projectId,
      {
        ...parts,
        split: null,
        roots: null,
        needs: new Set(['begun', 'root', 'spans']),
        query: compileCallsQuery({ projectId }),
      },
      bySpans,
      refinedRoots,
    ),
  ],
  [
    'how many traces there are, and how many of them have errors',
    countsQuery(
      projectId,
      {
        ...parts,
        needs: new Set(['begun', 'root', 'errors', 'spans', 'model']),
        query: compileCallsQuery({ projectId }),
      },
      { spans: { gt: 3 }, model: { is: ['m'], is_not: ['n'] } } as TraceWhere,
      null,
    ),
  ],
  ['roots of traces with errors', countQuery(anywhere, conditionsOf(failedOfOp), null)],
  [
    'roots of traces with errors or of an operation, by model',
    keysQuery(anywhere, conditionsOf(failedOrOfOp), failedOrOfOp.sort, { limit: 10, offset: 0 }),
  ],
  ['ids of traces', idsQuery({ ...refinedRoots, scope: { ...refinedRoots.scope, times: [2_000_000] } }, ['17'])],
]

it('the SQL of usage and statistics is as checked in', () => expectReviewed('./usage.sql', Object.fromEntries(queries)))
