// Reads the rows of an aggregate: from statistics of minutes and hours where they have its groups, else from the calls.
import type { Query } from '../../core/store/store.ts'
import {
  anyUsage,
  areMinutesByModel,
  readIsBilled,
  readSplit,
  readUsageFacts,
  type StatsCache,
} from '../call-stats/rollup.ts'
import { withFieldTimes } from '../calls/access/field-index.ts'
import { createRefine, type Refined } from '../calls/conditions/refine.ts'
import type { CallReader } from '../calls/reader.ts'
import { indexOf, rangeOf, type Scope } from '../calls/scope.ts'
import { readTuples } from '../compact-rows.ts'
import type { AggregateRow, AggregateRows } from './answer.ts'
import type { AggregateMetrics } from './metrics.ts'
import { callGroupsQuery, costGroupsQuery, type Grouped, type KeptGroups, usageGroupsQuery } from './statements.ts'
import { type Bucket, bucketSql } from './times.ts'

export type Times = { startUs: number; endUs: number }

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

export type AskedGroups = {
  /** Readers of calls, and of their usage: the usage of roots includes that of spans below them. */
  readers: { calls: CallReader; usage: CallReader }
  keys: Grouped['keys']
  metrics: AggregateMetrics
  bucket: Bucket
  timezone: string
  rootsOrSpans: boolean
  oncePerTrace: boolean
  cache: StatsCache
}

const readRows = async ({ store, options }: CallReader, statement: Query | false): Promise<AggregateRow[]> =>
  statement ? readTuples<AggregateRow>(store, statement, options) : []

/** Reads statistics of minutes and hours: parts of buckets, and the parts of the range that have no calls. */
async function readParts(asked: AskedGroups, times: Times, kinds: ReadonlySet<string>, length: Bucket) {
  const { readers, keys, rootsOrSpans, cache } = asked
  const { query, store: from, projectId, options } = readers.calls
  // Parts of a bucket know nothing of filters, but for roots and times, and of keys those of usage alone.
  const known = keys.every((key) => key === 'model' || key.usageKey !== undefined)
  const mayMerge = query.facts.counted !== null && known && isWhole(length, 60) && !asked.oncePerTrace
  const readsUsage = kinds.has('usage') || kinds.has('cost')
  const range = mayMerge || readsUsage ? rangeWithin(readers.calls, times) : null
  const source = { store: from, projectId, options, cache }
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

/**
 * Rows of the groups that are kept apart.
 * @param kinds of metrics that are read
 * @param isBucketed false: the whole range is one bucket
 */
export async function readAggregateRows(
  asked: AskedGroups,
  times: Times,
  kept: KeptGroups,
  kinds: ReadonlySet<string>,
  isBucketed: boolean,
): Promise<AggregateRows> {
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
    oncePerTrace: asked.oncePerTrace,
    parts: has ? parts : undefined,
    ...payloadsWithin,
  })
  const options = { isBucketed: isBucketed && asked.bucket !== null, rootsOrSpans }
  const isOfUsage = kinds.has('usage') && !(kinds.has('cost') && metrics.isUsageOfCosts)
  const [ofCalls, ofUsage, ofCosts] = await Promise.all([
    readRows(readers.calls, calls !== null && callGroupsQuery(of(calls, true), metrics, kept, options.isBucketed)),
    readRows(
      readers.usage,
      usage !== null && isOfUsage && usageGroupsQuery(of(usage, hasUsage), metrics.usage, kept, options),
    ),
    readRows(
      readers.usage,
      usage !== null && kinds.has('cost') && costGroupsQuery(of(usage, areBilled && hasUsage), kept, options),
    ),
  ])
  return { calls: ofCalls, usage: ofUsage, cost: ofCosts }
}
