// Time series against a brute-force count over generated histories: late ends, renames, deletes, redelivery, moved starts.
// again: property
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CallFragment } from '../../services/events/calls.ts'
import { splitTime } from '../../services/query/call-stats/rollup.ts'
import { createHistory, createModel, type End, type Op, type Shown, type Start } from '../fixtures/call-histories.ts'
import { type CallWorld, complete, createCallWorld, end, rename, start } from '../fixtures/call-world.ts'
import { createRandom, type Random } from '../fixtures/random.ts'
import { runs } from '../fixtures/runs.ts'

let world: CallWorld
beforeAll(async () => {
  world = await createCallWorld()
})
afterAll(() => world.remove())

const random = createRandom(20_260_330)
const project = 'ent/proj'
const model = createModel()
const models = ['m1', 'm2', 'Vendor/m3']
const tokens = [
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'total_tokens',
]

/** Usage follows from the number of an end: 0 to 3 models, among them zeros and large numbers. */
function usageOf({ n }: End): { model: string; values: number[] }[] {
  const own = createRandom(n)
  return models
    .filter(() => own.chance(0.4))
    .map((name) => ({
      model: name,
      values: tokens.map(() => (own.chance(0.3) ? own.below(2) : own.below(own.chance(0.1) ? 1e9 : 500))),
    }))
}
const isSpan = ({ n }: Start): boolean => n % 3 === 0

const userOf = ({ n }: Start): string => ['', 'ada', 'ben'][n % 5] ?? ''

const startFields = (from: Start) => ({
  startedUs: from.us,
  traceId: from.trace,
  parentId: from.parent ?? '',
  opName: from.op,
  displayName: from.name,
  userId: userOf(from),
  otelDump: isSpan(from) ? '{"span":1}' : '',
})
const endFields = (from: End) => ({
  endedUs: from.us,
  exception: from.exception ?? '',
  usage: usageOf(from).map(({ model, values: [input = 0, output = 0, cacheRead = 0, cacheWrite = 0, total = 0] }) => ({
    model,
    requests: 1,
    input,
    output,
    total,
    cacheRead,
    cacheWrite,
  })),
})

function partOf(op: Exclude<Op, { is: 'delete' }>): CallFragment {
  if (op.is === 'start') return start(op.id, startFields(op.start))
  if (op.is === 'end') return end(op.id, endFields(op.end))
  if (op.is === 'complete') return complete(op.id, { ...startFields(op.start), ...endFields(op.end) })
  return rename(op.id, op.name)
}

/** Applies histories in batches; some of them come twice, some counters are brought up to date in between. */
async function write(from: number, count: number): Promise<void> {
  let batch: CallFragment[] = []
  const flush = async () => {
    if (batch.length > 0) await world.apply(batch)
    if (random.chance(0.2)) await world.apply(batch.filter(() => random.chance(0.3)))
    batch = []
  }
  for (let n = from; n < from + count; n++) {
    for (const op of createHistory(random, n, [project, 'ent/other']).ops) {
      const deleted = model.apply(project, op)
      if (op.is === 'delete') {
        await flush()
        const { json } = await world.ask('/calls/delete', { call_ids: op.ids })
        expect(json).toEqual({ num_deleted: deleted })
      } else batch.push(partOf(op))
    }
    if (random.chance(0.08)) await flush()
  }
  await flush()
}

type Row = Record<string, string | number | null>
type Asked = { fromUs: number; beforeUs: number; granularity: number; rootsOnly: boolean }
const aggregations = ['sum', 'avg', 'min', 'max', 'count']

/** The aggregates of some values, by their definitions. */
function aggregated(metric: string, values: number[], names: string[]): Row {
  const sum = values.reduce((all, one) => all + one, 0)
  const known: Record<string, number | null> = {
    sum,
    avg: values.length === 0 ? 0 : sum / values.length,
    min: values.length === 0 ? null : Math.min(...values),
    max: values.length === 0 ? null : Math.max(...values),
    count: values.length,
    count_true: values.filter((value) => value === 1).length,
    count_false: values.filter((value) => value === 0).length,
  }
  return Object.fromEntries(names.map((name) => [`${name}_${metric}`, known[name] ?? null]))
}

function percentile(values: number[], p: number): number | null {
  if (values.length === 0) return null
  const sorted = [...values].sort((a, b) => a - b)
  const k = (p / 100) * (sorted.length - 1)
  const [low, high] = [sorted[Math.floor(k)] as number, sorted[Math.ceil(k)] as number]
  return low + (high - low) * (k - Math.floor(k))
}

const all = [...aggregations, 'count_true', 'count_false']
const requestOf = ({ fromUs, beforeUs, granularity, rootsOnly }: Asked) => ({
  start: fromUs / 1e6,
  end: beforeUs / 1e6,
  granularity,
  filter: { trace_roots_only: rootsOnly },
  call_metrics: [
    { metric: 'latency_ms', aggregations: all, percentiles: random.chance(0.5) ? [50, 99.9] : [] },
    { metric: 'error_count', aggregations: all },
    { metric: 'call_count', aggregations: all },
  ],
  usage_metrics: [
    ...tokens.slice(0, 4).map((metric) => ({ metric, aggregations })),
    { metric: 'total_tokens' },
    { metric: 'total_cost' },
  ],
})

function expected(asked: Asked, withPercentiles: boolean): { calls: Row[]; usage: Row[] } {
  const { fromUs, beforeUs, granularity, rootsOnly } = asked
  const inside = model.shown(project).filter((call) => call.start.us >= fromUs && call.start.us < beforeUs)
  const size = granularity * 1e6
  const at = (us: number) => Math.floor(us / size) * size
  const timestamps: number[] = []
  for (let us = at(fromUs); us < beforeUs; us += size) timestamps.push(us)
  const text = (us: number) => `${new Date(us / 1000).toISOString().slice(0, 19)}+00:00`
  const isRoot = ({ start }: Shown) => start.parent === null
  const counted = inside.filter((call) => !rootsOnly || isRoot(call))
  const calls = timestamps.map((us) => {
    const own = counted.filter((call) => at(call.start.us) === us)
    const took = own.flatMap(({ start, end }) =>
      end && end.us >= start.us ? [Math.floor((end.us - start.us) / 1000)] : [],
    )
    const failed = own.map(({ end }) => (end?.exception ? 1 : 0))
    const latency = aggregated('latency_ms', took, all)
    if (withPercentiles)
      for (const p of [50, 99.9]) {
        const value = percentile(took, p)
        latency[`p${p}_latency_ms`] = value === null ? null : expect.closeTo(value, 6)
      }
    return {
      timestamp: text(us),
      ...latency,
      ...aggregated('error_count', failed, all),
      ...aggregated(
        'call_count',
        own.map(() => 1),
        all,
      ),
      count: own.length,
    }
  })
  const spoken = inside.filter((call) => !rootsOnly || isRoot(call) || isSpan(call.start))
  const points = spoken.flatMap(({ start, end }) =>
    end ? usageOf(end).map((own) => ({ ...own, us: at(start.us) })) : [],
  )
  const known = [...new Set(points.map((point) => point.model))].sort()
  const usage = timestamps.flatMap((us) =>
    known.map((model) => {
      const own = points.filter((point) => point.us === us && point.model === model)
      const values = (n: number) => own.map((point) => point.values[n] as number)
      const row = tokens.slice(0, 4).map((metric, n) => aggregated(metric, values(n), aggregations))
      const total = { sum_total_tokens: values(4).reduce((sum, one) => sum + one, 0), sum_total_cost: 0 }
      return { timestamp: text(us), model, ...Object.assign({}, ...row), ...total, count: own.length }
    }),
  )
  return { calls, usage }
}

const baseUs = Date.UTC(2026, 2, 30, 22) * 1000
const hourUs = 3600e6

function randomAsk(random: Random): Asked {
  const granularity = random.pick([60, 300, 3600, 3600, 7200, 86_400, 86_400, 268])
  const spanUs = Math.min(31 * 24 * hourUs, granularity * 1e6 * (1 + random.below(200)))
  const fromUs =
    baseUs + random.below(24) * hourUs - random.below(spanUs) + (random.chance(0.5) ? 0 : random.below(1e9))
  const whole = random.chance(0.3)
  return {
    fromUs: whole ? fromUs - (fromUs % hourUs) : fromUs,
    granularity,
    rootsOnly: random.chance(0.4),
    beforeUs: (whole ? fromUs - (fromUs % hourUs) : fromUs) + spanUs,
  }
}

async function compare(times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    const asked = randomAsk(random)
    const request = requestOf(asked)
    const { status, json } = await world.ask('/calls/stats', request)
    expect([status, asked, status === 200 ? null : json]).toEqual([200, asked, null])
    const { call_buckets, usage_buckets } = json as { call_buckets: Row[]; usage_buckets: Row[] }
    const want = expected(asked, (request.call_metrics[0]?.percentiles ?? []).length > 0)
    expect({ asked, call_buckets }).toEqual({ asked, call_buckets: want.calls })
    const shown = usage_buckets.map(({ ...row }) => row)
    expect({ asked, shown }).toEqual({ asked, shown: want.usage })
  }
}

const metricsOf = (fields: string[], ways: string[]) => fields.flatMap((field) => ways.map((as) => ({ field, as })))
const byCounts = metricsOf(['calls', 'errors'], ['sum', 'avg', 'min', 'max', 'count'])
const byCalls = [...metricsOf(['latency_ms'], [...aggregations, 'p50', 'p99.9']), ...byCounts]
const byUsage = [
  ...metricsOf(['input_tokens', 'output_tokens'], aggregations),
  ...metricsOf(['total_tokens', 'total_cost'], ['sum']),
]

/** Answers by op or user that came from statistics: usage, and calls. */
const rolledByKey = { usage: 0, calls: 0 }

/** Aggregates that statistics can tell, against those of the calls themselves: a condition that all meet says that. */
async function compareAggregates(times: number): Promise<void> {
  const anyId = { $expr: { $not: [{ $eq: [{ $getField: 'id' }, { $literal: 'none' }] }] } }
  for (let n = 0; n < times; n++) {
    const { fromUs, beforeUs, rootsOnly } = randomAsk(random)
    const lengths = [60, 300, 1_800, 3_600, 43_200].filter((one) => (beforeUs - fromUs) / 1e6 / one < 1_000)
    const groups = random.pick([
      null,
      null,
      ['model'],
      ['op_name'],
      ['user'],
      ['op_name', 'model'],
      ['user', 'op_name'],
    ])
    const asked = {
      start: fromUs / 1e6,
      end: beforeUs / 1e6,
      timezone: random.pick(['UTC', 'Asia/Kolkata']),
      bucket: random.pick([null, 'day', 'week', ...lengths]),
      filter: { trace_roots_only: rootsOnly },
      metrics:
        groups?.[0] === 'model'
          ? byUsage
          : random.pick([byCalls, byCalls.toReversed(), byCounts, byUsage, [...byCalls.slice(0, 8), ...byUsage]]),
      ...(groups && { group_by: groups, top: random.pick([1, 10]), rest: random.chance(0.7) }),
    }
    // A bound of the query is another one than those of the request.
    const bound = random.pick(['$gte', '$lt'])
    const boundS = (fromUs + random.below(beforeUs - fromUs)) / 1e6
    const bounded = random.chance(0.3) ? [{ [bound]: [{ $getField: 'started_at' }, { $literal: boundS }] }] : []
    const askedBefore = world.statements.length
    const [found, want] = [
      await world.ask('/calls/aggregate', { ...asked, ...(bounded[0] && { query: { $expr: bounded[0] } }) }),
      await world.ask('/calls/aggregate', { ...asked, query: { $expr: { $and: [anyId.$expr, ...bounded] } } }),
    ]
    const asks = world.statements.slice(askedBefore)
    if (groups?.some((name) => name !== 'model')) {
      if (asks.some((name) => /-(?:usage|costs)-rolled$/.test(name))) rolledByKey.usage++
      if (asks.includes('calls.aggregate-rolled')) rolledByKey.calls++
    }
    expect([want.status, asked]).toEqual([200, asked])
    expect({ asked, answer: found.json }).toEqual({ asked, answer: want.json })
  }
}

/**
 * Totals by op, made in fewer statements, against those beside buckets and an average, which take one for each kind, and
 * their tokens against a count, also around minutes in which no call has usage.
 */
async function compareTotals(times: number): Promise<void> {
  type Groups = { groups: { keys: string[]; is_rest: boolean; total: Row }[] }
  const minuteOf = ({ start: { us } }: Shown) => us - (us % 60e6)
  const isUsed = ({ end }: Shown) => end !== null && usageOf(end).length > 0
  const used = new Set(model.shown(project).filter(isUsed).map(minuteOf))
  const unused = model
    .shown(project)
    .map(minuteOf)
    .filter((us) => !used.has(us))
  for (let n = 0; n < times; n++) {
    const wide = randomAsk(random)
    const { rootsOnly } = wide
    const aroundUs = random.pick(unused) - random.below(2) * 45e6
    const [fromUs, beforeUs] =
      n % 2 === 0 ? [wide.fromUs, wide.beforeUs] : [aroundUs, aroundUs + random.pick([60e6, 90e6, 150e6])]
    const metrics = [
      ...metricsOf(['calls', 'errors'], ['sum']),
      ...metricsOf(['latency_ms'], ['p95']),
      ...metricsOf(['input_tokens', 'output_tokens', 'total_cost'], ['sum']),
    ]
    const asked = {
      start: fromUs / 1e6,
      end: beforeUs / 1e6,
      group_by: ['op_name'],
      top: random.pick([1, 100]),
      filter: { trace_roots_only: rootsOnly },
      metrics,
    }
    const more = { bucket: 'month', metrics: [...metrics, { field: 'input_tokens', as: 'avg' }] }
    const [found, want] = [
      (await world.ask('/calls/aggregate', asked)).json as Groups,
      (await world.ask('/calls/aggregate', { ...asked, ...more })).json as Groups,
    ]
    const totals = ({ groups }: Groups) =>
      groups.map(({ keys, is_rest, total: { 'input_tokens.avg': _, ...total } }) => ({ keys, is_rest, total }))
    expect({ asked, totals: totals(found) }).toEqual({ asked, totals: totals(want) })
    const apart = { groups: found.groups.filter(({ is_rest }) => !is_rest) }
    const alone = (await world.ask('/calls/aggregate', { ...asked, ...(n % 4 > 1 && more), rest: false }))
      .json as Groups
    expect({ asked, totals: totals(alone) }).toEqual({ asked, totals: totals(apart) })
    const { usage } = expected({ fromUs, beforeUs, rootsOnly, granularity: 86_400 }, false)
    const counted = usage.reduce((sum, row) => sum + Number(row.sum_input_tokens), 0)
    const told = found.groups.reduce((sum, { total }) => sum + Number(total['input_tokens.sum']), 0)
    expect({ asked, told }).toEqual({ asked, told: counted })
  }
}

const served = (name: string) => world.statements.filter((one) => one === name).length

describe('time series', () => {
  it('are read from the calls before there are statistics', async () => {
    await write(1, runs(20, 70))
    await compare(runs(1, 5))
    expect(served('call-stats.calls-rolled')).toBe(0)
  }, 240_000)

  it('are put together from statistics and the calls that those do not know', async () => {
    await world.refresh()
    await compare(runs(2, 10))
    for (let n = 0; n < runs(2, 4); n++) {
      await write(200 + n * 30, runs(8, 15))
      if (n % 2 === 1) await world.refresh()
      await compare(runs(1, 5))
    }
    expect(served('call-stats.calls-rolled')).toBeGreaterThan(runs(2, 20))
    expect(served('call-stats.usage-rolled')).toBeGreaterThan(runs(2, 20))
    await compareAggregates(runs(8, 60))
    for (const name of ['calls.aggregate', 'calls.aggregate-usage', 'calls.aggregate-costs'])
      expect(served(`${name}-rolled`), name).toBeGreaterThan(runs(0, 8))
  }, 240_000)

  it('are the same once the statistics are up to date, and after everything is recomputed', async () => {
    await world.refresh()
    await compare(runs(1, 8))
    await world.store.command({ name: 'merge', sql: 'OPTIMIZE TABLE callhouse.call_stats FINAL', params: {} })
    await compare(runs(1, 5))
    await compareAggregates(runs(4, 30))
    await compareTotals(runs(4, 30))
    expect(rolledByKey.usage).toBeGreaterThan(runs(0, 6))
    expect(rolledByKey.calls).toBeGreaterThan(runs(0, 6))
  }, 240_000)
})

describe('the source of each part of time', () => {
  const minute = 60e6
  it('covers every moment once', () => {
    for (let n = 0; n < runs(200, 2_000); n++) {
      const startUs = random.below(20 * minute)
      const endUs = startUs + random.below(90 * minute)
      const dirty = Array.from({ length: random.below(20) }, () => random.below(120) * 60)
      const { whole, live } = splitTime(startUs, endUs, dirty)
      const spans = [...whole, ...live].sort((a, b) => a.fromUs - b.fromUs)
      let at = startUs
      for (const { fromUs, beforeUs } of spans) {
        expect(fromUs).toBe(at)
        expect(beforeUs).toBeGreaterThan(fromUs)
        at = beforeUs
      }
      expect(at).toBe(endUs)
      for (const { fromUs, beforeUs } of whole) {
        expect([fromUs % minute, beforeUs % minute]).toEqual([0, 0])
        for (const second of dirty) expect(second * 1e6 >= fromUs && second * 1e6 < beforeUs).toBe(false)
      }
      expect(live.length).toBeLessThanOrEqual(12)
    }
  })
})
