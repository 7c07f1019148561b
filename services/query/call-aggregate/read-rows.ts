// Reads the rows of an aggregate: from statistics of minutes and hours where they have its groups, else from the calls.
import type { Query } from '../../core/store/store.ts'
import {
  anyUsage,
  doMinutesLackOps,
  readIsBilled,
  readSplit,
  readUsageFacts,
  type Split,
  type StatsCache,
  type UsageFacts,
} from '../call-stats/rollup.ts'
import { withFieldTimes } from '../calls/access/field-index.ts'
import { createRefine, type Refined } from '../calls/conditions/refine.ts'
import type { CallReader } from '../calls/reader.ts'
import { indexOf, rangeOf, type Scope } from '../calls/scope.ts'
import { readTuples } from '../compact-rows.ts'
import type { PriceBook } from '../costs/prices.ts'
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
  /** Prices where costs are asked for. */
  book: PriceBook | null
}

const readRows = async ({ store, options }: CallReader, statement: Query | false): Promise<AggregateRow[]> =>
  statement ? readTuples<AggregateRow>(store, statement, options) : []

/** A range of time as the statistics of minutes and hours know it. */
type Known = {
  /** null = nothing */
  split: Split | null
  facts: UsageFacts
  areBilled: boolean
  /** Whether they have the groups that are asked for, in buckets of whole minutes. */
  hasGroups: boolean
  /** Whether only minutes have them. */
  isByMinute: boolean
  /** Times at which prices change within the range. */
  priceChangesUs: readonly number[]
}

export type KnownRange = { times: Times; known: Known }

const readsUsage = (kinds: ReadonlySet<string>): boolean => kinds.has('usage') || kinds.has('cost')

/** Reads what the statistics know; it holds for every later read of them. @param kinds of metrics that are asked for */
export async function readKnown(asked: AskedGroups, times: Times, kinds: ReadonlySet<string>): Promise<Known> {
  const { readers, keys, cache } = asked
  const { query, store, projectId, options } = readers.calls
  // Parts of a bucket know nothing of filters, but for roots and times, and of keys op, user and model alone.
  const areKeysOfBuckets = keys.every((key) => key === 'model' || key.statsKey !== undefined)
  const mayMerge = query.facts.counted !== null && areKeysOfBuckets && !asked.oncePerTrace
  const isByOp = mayMerge && keys.some((key) => key !== 'model')
  const range = mayMerge || readsUsage(kinds) ? rangeWithin(readers.calls, times) : null
  const source = { store, projectId, options, cache }
  const priceChangesUs = asked.book?.changesUs().filter((us) => us > times.startUs && us < times.endUs) ?? []
  // A bucket has one price: minutes in which another comes into force are read from the calls, and end the hours around.
  const live = priceChangesUs.filter((us) => us % 3600e6 !== 0).map((us) => Math.floor(us / 60e6) * 60)
  const split = range && (await readSplit(source, { startUs: range.fromUs, endUs: range.beforeUs }, { live }))
  if (split === null)
    return { split, facts: anyUsage, areBilled: false, hasGroups: false, isByMinute: false, priceChangesUs }
  const [areBilled, facts] = await Promise.all([
    kinds.has('cost') && readIsBilled(source),
    // Without these facts a missing value would need a look at all payloads.
    readsUsage(kinds) || isByOp ? readUsageFacts(source, split) : anyUsage,
  ])
  // The minutes of an hour with more ops and users than it tells apart may each have few enough.
  const isByMinute = isByOp && facts.lacksOps
  return {
    split,
    facts,
    areBilled,
    priceChangesUs,
    isByMinute,
    hasGroups: mayMerge && !(isByMinute && (await doMinutesLackOps(source, split))),
  }
}

/** The sources of a range, by buckets of a length: parts of buckets, and the parts of the range that have no calls. */
function sourcesOf({ split, facts, areBilled, hasGroups, isByMinute }: Known, length: Bucket, rootsOnly: boolean) {
  if (split === null) return { calls: undefined, usage: undefined, usageWithin: undefined, payloadsWithin: {} }
  const { live } = split
  const ofUsage = facts.live.usage ? split : { ...split, live: [] }
  const wanted = hasGroups && isWhole(length, 60) && { rootsOnly, byHour: isWhole(length, 3600) && !isByMinute }
  return {
    calls: wanted ? { ...wanted, split: facts.live.calls ? split : { ...split, live: [] } } : undefined,
    usage: wanted && facts.any ? { ...wanted, split: ofUsage } : undefined,
    usageWithin: facts.any ? undefined : ofUsage.live,
    payloadsWithin: {
      ...(facts.any && !facts.spans && { spansWithin: live }),
      ...(facts.any && !facts.billed && areBilled && { unbilled: ofUsage }),
    },
  }
}

/**
 * Rows of the groups that are kept apart.
 * @param kinds of metrics that are read
 * @param isBucketed false: the whole range is one bucket
 */
export async function readAggregateRows(
  asked: AskedGroups,
  { times, known }: KnownRange,
  kept: KeptGroups,
  kinds: ReadonlySet<string>,
  isBucketed: boolean,
): Promise<AggregateRows> {
  const { readers, keys, metrics, rootsOrSpans } = asked
  const length = isBucketed ? asked.bucket : null
  const bucket = bucketSql(length, asked.timezone)
  const sources = sourcesOf(known, length, rootsOrSpans)
  const [calls, usage] = await Promise.all([
    kinds.has('calls') ? refinedWithin(readers.calls, times) : null,
    readsUsage(kinds) ? refinedWithin(readers.usage, times, sources.usageWithin) : null,
  ])
  const of = (refined: Refined, parts: Grouped['parts']): Grouped => ({
    refined,
    keys,
    bucket,
    oncePerTrace: asked.oncePerTrace,
    parts,
    priceChangesUs: known.priceChangesUs,
    ...sources.payloadsWithin,
  })
  const options = { isBucketed: isBucketed && asked.bucket !== null, rootsOrSpans }
  const isOfUsage = kinds.has('usage') && !(kinds.has('cost') && metrics.isUsageOfCosts)
  const ofBilled = known.areBilled ? sources.usage : undefined
  const [ofCalls, ofUsage, ofCosts] = await Promise.all([
    readRows(
      readers.calls,
      calls !== null && callGroupsQuery(of(calls, sources.calls), metrics, kept, options.isBucketed),
    ),
    readRows(
      readers.usage,
      usage !== null && isOfUsage && usageGroupsQuery(of(usage, sources.usage), metrics.usage, kept, options),
    ),
    readRows(readers.usage, usage !== null && kinds.has('cost') && costGroupsQuery(of(usage, ofBilled), kept, options)),
  ])
  // Where prices do not change, those at the start of the range hold.
  const pricedUs = known.priceChangesUs.length === 0 ? [times.startUs] : []
  const cost = ofCosts.map((row) => row.toSpliced(4 + keys.length, 0, ...pricedUs) as AggregateRow)
  return { calls: ofCalls, usage: ofUsage, cost }
}
