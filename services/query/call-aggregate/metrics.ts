// The metrics and groups of an aggregate: the metrics of statistics, and numbers at any field of calls.
import type { CallsAggregateRequest } from '../../../schemas/calls-aggregate.ts'
import { fault } from '../../core/http/errors.ts'
import { identifier, param, type Sql, sql } from '../../core/store/sql.ts'
import { type Aggregate, aggregatesOf, type MetricSpec, type MetricSql } from '../call-stats/aggregates.ts'
import { isCost, placeOfSum } from '../call-stats/costs.ts'
import { callMetrics, usageMetrics } from '../call-stats/metrics.ts'
import type { StatsKey } from '../call-stats/series.ts'
import { ofHeader } from '../calls/conditions/conditions.ts'
import { isDocument, plainNameSql, readsBySource } from '../calls/conditions/fields.ts'
import type { DerivedField, Document, HeaderColumn } from '../calls/conditions/types.ts'
import { compileValue } from '../language/compile.ts'
import { columnsOf } from '../language/tree.ts'
import type { ColumnSql, Fields, Value } from '../language/types.ts'
import { neutralName } from '../language/wire-names.ts'

/** Something that is read of a call: as SQL, and what it reads. */
export type CallExpression = {
  sql: Sql
  columns: readonly HeaderColumn[]
  documents: readonly Document[]
  /** Columns that are joined to the call. */
  derived?: readonly DerivedField[]
  /** Statistics tell it too. */
  statsKey?: StatsKey
}

const readOf = (value: Value, of: ColumnSql): CallExpression => {
  const { needs, columns, derived } = readsBySource([...columnsOf(value as never)])
  return { sql: compileValue(value, of), columns: [...columns], documents: [...needs], derived: [...derived] }
}

/** @throws Fault 400 for what lies beside the call, 422 for fields that no call has */
function fieldValue(name: string, fields: Fields): Value {
  const field = fields(name)
  if (field.is === 'column') return { is: 'column', column: field.column }
  if (field.is === 'list' || !isDocument(field.json.document))
    throw fault(400, `Field ${name.slice(0, 200)} is not a value of the call itself`)
  return { is: 'json', json: field.json }
}

/** `either <field> or <field>`: the value of the first one that a call has. */
const eitherField = /^either (\S+) or (\S[\s\S]*)$/

/** The expression that a field of a request is read as; numbers where it is read as these. */
function fieldRead(name: string, fields: Fields, to?: 'double'): CallExpression {
  const [, ...either] = eitherField.exec(name) ?? []
  const [first, second] = (either.length > 0 ? either : [name]).map((one) => {
    const of = fieldValue(one, fields)
    return readOf(to === undefined ? of : { is: 'cast', to, of }, ofHeader)
  }) as [CallExpression, CallExpression?]
  if (second === undefined) return first
  // A text that is not there is read as an empty one.
  const value = to === undefined ? sql`nullIf(toString(${first.sql}), '')` : first.sql
  return {
    sql: sql`coalesce(${value}, ${to === undefined ? sql`toString(${second.sql})` : second.sql})`,
    columns: [...first.columns, ...second.columns],
    documents: [...first.documents, ...second.documents],
    derived: [...(first.derived ?? []), ...(second.derived ?? [])],
  }
}

export type Key = 'model' | CallExpression

/** Words for columns whose wire names differ. */
const keyFields: Readonly<Record<string, string>> = {
  status: 'summary.weave.status',
  user: 'platform_user_id',
  error_kind: 'summary.weave.error_kind',
}

/** Durations of what is counted. */
const latencyFields: Readonly<Record<Counted, string>> = {
  calls: 'summary.weave.latency_ms',
  traces: 'trace.duration_ms',
}

/** The least whole milliseconds of the range that a latency lies in: each is 1.4 times the one before; '' = it runs. */
const latencyRange = (ms: Sql): Sql =>
  sql`multiIf(isNull(${ms}), '', ${ms} < 1, '0', toString(toUInt64(ceil(exp2(floor(log2(assumeNotNull(${ms})) * 2) / 2)))))`

/** `range <width> <field>`: which range of so wide a number lies in, counted from 0. */
const valueRange = /^range (\d+(?:\.\d+)?(?:e[+-]?\d{1,3})?) (\S[\s\S]*)$/

/** '' where the field is no number. The zero takes the sign off that of the least range below it. */
function valueRangeKey([, width = '', field = '']: readonly string[], fields: Fields): CallExpression {
  const size = Number(width)
  if (!(size > 0 && Number.isFinite(size)))
    throw fault(400, `The width of a range is above 0, not ${width.slice(0, 50)}`)
  const read = fieldRead(field, fields, 'double')
  const place = sql`floor(assumeNotNull(${read.sql}) / ${param('Float64', size)}) + 0`
  return { ...read, sql: sql`if(isFinite(toNullable(${read.sql})), toString(${place}), '')` }
}

export type Counted = CallsAggregateRequest['count']

export function groupKey(name: string, fields: Fields, counted: Counted = 'calls'): Key {
  if (name === 'model') {
    if (counted === 'traces')
      throw fault(400, 'A trace has the models of all its calls: count calls to group them by model')
    return 'model'
  }
  if (name === 'op_name') return { sql: plainNameSql(ofHeader), columns: ['op_name'], documents: [], statsKey: 'op' }
  if (name === 'latency_range') {
    const latency = fieldRead(latencyFields[counted], fields)
    return { ...latency, sql: latencyRange(latency.sql) }
  }
  const range = valueRange.exec(name)
  if (range) return valueRangeKey(range, fields)
  const field = keyFields[name] ?? name
  const read = fieldRead(field, fields)
  return {
    ...read,
    sql: sql`ifNull(toString(${read.sql}), '')`,
    ...(neutralName(field) === 'user_id' && { statsKey: 'user' }),
  }
}

/** A metric of the answer, and where its value stands: among aggregates of calls or of usage, or a cost. */
type Metric = { name: string } & ({ of: 'calls' | 'usage'; key: string } | { of: 'cost'; metric: MetricSpec })

export type AggregateMetrics = {
  all: Metric[]
  /** Numbers of fields, by the name of their column. */
  values: { name: string; read: CallExpression }[]
  calls: Aggregate[]
  usage: Aggregate[]
  costs: MetricSpec[]
  /** Whether what costs are made of tells the usage, too: nothing but sums of tokens. */
  isUsageOfCosts: boolean
}

const named: Readonly<Record<string, keyof typeof callMetrics>> = {
  calls: 'call_count',
  errors: 'error_count',
  latency_ms: 'latency_ms',
}
const aggregations = new Set(['sum', 'avg', 'min', 'max', 'count'])

function specOf(metric: string, as: string): MetricSpec {
  if (aggregations.has(as)) return { metric, aggregations: [as as 'sum'], percentiles: [] }
  const percentile = /^p(\d{1,2}(?:\.\d{1,6})?|100)$/.exec(as)
  if (percentile === null)
    throw fault(400, `A metric is a sum, avg, min, max, count or p0 to p100, not ${as.slice(0, 50)}`)
  return { metric, aggregations: [], percentiles: [Number(percentile[1])] }
}
const keyOfSpec = ({ metric, aggregations: [name], percentiles: [percentile] }: MetricSpec): string =>
  name === undefined ? `p${percentile}_${metric}` : `${name}_${metric}`

/** Metrics of calls as those of whole traces. */
const ofTraces: Readonly<Record<string, string>> = {
  errors: 'trace.errors',
  latency_ms: latencyFields.traces,
  input_tokens: 'trace.input_tokens',
  output_tokens: 'trace.output_tokens',
  total_tokens: 'trace.total_tokens',
  total_cost: 'trace.cost',
}

/** The field that a metric of whole traces is read from; `calls` are the traces themselves. */
function traceField(metric: string): string {
  const field = Object.hasOwn(ofTraces, metric) ? ofTraces[metric] : undefined
  if (field === undefined && (isCost(metric) || Object.hasOwn(usageMetrics, metric)))
    throw fault(400, `Whole traces have no ${metric}`)
  return field ?? metric
}

/** A sum over traces of which none has a price is no cost. */
const withUnknownCosts = (aggregates: readonly Aggregate[], column = ''): Aggregate[] =>
  aggregates.map((one) => (one.key === `sum_${column}` ? { ...one, sql: sql`sumOrNull(${identifier(column)})` } : one))

/** @throws Fault 400 for metrics that there are not, 422 for fields that no call has */
export function metricsOf(
  asked: CallsAggregateRequest['metrics'],
  fields: Fields,
  counted: Counted = 'calls',
): AggregateMetrics {
  const found: AggregateMetrics = { all: [], values: [], calls: [], usage: [], costs: [], isUsageOfCosts: false }
  const known: Record<string, MetricSql> = { ...callMetrics }
  const calls: MetricSpec[] = []
  const usage: MetricSpec[] = []
  const columns = new Map<string, string>()
  const numberAt = (field: string, metric: string): string => {
    const name = columns.get(metric) ?? `v${columns.size}`
    if (!columns.has(metric)) {
      const read = fieldRead(field, fields, 'double')
      const value = metric === 'errors' ? sql`toUInt8(${read.sql} > 0)` : read.sql
      found.values.push({ name, read: { ...read, sql: sql`toNullable(${value})` } })
      known[name] = { value: identifier(name), merged: {} }
      columns.set(metric, name)
    }
    return name
  }
  const ofCalls = (name: string, metric: string, as: string): void => {
    const spec = specOf(metric, as)
    calls.push(spec)
    found.all.push({ name, of: 'calls', key: keyOfSpec(spec) })
  }
  for (const { field, as } of asked) {
    const name = `${field}.${as}`
    if (isCost(field) && as !== 'sum') throw fault(400, 'Costs have sums only')
    if (counted === 'traces') ofCalls(name, field === 'calls' ? 'call_count' : numberAt(traceField(field), field), as)
    else if (isCost(field)) {
      const metric = specOf(field, as)
      found.costs.push(metric)
      found.all.push({ name, of: 'cost', metric })
    } else if (Object.hasOwn(usageMetrics, field)) {
      const spec = specOf(field, as)
      usage.push(spec)
      found.all.push({ name, of: 'usage', key: keyOfSpec(spec) })
    } else ofCalls(name, named[field] ?? numberAt(field, field), as)
  }
  found.calls = withUnknownCosts(aggregatesOf(calls, known), columns.get('total_cost'))
  found.usage = aggregatesOf(usage, usageMetrics)
  found.isUsageOfCosts = found.costs.length > 0 && found.usage.every(({ key }) => placeOfSum(key) >= 0)
  return found
}
