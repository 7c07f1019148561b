// POST /calls/aggregate: calls, usage, costs and any number of calls over time, by up to two keys.
import {
  type CallsAggregateRequest,
  type CallsAggregateResponse,
  callsAggregateRequest,
  callsAggregateResponse,
} from '../../../../schemas/calls-aggregate.ts'
import { fault } from '../../../core/http/errors.ts'
import { type Reply, type Route, type RouteContext, route } from '../../../core/http/route.ts'
import type { Query } from '../../../core/store/store.ts'
import { statsTime } from '../../call-stats/buckets.ts'
import { createStatsCache, readIsBilled, readSplit } from '../../call-stats/rollup.ts'
import type { Prices } from '../../costs/prices.ts'
import { withFieldTimes } from '../access/field-index.ts'
import { indexOf, rangeOf } from '../access/scope.ts'
import { compileCallsQuery } from '../conditions/compile-query.ts'
import { callFields } from '../conditions/fields.ts'
import { callQueryTables, joinedTables, topicsOfQuery } from '../conditions/joined-tables.ts'
import { createRefine, type Refined } from '../conditions/refine.ts'
import { compactRows } from '../header.ts'
import type { QueryStatsDeps } from '../query-stats.ts'
import type { CallReader } from '../reader.ts'
import { type AggregateRow, answerOf, topOf } from './answer.ts'
import { type AggregateMetrics, groupKey, metricsOf } from './metrics.ts'
import { callGroupsQuery, costGroupsQuery, type Grouped, type KeptGroups, usageGroupsQuery } from './statements.ts'
import { type Bucket, bucketSql, bucketsWithin } from './times.ts'

export type AggregateDeps = QueryStatsDeps & { prices: Prices }

/** Groups that are looked at for the greatest ones. */
const rankedGroups = 10_000

type Times = { startUs: number; endUs: number }

function timesOf({ start, end }: { start: string | number; end: string | number }): Times {
  const times = { startUs: statsTime('start', start), endUs: statsTime('end', end) }
  if (times.endUs <= times.startUs) throw fault(400, 'end must be after start')
  return times
}

/** What of a range the query's own bounds leave of it; null = nothing. */
function rangeWithin({ query: { facts } }: CallReader, { startUs, endUs }: Times) {
  if (facts.nothing) return null
  const { fromUs, beforeUs } = rangeOf(facts)
  const range = { fromUs: Math.max(startUs, fromUs ?? startUs), beforeUs: Math.min(endUs, beforeUs ?? endUs) }
  return range.fromUs >= range.beforeUs ? null : range
}

/** The calls of a query that begin in a range, as one statement reads them; null = there are none. */
async function refinedWithin(reader: CallReader, times: Times): Promise<Refined | null> {
  const { query, projectId } = reader
  const range = rangeWithin(reader, times)
  if (range === null) return null
  const scope = { projectId, range, index: indexOf(query.facts), keys: null }
  const refine = createRefine(reader, false)
  return refine(query.payload.length > 0 ? await withFieldTimes(reader, scope) : scope)
}

/** Whether each bucket is made of whole minutes or hours; clocks of time zones differ from UTC by whole minutes. */
const isWhole = (bucket: Bucket, seconds: number): boolean =>
  bucket === null || (typeof bucket === 'number' ? bucket % seconds === 0 : seconds === 60)

type Asked = {
  /** For calls, and for their usage: of roots, usage counts that of spans below them too. */
  readers: { calls: CallReader; usage: CallReader }
  keys: Grouped['keys']
  metrics: AggregateMetrics
  bucket: Bucket
  timezone: string
  rootsOrSpans: boolean
}

export function createAggregateRoutes(deps: AggregateDeps): Route[] {
  const { store, freshness, prices, wirePrefix, wireAliases, feedbackPrefix, cache, words } = deps
  const names = { prefix: wirePrefix, aliases: wireAliases, feedbackPrefix }
  const statsCache = createStatsCache()

  const rows = async (reader: CallReader, statement: Query | false): Promise<AggregateRow[]> =>
    statement ? compactRows<AggregateRow>(await store.bytes(statement, 'JSONCompactEachRow', reader.options)) : []

  /** AggregateRows of each kind of metric for the groups that are kept apart. */
  async function read(asked: Asked, times: Times, kept: KeptGroups, kinds: ReadonlySet<string>, isBucketed: boolean) {
    const { readers, keys, metrics, rootsOrSpans } = asked
    const length = isBucketed ? asked.bucket : null
    const bucket = bucketSql(length, asked.timezone)
    const { query, store: from, projectId, options: within } = readers.calls
    // Parts of a bucket know nothing of filters, but for roots and times, and of keys the model of usage alone.
    const mayMerge = query.facts.counted !== null && keys.every((key) => key === 'model') && isWhole(length, 60)
    const range = mayMerge ? rangeWithin(readers.calls, times) : null
    const source = { store: from, projectId, options: within, cache: statsCache }
    const split = range && (await readSplit(source, { startUs: range.fromUs, endUs: range.beforeUs }))
    const parts = split ? { split, rootsOnly: rootsOrSpans, byHour: isWhole(length, 3600) } : undefined
    const areBilled = parts !== undefined && kinds.has('cost') && (await readIsBilled(source))
    const [calls, usage] = await Promise.all([
      kinds.has('calls') ? refinedWithin(readers.calls, times) : null,
      kinds.has('usage') || kinds.has('cost') ? refinedWithin(readers.usage, times) : null,
    ])
    const of = (refined: Refined, has = true): Grouped => ({ refined, keys, bucket, parts: has ? parts : undefined })
    const options = { isBucketed: isBucketed && asked.bucket !== null, rootsOrSpans }
    const hasUsage = kinds.has('usage') && !(kinds.has('cost') && metrics.isUsageOfCosts)
    const [ofCalls, ofUsage, ofCosts] = await Promise.all([
      rows(readers.calls, calls !== null && callGroupsQuery(of(calls), metrics, kept, options.isBucketed)),
      rows(readers.usage, usage !== null && hasUsage && usageGroupsQuery(of(usage), metrics.usage, kept, options)),
      rows(readers.usage, usage !== null && kinds.has('cost') && costGroupsQuery(of(usage, areBilled), kept, options)),
    ])
    return { calls: ofCalls, usage: ofUsage, cost: ofCosts }
  }

  async function aggregate(context: RouteContext<CallsAggregateRequest>): Promise<Reply> {
    const { input, signal } = context
    const projectId = context.project(input.project_id)
    const times = timesOf(input)
    const before = input.compare && timesOf(input.compare)
    const bucket = input.bucket ?? null
    const axis = bucketsWithin(bucket, input.timezone, times.startUs, times.endUs)
    const axisBefore = before && bucketsWithin(bucket, input.timezone, before.startUs, before.endUs)
    const fields = callFields(names)
    if (input.metrics.length === 0) throw fault(400, 'At least one metric is needed')
    const metrics = metricsOf(input.metrics, fields)
    const keys = input.group_by.map((name) => groupKey(name, fields, `${wirePrefix}_user_id`))
    const { filter, query: expression } = input
    const rootsOrSpans = filter?.trace_roots_only === true
    const query = compileCallsQuery({ filter, query: expression, projectId, ...names })
    const usageQuery = rootsOrSpans
      ? compileCallsQuery({ filter: { ...filter, trace_roots_only: false }, query: expression, projectId, ...names })
      : query
    const topics = topicsOfQuery(query)
    const headers = await freshness.wait(context, metrics.costs.length > 0 ? [...topics, 'costs'] : topics)
    const reader = { store, projectId, options: { signal }, cache, words }
    const readers = { calls: { ...reader, query }, usage: { ...reader, query: usageQuery } }
    const asked: Asked = { readers, keys, metrics, bucket, timezone: input.timezone, rootsOrSpans }
    const kinds = new Set<string>(metrics.all.map(({ of }) => of))
    const book = metrics.costs.length > 0 ? await prices.of(projectId, { signal }) : null
    const shape = { keys: keys.length, metrics, book }

    let kept: { keys: string[][] } = { keys: [] }
    let known: AggregateRow[] | undefined
    if (keys.length > 0) {
      // The first metric says which groups are the greatest.
      const [{ of: by } = { of: 'calls' }] = metrics.all
      const found = await read(asked, times, { first: rankedGroups }, new Set([by]), false)
      const greatest = topOf(found, shape, input.top + 1)
      kept = { keys: greatest.slice(0, input.top) }
      // No call is left for the rest: these are its values already.
      if (by === 'calls' && bucket === null && greatest.length <= input.top) known = found.calls
    }
    const others = known === undefined ? kinds : new Set([...kinds].filter((kind) => kind !== 'calls'))
    const [now, then] = await Promise.all([
      read(asked, times, kept, others, true).then((found) => (known ? { ...found, calls: known } : found)),
      before ? read(asked, before, kept, kinds, true) : null,
    ])
    const answer: CallsAggregateResponse = {
      buckets: axis.times,
      groups: answerOf(now, axis.names, bucket !== null, kept.keys, shape),
      ...(then &&
        axisBefore && {
          previous: {
            buckets: axisBefore.times,
            groups: answerOf(then, axisBefore.names, bucket !== null, kept.keys, shape),
          },
        }),
    }
    return { json: answer, headers }
  }

  return [
    route({
      name: 'calls.aggregate',
      method: 'POST',
      path: '/calls/aggregate',
      summary: 'Calls, usage, costs and numbers of calls over time, by up to two keys',
      body: { type: 'json', schema: callsAggregateRequest, check: 'schema' },
      response: callsAggregateResponse,
      tables: [...callQueryTables, ...joinedTables, 'call_stats', 'costs'],
      handle: aggregate,
    }),
  ]
}
