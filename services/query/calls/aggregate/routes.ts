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
import {
  anyUsage,
  areMinutesByModel,
  createStatsCache,
  readIsBilled,
  readSplit,
  readUsageFacts,
} from '../../call-stats/rollup.ts'
import { readTuples } from '../../compact-rows.ts'
import { pricesFor } from '../../costs/model-prices.ts'
import { createWholeTraces } from '../../traces/whole-traces.ts'
import { withFieldTimes } from '../access/field-index.ts'
import { indexOf, rangeOf, type Scope } from '../access/scope.ts'
import { compileCallsQuery } from '../conditions/compile-query.ts'
import { callFields } from '../conditions/fields.ts'
import { callQueryTables, joinedTables, topicsOfQuery, traceTables } from '../conditions/joined-tables.ts'
import { createRefine, type Refined } from '../conditions/refine.ts'
import type { QueryStatsDeps } from '../query-stats.ts'
import type { CallReader } from '../reader.ts'
import { type AggregateRow, answerOf, topOf, unpricedOf } from './answer.ts'
import { type AggregateMetrics, groupKey, metricsOf } from './metrics.ts'
import { callGroupsQuery, costGroupsQuery, type Grouped, type KeptGroups, usageGroupsQuery } from './statements.ts'
import { type Bucket, bucketSql, bucketsWithin } from './times.ts'

export type AggregateDeps = QueryStatsDeps

/** Groups that are looked at for the greatest ones. */
const rankedGroups = 10_000

type Times = { startUs: number; endUs: number }

function timesOf({ start, end }: { start: string | number; end: string | number }): Times {
  const times = { startUs: statsTime('start', start), endUs: statsTime('end', end) }
  if (times.endUs <= times.startUs) throw fault(400, 'end must be after start')
  return times
}

/** The part of a range within the query's own bounds; null = nothing. */
function rangeWithin({ query: { facts } }: CallReader, { startUs, endUs }: Times) {
  if (facts.nothing) return null
  const { fromUs, beforeUs } = rangeOf(facts)
  const range = { fromUs: Math.max(startUs, fromUs ?? startUs), beforeUs: Math.min(endUs, beforeUs ?? endUs) }
  return range.fromUs >= range.beforeUs ? null : range
}

/**
 * The calls of a query that begin in a range, as one statement reads them; null = there are none.
 * @param within the parts of it that are looked at; without them all of it is
 */
async function refinedWithin(reader: CallReader, times: Times, within?: Scope['within']): Promise<Refined | null> {
  const { query, projectId } = reader
  const range = rangeWithin(reader, times)
  if (range === null || within?.length === 0) return null
  const scope: Scope = { projectId, range, index: indexOf(query.facts), keys: null, ...(within && { within }) }
  const refine = createRefine(reader, false)
  return refine(query.payload.length > 0 ? await withFieldTimes(reader, scope) : scope)
}

/** Whether each bucket is made of whole minutes or hours; clocks of time zones differ from UTC by whole minutes. */
const isWhole = (bucket: Bucket, seconds: number): boolean =>
  bucket === null || (typeof bucket === 'number' ? bucket % seconds === 0 : seconds === 60)

type Asked = {
  /** Readers of calls, and of their usage: the usage of roots includes that of spans below them. */
  readers: { calls: CallReader; usage: CallReader }
  keys: Grouped['keys']
  metrics: AggregateMetrics
  bucket: Bucket
  timezone: string
  rootsOrSpans: boolean
}

export function createAggregateRoutes(deps: AggregateDeps): Route[] {
  const { store, freshness, prices, feedbackPrefix, cache, words } = deps
  const statsCache = createStatsCache()
  const wholeTraces = createWholeTraces(deps)

  const rows = async (reader: CallReader, statement: Query | false): Promise<AggregateRow[]> =>
    statement ? readTuples<AggregateRow>(store, statement, reader.options) : []

  /** Reads statistics of minutes and hours: parts of buckets, and the parts of the range that have no calls. */
  async function readParts(asked: Asked, times: Times, kinds: ReadonlySet<string>, length: Bucket) {
    const { readers, keys, rootsOrSpans } = asked
    const { query, store: from, projectId, options } = readers.calls
    // Parts of a bucket know nothing of filters, but for roots and times, and of keys those of usage alone.
    const known = keys.every((key) => key === 'model' || key.usageKey !== undefined)
    const mayMerge = query.facts.counted !== null && known && isWhole(length, 60)
    const readsUsage = kinds.has('usage') || kinds.has('cost')
    const range = mayMerge || readsUsage ? rangeWithin(readers.calls, times) : null
    const source = { store: from, projectId, options, cache: statsCache }
    const split = range && (await readSplit(source, { startUs: range.fromUs, endUs: range.beforeUs }))
    const [areBilled, facts] = await Promise.all([
      kinds.has('cost') && readIsBilled(source),
      // Without these facts a missing value would need a look at all payloads.
      split === null || !readsUsage ? anyUsage : readUsageFacts(source, split),
    ])
    const isByOp = keys.some((key) => key !== 'model')
    // The minutes of an hour with more ops and users than it tells apart may each have few enough.
    const readsMinutes = mayMerge && readsUsage && isByOp && facts.isByModel
    const isByModel = readsMinutes && split !== null ? await areMinutesByModel(source, split) : facts.isByModel
    const hasParts = mayMerge && !(isByOp && isByModel)
    const byHour = isWhole(length, 3600) && !readsMinutes
    const parts = split && hasParts ? { split, rootsOnly: rootsOrSpans, byHour } : undefined
    const payloadsWithin = {
      ...(split && facts.any && !facts.spans && { spansWithin: split.live }),
      ...(split && facts.any && !facts.billed && areBilled && { unbilled: split }),
    }
    return {
      parts,
      readsUsage,
      areBilled,
      hasUsage: facts.any,
      usageWithin: facts.any ? undefined : split?.live,
      payloadsWithin,
    }
  }

  /** AggregateRows of each kind of metric for the groups that are kept apart. */
  async function read(asked: Asked, times: Times, kept: KeptGroups, kinds: ReadonlySet<string>, isBucketed: boolean) {
    const { readers, keys, metrics, rootsOrSpans } = asked
    const length = isBucketed ? asked.bucket : null
    const bucket = bucketSql(length, asked.timezone)
    const { parts, readsUsage, areBilled, hasUsage, usageWithin, payloadsWithin } = await readParts(
      asked,
      times,
      kinds,
      length,
    )
    const [calls, usage] = await Promise.all([
      kinds.has('calls') ? refinedWithin(readers.calls, times) : null,
      readsUsage ? refinedWithin(readers.usage, times, usageWithin) : null,
    ])
    const of = (refined: Refined, has: boolean): Grouped => ({
      refined,
      keys,
      bucket,
      parts: has ? parts : undefined,
      ...payloadsWithin,
    })
    const options = { isBucketed: isBucketed && asked.bucket !== null, rootsOrSpans }
    const isOfUsage = kinds.has('usage') && !(kinds.has('cost') && metrics.isUsageOfCosts)
    const [ofCalls, ofUsage, ofCosts] = await Promise.all([
      rows(readers.calls, calls !== null && callGroupsQuery(of(calls, true), metrics, kept, options.isBucketed)),
      rows(
        readers.usage,
        usage !== null && isOfUsage && usageGroupsQuery(of(usage, hasUsage), metrics.usage, kept, options),
      ),
      rows(
        readers.usage,
        usage !== null && kinds.has('cost') && costGroupsQuery(of(usage, areBilled && hasUsage), kept, options),
      ),
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
    const fields = callFields()
    if (input.metrics.length === 0) throw fault(400, 'At least one metric is needed')
    const metrics = metricsOf(input.metrics, fields)
    const keys = input.group_by.map((name) => groupKey(name, fields))
    const { filter, query: expression } = input
    const rootsOrSpans = filter?.trace_roots_only === true
    const modelPrices = await pricesFor(deps, projectId, context)
    const of = { query: expression, projectId, feedbackPrefix, prices: modelPrices, wholeTraces: true }
    const compiled = compileCallsQuery({ filter, ...of })
    const topics = topicsOfQuery(compiled)
    const headers = await freshness.wait(context, metrics.costs.length > 0 ? [...topics, 'costs'] : topics)
    const reader = { store, projectId, options: { signal }, cache, words }
    const query = await wholeTraces(compiled, reader)
    const usageQuery = rootsOrSpans
      ? await wholeTraces(compileCallsQuery({ filter: { ...filter, trace_roots_only: false }, ...of }), reader)
      : query
    const readers = { calls: { ...reader, query }, usage: { ...reader, query: usageQuery } }
    const asked: Asked = { readers, keys, metrics, bucket, timezone: input.timezone, rootsOrSpans }
    const kinds = new Set<string>(metrics.all.map(({ of }) => of))
    const book = metrics.costs.length > 0 ? await prices.of(projectId, { signal }) : null
    const shape = { keys: keys.length, metrics, book, rest: input.rest }

    let kept: { keys: string[][]; rest: boolean } = { keys: [], rest: true }
    let known: AggregateRow[] | undefined
    if (keys.length > 0) {
      // The first metric says which groups are the greatest.
      const [{ of: by } = { of: 'calls' }] = metrics.all
      const found = await read(asked, times, { first: rankedGroups }, new Set([by]), false)
      const greatest = topOf(found, shape, input.top + 1)
      kept = { keys: greatest.slice(0, input.top), rest: input.rest }
      // Where the rest is not asked for, or no call is left for it, these are the values already.
      if (by === 'calls' && bucket === null && (!input.rest || greatest.length <= input.top)) known = found.calls
    }
    const others = known === undefined ? kinds : new Set([...kinds].filter((kind) => kind !== 'calls'))
    const [now, then] = await Promise.all([
      read(asked, times, kept, others, true).then((found) => (known ? { ...found, calls: known } : found)),
      before ? read(asked, before, kept, kinds, true) : null,
    ])
    const unpriced = unpricedOf(now, shape)
    const answer: CallsAggregateResponse = {
      buckets: axis.times,
      ...(unpriced && { unpriced_models: unpriced }),
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
      countsAll: true,
      method: 'POST',
      path: '/calls/aggregate',
      summary: 'Calls, usage, costs and numbers of calls over time, by up to two keys',
      body: { type: 'json', schema: callsAggregateRequest, check: 'schema' },
      response: callsAggregateResponse,
      tables: [...callQueryTables, ...joinedTables, ...traceTables, 'call_stats'],
      handle: aggregate,
    }),
  ]
}
