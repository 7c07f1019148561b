// POST /calls/aggregate: calls, usage, costs and any number of calls over time, by up to two keys.

import {
  type CallsAggregateRequest,
  type CallsAggregateResponse,
  callsAggregateRequest,
  callsAggregateResponse,
} from '../../../schemas/calls-aggregate.ts'
import { fault } from '../../core/http/errors.ts'
import { type Reply, type Route, type RouteContext, route } from '../../core/http/route.ts'
import { statsTime } from '../call-stats/buckets.ts'
import { createStatsCache } from '../call-stats/rollup.ts'
import { createCountCache } from '../calls/access/counts.ts'
import { compileCallsQuery } from '../calls/conditions/compile-query.ts'
import { expandedPaths } from '../calls/conditions/expanded.ts'
import { callFields } from '../calls/conditions/fields.ts'
import { callQueryTables, joinedTables, topicsOfQuery, traceTables } from '../calls/conditions/joined-tables.ts'
import { derivedFieldFactory } from '../calls/conditions/joins.ts'
import type { TraceField } from '../calls/conditions/trace-fields.ts'
import type { CompiledCallsQuery } from '../calls/conditions/types.ts'
import { pricesFor } from '../calls/model-prices.ts'
import type { QueryStatsDeps } from '../calls/query-stats.ts'
import { type AggregateRow, type AggregateRows, type AnswerShape, answerOf, topOf, unpricedOf } from './answer.ts'
import { groupKey, metricsOf } from './metrics.ts'
import { type AskedGroups, type KnownRange, readAggregateRows, readKnown, type Times } from './read-rows.ts'
import { bucketsWithin } from './times.ts'

export type AggregateDeps = Omit<QueryStatsDeps, 'cache'>

/** Groups that are looked at for the greatest ones. */
const rankedGroups = 10_000

function timesOf({ start, end }: { start: string | number; end: string | number }): Times {
  const times = { startUs: statsTime('start', start), endUs: statsTime('end', end) }
  if (times.endUs <= times.startUs) throw fault(400, 'end must be after start')
  return times
}

/** A trace counts at its roots. */
const filterOf = ({ filter, count }: CallsAggregateRequest) =>
  count === 'traces' ? { ...filter, trace_roots_only: true } : filter

type QueryAsked = Parameters<typeof compileCallsQuery>[0]

/** A query that brings columns of whole traces along: values and groups may be of these as well as conditions. */
function compiledWith(columns: Iterable<TraceField>, asked: QueryAsked): CompiledCallsQuery {
  const query = compileCallsQuery(asked)
  for (const column of columns) query.derivedFields.traces.columns.add(column)
  return query
}

type Greatest = { kept: { keys: string[][]; rest: boolean }; known: Partial<AggregateRows> }

/** The rows of the groups that are kept apart. */
function keptRows(rows: readonly AggregateRow[], keys: readonly (readonly string[])[]): AggregateRow[] {
  const kept = new Set(keys.map((group) => JSON.stringify(group)))
  const length = keys[0]?.length ?? 0
  return rows.filter((row) => kept.has(JSON.stringify(row.slice(2, 2 + length))))
}

/** The greatest groups by the first metric, and rows that are known with them. */
async function greatestGroups(
  asked: AskedGroups,
  range: KnownRange,
  shape: AnswerShape,
  top: number,
): Promise<Greatest> {
  if (shape.keys === 0) return { kept: { keys: [], rest: true }, known: {} }
  const [{ of: by } = { of: 'calls' as const }] = shape.metrics.all
  const found = await readAggregateRows(asked, range, { first: rankedGroups }, new Set([by]), false)
  const greatest = topOf(found, shape, top + 1)
  const kept = { keys: greatest.slice(0, top), rest: shape.rest }
  // Where the rest is not asked for, or no call is left for it, these are the values already. Costs have a row per model:
  // some of a group may be cut off.
  const isWhole = by === 'calls' || (by === 'cost' && found.cost.length < rankedGroups)
  const isKnown = isWhole && asked.bucket === null && (!shape.rest || greatest.length <= top)
  return { kept, known: isKnown ? { [by]: keptRows(found[by], kept.keys) } : {} }
}

/** The kinds of rows that are still to be read. */
const unknownKinds = (
  kinds: ReadonlySet<string>,
  { cost, calls }: Partial<AggregateRows>,
  metrics: AnswerShape['metrics'],
) =>
  new Set(
    [...kinds].filter((kind) => (kind === 'calls' ? !calls : !cost || (kind === 'usage' && !metrics.isUsageOfCosts))),
  )

export function createAggregateRoutes(deps: AggregateDeps): Route[] {
  const { store, freshness, prices, feedbackPrefix, words, wholeTraces } = deps
  const cache = createCountCache()
  const statsCache = createStatsCache()

  async function aggregate(context: RouteContext<CallsAggregateRequest>): Promise<Reply> {
    const { input, signal } = context
    const projectId = context.project(input.project_id)
    const times = timesOf(input)
    const before = input.compare && timesOf(input.compare)
    const bucket = input.bucket ?? null
    const axis = bucketsWithin(bucket, input.timezone, times.startUs, times.endUs)
    const axisBefore = before && bucketsWithin(bucket, input.timezone, before.startUs, before.endUs)
    const { query: expression, count } = input
    const derived = derivedFieldFactory(feedbackPrefix)
    const fields = callFields({ derived, expand: expandedPaths([]), wholeTraces: true, errors: true })
    if (input.metrics.length === 0) throw fault(400, 'At least one metric is needed')
    const metrics = metricsOf(input.metrics, fields, count)
    const keys = input.group_by.map((name) => groupKey(name, fields, count))
    const oncePerTrace = count === 'traces'
    const filter = filterOf(input)
    const rootsOrSpans = filter?.trace_roots_only === true
    const { columns } = derived.fields.traces
    const modelPrices = await pricesFor(deps, projectId, context)
    const of = { query: expression, projectId, feedbackPrefix, prices: modelPrices, wholeTraces: true }
    const compiled = compiledWith(columns, { filter, ...of })
    const topics = topicsOfQuery(compiled)
    const headers = await freshness.wait(context, metrics.costs.length > 0 ? [...topics, 'costs'] : topics)
    const reader = { store, projectId, options: { signal }, cache, words }
    const query = await wholeTraces(compiled, reader)
    const usageQuery = rootsOrSpans
      ? await wholeTraces(compiledWith(columns, { filter: { ...filter, trace_roots_only: false }, ...of }), reader)
      : query
    const readers = { calls: { ...reader, query }, usage: { ...reader, query: usageQuery } }
    const { timezone } = input
    const book = metrics.costs.length > 0 ? await prices.of(projectId, { signal }) : null
    const asked = { readers, keys, metrics, bucket, timezone, rootsOrSpans, oncePerTrace, cache: statsCache, book }
    const kinds = new Set<string>(metrics.all.map(({ of }) => of))
    const shape = { keys: keys.length, metrics, book, rest: input.rest }

    const knownRange = async (of: Times) => ({ times: of, known: await readKnown(asked, of, kinds) })
    const [range, rangeBefore] = await Promise.all([knownRange(times), before && knownRange(before)])
    const { kept, known } = await greatestGroups(asked, range, shape, input.top)
    const others = unknownKinds(kinds, known, metrics)
    const [now, then] = await Promise.all([
      readAggregateRows(asked, range, kept, others, true).then((found) => ({ ...found, ...known })),
      rangeBefore ? readAggregateRows(asked, rangeBefore, kept, kinds, true) : null,
    ])
    const unpriced = unpricedOf(now, shape)
    const groupsOf = (rows: AggregateRows, names: readonly string[]) =>
      answerOf(rows, names, bucket !== null, kept.keys, shape)
    const answer: CallsAggregateResponse = {
      buckets: axis.times,
      ...(unpriced && { unpriced_models: unpriced }),
      groups: groupsOf(now, axis.names),
      ...(then && axisBefore && { previous: { buckets: axisBefore.times, groups: groupsOf(then, axisBefore.names) } }),
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
