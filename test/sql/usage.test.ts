// The SQL of usage and statistics of calls as checked-in text, so that a review shows every change of it.
import { expect, it } from 'vitest'
import type { ProjectId } from '../../services/core/ids.ts'
import type { Query } from '../../services/core/store/store.ts'
import { aggregatesOf } from '../../services/query/call-stats/aggregates.ts'
import {
  callSeriesQuery,
  callValues,
  seriesOf,
  usageSeriesQuery,
  usageValues,
} from '../../services/query/call-stats/series.ts'
import { compileCallsQuery } from '../../services/query/expression/calls-query.ts'
import { tracesOfQuery } from '../../services/query/usage/load.ts'

const projectId = 'ent/proj' as ProjectId
const series = (filter: object) => {
  const query = compileCallsQuery({ projectId, prefix: 'platform', aliases: true, filter })
  return seriesOf(projectId, query, { startUs: 1_000_000, endUs: 2_000_000, granularity: 300 })
}
const latency = aggregatesOf([{ metric: 'latency_ms', aggregations: ['avg', 'max'], percentiles: [95] }], callValues)
const totals = aggregatesOf([{ metric: 'total_tokens', aggregations: ['sum', 'count'], percentiles: [] }], usageValues)

const queries: [about: string, query: Query][] = [
  ['traces of calls', tracesOfQuery(projectId, ['a', 'b'])],
  ['calls per bucket', callSeriesQuery(series({ op_names: ['op:*'] }), latency)],
  ['usage per bucket', usageSeriesQuery(series({}), totals, { rootsOrSpans: false, exactTotals: false })],
  ['usage of roots and spans', usageSeriesQuery(series({}), totals, { rootsOrSpans: true, exactTotals: false })],
  ['usage with exact totals', usageSeriesQuery(series({}), totals, { rootsOrSpans: false, exactTotals: true })],
]

it('is the text that was reviewed', async () => {
  const text = queries
    .map(([about, { name, sql, params }]) => `-- ${about} (${name})\n-- ${JSON.stringify(params)}\n${sql}\n`)
    .join('\n')
  await expect(text).toMatchFileSnapshot('./usage.sql')
})
