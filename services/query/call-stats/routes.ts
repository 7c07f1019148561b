// Time series of calls and their usage: POST /calls/stats.

import { type CallsStatsRequest, callsStatsRequest, callsStatsResponse } from '../../../schemas/call-stats.ts'
import { formatTimestamp } from '../../core/clock/timestamps.ts'
import { fault, invalid } from '../../core/http/errors.ts'
import { type Reply, type Route, type RouteContext, route } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'
import type { Freshness } from '../../core/log/freshness.ts'
import type { Query, Store } from '../../core/store/store.ts'
import { compileCallsQuery } from '../calls/conditions/compile-query.ts'
import { readTuples } from '../compact-rows.ts'
import type { Prices } from '../costs/prices.ts'
import { textReply } from '../text-reply.ts'
import { type Aggregate, aggregatesOf, distinguishesNull } from './aggregates.ts'
import { type Line, seriesTexts } from './answer.ts'
import { bucketsOf, granularityOf, statsTime, zonedTimes } from './buckets.ts'
import { costsOfSums, isCost, tokenMetrics, tokenSums } from './costs.ts'
import { callMetrics, usageMetrics } from './metrics.ts'
import { planSeries } from './plan.ts'
import { createStatsCache } from './rollup.ts'

export type CallStatsDeps = {
  store: Pick<Store, 'bytes'>
  freshness: Freshness
  prices: Prices
}

type Value = number | null
type Row = [count: number, ...values: Value[]]
type CallRow = [bucket: number, ...row: Row]
type UsageRow = [bucket: number, model: string, ...row: Row]

const maxSpanUs = 31 * 86_400 * 1e6
/** Most rows of one list of an answer, buckets times models, and most values of all of them. */
const maxRows = 200_000
const maxValues = 2_000_000

/** Rows that an answer may have when each has the aggregates and their number of data points. */
const rowsOf = (aggregates: readonly Aggregate[]): number =>
  Math.min(maxRows, Math.floor(maxValues / (aggregates.length + 1)))

/** Buckets that an answer may have for what is asked of it. */
const bucketsFor = (metrics: readonly object[], aggregates: readonly Aggregate[]): number =>
  metrics.length > 0 ? rowsOf(aggregates) : Number.POSITIVE_INFINITY

const tooManyValues = () =>
  fault(
    400,
    `More than ${maxRows} rows or ${maxValues} values: ask for a greater granularity, a shorter time or fewer aggregates`,
  )

/** The range and the buckets of a request. @throws Fault 422 */
function timesOf(input: CallsStatsRequest): { startUs: number; endUs: number; granularity: number } {
  const startUs = statsTime('start', input.start)
  const endUs = input.end === undefined ? Date.now() * 1000 : statsTime('end', input.end)
  const refuse = (msg: string) => invalid({ loc: ['body'], msg: `Value error, ${msg}`, type: 'value_error' })
  if (endUs < startUs) throw refuse('CallStatsReq end must be after start')
  if (endUs - startUs > maxSpanUs) throw refuse('CallStatsReq date range cannot exceed 31 days')
  return {
    startUs,
    endUs,
    granularity: granularityOf((endUs - startUs) / 1e6, input.granularity as number | undefined),
  }
}

/** The calls of a filter, and those whose usage counts: that of roots includes the spans below them. */
function queriesOf(filter: CallsStatsRequest['filter'], projectId: ProjectId) {
  const rootsOnly = filter?.trace_roots_only === true
  const query = compileCallsQuery({ filter, projectId })
  const usageQuery = rootsOnly
    ? compileCallsQuery({ filter: { ...filter, trace_roots_only: false }, projectId })
    : query
  return { query, usageQuery, rootsOnly }
}

const emptyRow = (aggregates: readonly Aggregate[]): Row => [0, ...aggregates.map(({ empty }) => empty)]

function lineOf(head: Line, aggregates: readonly Aggregate[], values: readonly Value[], count: number): Line {
  const line: Line = { ...head }
  for (const [n, { key }] of aggregates.entries()) line[key] = values[n] ?? null
  line.count = count
  return line
}

/** Rows of usage by bucket and model. */
function byBucket(rows: readonly UsageRow[]): Map<number, Map<string, Row>> {
  const found = new Map<number, Map<string, Row>>()
  for (const [bucket, model, ...row] of rows) {
    const rowsOfBucket = found.get(bucket)
    if (rowsOfBucket) rowsOfBucket.set(model, row)
    else found.set(bucket, new Map([[model, row]]))
  }
  return found
}

/** A line for each bucket and model, made when it is written. */
function* linesOf(
  buckets: readonly number[],
  models: readonly string[],
  written: (bucket: number) => string,
  line: (bucket: number, timestamp: string, model: string) => Line,
): Generator<Line> {
  for (const bucket of models.length > 0 ? buckets : []) {
    const timestamp = written(bucket)
    for (const model of models) yield line(bucket, timestamp, model)
  }
}

export function createCallStatsRoutes(deps: CallStatsDeps): Route[] {
  const { store, freshness, prices } = deps
  const cache = createStatsCache()

  async function stats(context: RouteContext<CallsStatsRequest>): Promise<Reply> {
    const { input, signal } = context
    const projectId = context.project(input.project_id)
    const { filter, usage_metrics: usage = [], call_metrics: calls = [] } = input
    const time = timesOf(input)
    const { startUs, endUs, granularity } = time
    const written = zonedTimes(input.timezone)
    const withCosts = usage.some(({ metric }) => isCost(metric))
    const ofUsage = aggregatesOf(tokenMetrics(usage), usageMetrics)
    const readOfUsage = withCosts ? [...ofUsage, ...tokenSums] : ofUsage
    const ofCalls = aggregatesOf(calls, callMetrics)
    const starts = bucketsOf(startUs, endUs, granularity)
    const most = rowsOf(readOfUsage)
    // Every bucket has a row, and one for each model once there is one.
    if (starts.length > Math.min(bucketsFor(usage, readOfUsage), bucketsFor(calls, ofCalls))) throw tooManyValues()
    const queries = queriesOf(filter, projectId)
    const headers = await freshness.wait(context, withCosts ? ['calls', 'costs'] : ['calls'])
    const read = async <Row>(statement: Query | false | undefined): Promise<Row[]> =>
      statement ? readTuples<Row>(store, statement, { signal }) : []
    const plan =
      usage.length + calls.length > 0
        ? await planSeries({ store, projectId, options: { signal }, cache }, { ...queries, withCosts, time })
        : null
    const exactTotals = distinguishesNull(usage, 'total_tokens')
    const [usageRows, callRows, book] = await Promise.all([
      read<UsageRow>(
        usage.length > 0 &&
          !queries.usageQuery.facts.nothing &&
          plan?.usage(readOfUsage, { exactTotals, most: most + 1 }),
      ),
      read<CallRow>(calls.length > 0 && !queries.query.facts.nothing && plan?.calls(ofCalls)),
      withCosts ? prices.of(projectId, { signal }) : null,
    ])

    const models = [...new Set(usageRows.map(([, model]) => model))].sort()
    if (starts.length * models.length > most) throw tooManyValues()
    const callsAt = new Map(callRows.map(([bucket, ...row]) => [bucket, row]))
    const usageAt = byBucket(usageRows)
    const none = { usage: emptyRow(readOfUsage), calls: emptyRow(ofCalls) }
    const usageLine = (bucket: number, timestamp: string, model: string): Line => {
      const [count, ...values] = usageAt.get(bucket)?.get(model) ?? none.usage
      const line = lineOf({ timestamp, model }, ofUsage, values, count)
      if (book) Object.assign(line, costsOfSums(usage, book.latest(model), values.slice(ofUsage.length)))
      return line
    }
    function* callLines(): Generator<Line> {
      for (const bucket of calls.length > 0 ? starts : []) {
        const [count, ...values] = callsAt.get(bucket) ?? none.calls
        yield lineOf({ timestamp: written(bucket) }, ofCalls, values, count)
      }
    }
    const head = {
      start: formatTimestamp(startUs),
      end: formatTimestamp(endUs),
      granularity: usage.length + calls.length === 0 ? 0 : granularity,
      timezone: input.timezone,
    }
    return textReply(
      seriesTexts(head, { usage_buckets: linesOf(starts, models, written, usageLine), call_buckets: callLines() }),
      headers,
    )
  }

  return [
    route({
      name: 'calls.stats',
      countsAll: true,
      method: 'POST',
      path: '/calls/stats',
      summary: 'Calls and their usage over time, in buckets',
      body: { type: 'json', schema: callsStatsRequest, check: 'schema' },
      response: callsStatsResponse,
      tables: [
        'calls',
        'call_keys',
        'payloads',
        'call_marks',
        'call_stats',
        'usage_shares',
        'orphan_roots',
        'rollups',
        'costs',
      ],
      handle: stats,
    }),
  ]
}
