// The metrics and groups of an aggregate: the metrics of statistics, and numbers at any field of calls.
import type { CallsAggregateRequest } from '../../../../schemas/calls-aggregate.ts'
import { fault } from '../../../core/http/errors.ts'
import { identifier, param, type Sql, sql } from '../../../core/store/sql.ts'
import { type Aggregate, aggregatesOf, type MetricSpec, type MetricSql } from '../../call-stats/aggregates.ts'
import { isCost, placeOfSum } from '../../call-stats/costs.ts'
import { callMetrics, usageMetrics } from '../../call-stats/metrics.ts'
import type { UsageKey } from '../../call-stats/series.ts'
import { compileValue } from '../../language/compile.ts'
import { columnsOf } from '../../language/tree.ts'
import type { ColumnSql, Fields, Value } from '../../language/types.ts'
import { neutralName } from '../../language/wire-names.ts'
import { ofHeader } from '../conditions/conditions.ts'
import { isDocument, plainNameSql, readsBySource } from '../conditions/fields.ts'
import type { Document, HeaderColumn } from '../conditions/types.ts'

/** Something that is read of a call: as SQL, and what it reads. */
export type CallExpression = {
  sql: Sql
  columns: readonly HeaderColumn[]
  documents: readonly Document[]
  /** Statistics of usage tell it too. */
  usageKey?: UsageKey
}

const readOf = (value: Value, of: ColumnSql): CallExpression => {
  const { needs, columns } = readsBySource([...columnsOf(value as never)])
  return { sql: compileValue(value, of), columns: [...columns], documents: [...needs] }
}

/** @throws Fault 400 for what lies beside the call, 422 for fields that no call has */
function fieldValue(name: string, fields: Fields): Value {
  const field = fields(name)
  if (field.is === 'column') return { is: 'column', column: field.column }
  if (field.is === 'list' || !isDocument(field.json.document))
    throw fault(400, `Field ${name.slice(0, 200)} is not a value of the call itself`)
  return { is: 'json', json: field.json }
}

export type Key = 'model' | CallExpression

/** Words for columns whose wire names differ. */
const keyFields: Readonly<Record<string, string>> = { status: 'summary.weave.status', user: 'platform_user_id' }

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
  const read = readOf({ is: 'cast', to: 'double', of: fieldValue(field, fields) }, ofHeader)
  const place = sql`floor(assumeNotNull(${read.sql}) / ${param('Float64', size)}) + 0`
  return { ...read, sql: sql`if(isFinite(toNullable(${read.sql})), toString(${place}), '')` }
}

export function groupKey(name: string, fields: Fields): Key {
  if (name === 'model') return 'model'
  if (name === 'op_name') return { sql: plainNameSql(ofHeader), columns: ['op_name'], documents: [], usageKey: 'op' }
  if (name === 'latency_range') {
    const latency = readOf(fieldValue('summary.weave.latency_ms', fields), ofHeader)
    return { ...latency, sql: latencyRange(latency.sql) }
  }
  const range = valueRange.exec(name)
  if (range) return valueRangeKey(range, fields)
  const field = keyFields[name] ?? name
  const read = readOf(fieldValue(field, fields), ofHeader)
  return {
    ...read,
    sql: sql`ifNull(toString(${read.sql}), '')`,
    ...(neutralName(field) === 'user_id' && { usageKey: 'user' }),
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

/** @throws Fault 400 for metrics that there are not, 422 for fields that no call has */
export function metricsOf(asked: CallsAggregateRequest['metrics'], fields: Fields): AggregateMetrics {
  const found: AggregateMetrics = { all: [], values: [], calls: [], usage: [], costs: [], isUsageOfCosts: false }
  const known: Record<string, MetricSql> = { ...callMetrics }
  const calls: MetricSpec[] = []
  const usage: MetricSpec[] = []
  const columns = new Map<string, string>()
  const numberAt = (field: string): string => {
    const name = columns.get(field) ?? `v${columns.size}`
    if (!columns.has(field)) {
      const read = readOf({ is: 'cast', to: 'double', of: fieldValue(field, fields) }, ofHeader)
      found.values.push({ name, read: { ...read, sql: sql`toNullable(${read.sql})` } })
      known[name] = { value: identifier(name), merged: {} }
      columns.set(field, name)
    }
    return name
  }
  for (const { field, as } of asked) {
    const name = `${field}.${as}`
    if (isCost(field)) {
      if (as !== 'sum') throw fault(400, 'Costs have sums only')
      const metric = specOf(field, as)
      found.costs.push(metric)
      found.all.push({ name, of: 'cost', metric })
    } else {
      const isUsage = Object.hasOwn(usageMetrics, field)
      const metric = isUsage ? field : (named[field] ?? numberAt(field))
      const spec = specOf(metric, as)
      ;(isUsage ? usage : calls).push(spec)
      found.all.push({ name, of: isUsage ? 'usage' : 'calls', key: keyOfSpec(spec) })
    }
  }
  found.calls = aggregatesOf(calls, known)
  found.usage = aggregatesOf(usage, usageMetrics)
  found.isUsageOfCosts = found.costs.length > 0 && found.usage.every(({ key }) => placeOfSum(key) >= 0)
  return found
}
