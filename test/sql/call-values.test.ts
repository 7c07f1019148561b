// The SQL of fields, values and aggregates of calls as checked-in text, so that a review shows every change of it.
import { it } from 'vitest'
import type { ProjectId } from '../../services/core/ids.ts'
import { sql } from '../../services/core/store/sql.ts'
import type { Query } from '../../services/core/store/store.ts'
import { groupKey, metricsOf } from '../../services/query/call-aggregate/metrics.ts'
import { callGroupsQuery, costGroupsQuery, usageGroupsQuery } from '../../services/query/call-aggregate/statements.ts'
import { bucketSql } from '../../services/query/call-aggregate/times.ts'
import { compileCallsQuery } from '../../services/query/calls/conditions/compile-query.ts'
import { conditionsOf } from '../../services/query/calls/conditions/conditions.ts'
import { expandedPaths } from '../../services/query/calls/conditions/expanded.ts'
import { callFields } from '../../services/query/calls/conditions/fields.ts'
import { derivedFieldFactory } from '../../services/query/calls/conditions/joins.ts'
import { spansQuery } from '../../services/query/calls/span-attributes.ts'
import {
  columnValuesQuery,
  feedbackFieldsQuery,
  fieldsQuery,
  indexedValuesQuery,
} from '../../services/query/calls/value-queries.ts'
import { expectReviewed } from '../fixtures/sql-snapshot.ts'

const projectId = 'ent/proj' as ProjectId
const fields = callFields()
const sample = { calls: [{ startedUs: 1_000_000, id: 'a' }], endUs: [2_000_000] }
const ask = { prefix: 'x', limit: 9 }
const column = fields('summary.weave.status')
const columns = column.is === 'column' ? [column.column] : []

const refined = {
  scope: { projectId, range: { fromUs: 1_000_000, beforeUs: 2_000_000 }, index: null, keys: null },
  conditions: conditionsOf(compileCallsQuery({ projectId, filter: { op_names: ['op:*'] } })),
}
const keys = (...of: string[]) => of.map((name) => groupKey(name, fields))
const grouped = (...of: string[]) => ({ refined, keys: keys(...of), bucket: bucketSql('day', 'Europe/Paris') })
const metrics = metricsOf(
  [
    { field: 'calls', as: 'sum' },
    { field: 'output.score', as: 'p50' },
    { field: 'input_tokens', as: 'max' },
  ],
  fields,
)
const kept = { keys: [['a', 'b']], rest: true }
const options = { isBucketed: true, rootsOrSpans: true }

const split = {
  whole: [{ fromUs: 60e6, beforeUs: 7_200e6 }],
  live: [{ fromUs: 1e6, beforeUs: 60e6 }],
}
const ofParts = {
  ...grouped(),
  bucket: bucketSql(3_600, 'UTC'),
  parts: { split, rootsOnly: false, byHour: true },
}

const derived = derivedFieldFactory('wandb')
const metricsOfTraces = metricsOf(
  [
    { field: 'calls', as: 'sum' },
    { field: 'errors', as: 'sum' },
    { field: 'latency_ms', as: 'p95' },
    { field: 'total_cost', as: 'sum' },
  ],
  callFields({ derived, expand: expandedPaths([]), wholeTraces: true }),
  'traces',
)
const ofRoots = compileCallsQuery({ projectId, filter: { trace_roots_only: true } })
// The rows of traces are shown in usage.sql.
const traces = { columns: derived.fields.traces.columns, rows: () => sql`SELECT 'whole traces'` }
const oncePerTrace = {
  ...grouped('op_name'),
  oncePerTrace: true,
  refined: {
    ...refined,
    conditions: conditionsOf({ ...ofRoots, derivedFields: { ...ofRoots.derivedFields, traces } }),
  },
}

const queries: Record<string, Query> = {
  'fields of a sample': fieldsQuery(projectId, sample, 'inputs', 9),
  'fields of feedback': feedbackFieldsQuery(projectId, sample, 9),
  'values in the field index': indexedValuesQuery(projectId, sample, { ...ask, paths: ['inputs.k'] }),
  'values of columns': columnValuesQuery(projectId, sample, { ...ask, columns }),
  'spans of a sample': spansQuery(projectId, sample.calls),
  'calls by op and a field': callGroupsQuery(grouped('op_name', 'inputs.k'), metrics, kept, true),
  'calls by ranges of a field': callGroupsQuery(grouped('range 0.05 output.score'), metrics, kept, true),
  'calls by the first of two fields': callGroupsQuery(grouped('either inputs.k or output.k'), metrics, kept, true),
  'whole traces by op': callGroupsQuery(oncePerTrace, metricsOfTraces, { keys: [['a']], rest: true }, true),
  'calls by latency': callGroupsQuery(grouped('latency_range'), metrics, kept, true),
  'calls over time, of parts': callGroupsQuery(ofParts, { ...metrics, calls: metrics.calls.slice(0, 1) }, kept, true),
  'what costs are made of by model, of parts': costGroupsQuery({ ...ofParts, keys: keys('model') }, kept, options),
  'the greatest groups': callGroupsQuery(
    { ...grouped('model'), bucket: bucketSql(null, 'UTC') },
    metrics,
    { first: 9 },
    false,
  ),
  'usage by model and status': usageGroupsQuery(grouped('model', 'status'), metrics.usage, kept, options),
  'what costs are made of by user': costGroupsQuery(
    { ...grouped('user'), bucket: bucketSql(300, 'UTC') },
    { keys: [['a']], rest: false },
    options,
  ),
}

it('the SQL of fields, values and aggregates is as checked in', () => expectReviewed('./call-values.sql', queries))
