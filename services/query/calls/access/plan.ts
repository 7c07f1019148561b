import type { Sql } from '../../../core/store/sql.ts'
import type { Query } from '../../../core/store/store.ts'
import { conditionsOf } from '../conditions/conditions.ts'
import { type Narrowed, preparing, wayIn } from '../conditions/prepare.ts'
import type { CompiledCallsQuery } from '../conditions/types.ts'
import { compactRows, type LightRow, onlyRow, place } from '../header.ts'
import { countQuery, keysQuery, newestVersion, pageQuery, rowsQuery, type TimeOrder } from '../page.ts'
import type { CallReader, Page } from '../reader.ts'
import { totalSizeQuery } from '../trace-sizes.ts'
import { countProject } from './counts.ts'
import { firstByLeaves } from './field-index-order.ts'
import { leafWalk, narrowed } from './field-index-times.ts'
import type { Key, Scope } from './scope.ts'
import { decodeKeys, type Keys, listed } from './sorted-keys.ts'
import { createWindows } from './windows.ts'

/** Most light rows of one statement. */
const pageRows = 2_000
/** First window of a filter that no counter knows, and the largest one. */
const firstWindow = 20_000
const largestWindow = 1_000_000
/** Calls of one window whose refs are resolved. */
const largestWindowOfRefs = 50_000
/** Calls that leaves lead to, for each that matches; with more, payloads are scanned. */
const candidatesPerHit = 200
/** A page taken from up to this many times more calls is read as a range. */
const denseRatio = 20

const rangeOf = ({ startedFrom, startedBefore }: CompiledCallsQuery['facts']) => ({
  fromUs: startedFrom,
  beforeUs: startedBefore,
})

async function readRows(reader: CallReader, query: Query): Promise<LightRow[]> {
  return compactRows<LightRow>(await reader.store.bytes(query, 'JSONCompactEachRow', reader.options))
}

async function readCount(reader: CallReader, query: Query): Promise<number> {
  const answer = await reader.store.bytes(query, 'JSONCompactEachRow', reader.options)
  return Number(onlyRow<[string]>(answer)[0])
}

const keyOfRow = (row: LightRow): Key => ({ startedUs: row[place.startedUs], id: row[place.id] })

/**
 * Pages of a query. `limit` null = all. Errors of the query come with the first page.
 * @param page.rows most rows of one statement: narrow rows come faster in fewer statements
 */
export async function* readPages(
  reader: CallReader,
  page: { select: Sql; limit: number | null; offset: number; rows?: number },
): AsyncGenerator<Page> {
  if (page.limit === 0) return
  const scope = await wayIn(reader)
  if (scope === null) return
  const { sort } = reader.query
  const isByTime = sort.startedAtOnly !== null || sort.orderBy() === null
  if (!isByTime) {
    yield* sortedPages(reader, scope, page)
    return
  }
  const startedAt = sort.startedAtOnly ?? 'asc'
  yield* timePages(reader, scope, { ...page, order: { startedAt, id: sort.idDirection ?? startedAt } })
}

async function* timePages(
  reader: CallReader,
  scope: Scope,
  page: { select: Sql; limit: number | null; offset: number; order: TimeOrder; rows?: number },
): AsyncGenerator<Page> {
  const { select, order } = page
  let left = page.limit ?? Number.POSITIVE_INFINITY
  let skip = page.offset
  const asked = { direction: order.startedAt, least: (page.limit ?? pageRows) + page.offset }
  const byLeaves = await leafWalk(reader, scope, asked)
  const walks = await walksOf(reader, scope, page, byLeaves)
  let walk = walks.shift() as Walk
  const prepare = await preparing(reader, scope)
  skip -= walk.skipped
  const most = mostInWindow(reader.query)
  let target = Math.min(walk.target, most)
  for (;;) {
    const window = await walk.next(target)
    if (window === null) {
      const other = walks.shift()
      if (other === undefined) return
      walk = other
      target = Math.min(walk.target, most)
      continue
    }
    const prepared = window.times?.length === 0 ? null : await prepare(partOf(scope, window))
    let hits = 0
    let after: Key | null = null
    while (prepared !== null) {
      const { scope: within, conditions: known } = prepared
      const limit = Math.min(left, page.rows ?? pageRows)
      const asked = { select, order, after, limit, offset: skip }
      const rows = await readRows(reader, pageQuery('calls.page', within, known, asked))
      const last = rows.at(-1)
      if (last === undefined) {
        // Only an offset that lies behind this window needs to know how many rows it holds.
        if (skip > 0) skip = Math.max(0, skip - (await readCount(reader, countQuery(within, known, null))))
        break
      }
      skip = 0
      hits += rows.length
      left -= rows.length
      yield { rows, spread: window.calls <= denseRatio * rows.length ? 'dense' : 'scattered' }
      if (left === 0) return
      if (rows.length < limit) break
      after = keyOfRow(last)
    }
    if (window.times && window.times.length > candidatesPerHit * (hits + 1)) {
      // Leaves lead to many calls that do not match: then their neighbours are read as fast as they are.
      const rest = byLeaves?.rest() ?? null
      if (rest !== null) {
        walk = await windowsOf(reader, { ...page, offset: 0 }, rest)
        target = Math.min(most, largestWindow / 8)
        continue
      }
    }
    target = Math.min(most, nextTarget(window.calls, hits, walk.target))
  }
}

/** The walks that lead through a scope, one after the other. */
async function walksOf(
  reader: CallReader,
  scope: Scope,
  page: { limit: number | null; offset: number; order: TimeOrder },
  byLeaves: Awaited<ReturnType<typeof leafWalk>>,
): Promise<Walk[]> {
  if (byLeaves === null) return [scope.index ? single(scope) : await windowsOf(reader, page)]
  if (byLeaves.scan === null) return [byLeaves]
  const scan = await windowsOf(reader, { ...page, offset: 0 }, byLeaves.scan)
  return page.order.startedAt === 'desc' ? [scan, byLeaves] : [byLeaves, scan]
}

/** Windows grow while they yield little, and shrink to about one page of hits. */
function nextTarget(calls: number, hits: number, least: number): number {
  if (hits <= pageRows / 4) return Math.min(largestWindow, Math.max(least, calls) * 4)
  return Math.min(largestWindow, Math.max(pageRows, Math.ceil((calls * pageRows) / hits)))
}

const mostInWindow = ({ joins }: CompiledCallsQuery): number =>
  joins.refs.length > 0 ? largestWindowOfRefs : Number.POSITIVE_INFINITY

type Walk = {
  skipped: number
  target: number
  next(target: number): Promise<Window | null>
}

/** With `times`: only calls that start at one of them may match. */
type Window = { range: Scope['range']; calls: number; times?: number[] }

const partOf = (scope: Scope, { range, times }: Window): Scope => ({ ...scope, range, ...(times && { times }) })

/** One window over everything: the index says where to look. */
function single(scope: Scope): Walk {
  let isDone = false
  return {
    skipped: 0,
    target: 0,
    async next() {
      if (isDone) return null
      isDone = true
      return { range: scope.range, calls: Number.POSITIVE_INFINITY }
    },
  }
}

async function windowsOf(
  reader: CallReader,
  page: { limit: number | null; offset: number; order: TimeOrder; rows?: number },
  range = rangeOf(reader.query.facts),
): Promise<Walk> {
  const { facts } = reader.query
  const most = page.rows ?? pageRows
  const wanted = Math.min(page.limit ?? most, most)
  const isCounted = facts.counted !== null
  const target = isCounted ? wanted + Math.min(page.offset, firstWindow) : firstWindow
  const windows = await createWindows(reader, {
    range,
    direction: page.order.startedAt,
    counter: facts.counted ?? 'calls',
    size: target,
    offset: page.offset,
    isCounted,
  })
  return { ...windows, target: windows.skipped > 0 ? wanted : target }
}

async function allKeys(
  reader: CallReader,
  { scope, conditions }: NonNullable<Narrowed>,
  page: { limit: number | null; offset: number },
): Promise<Keys> {
  const query = keysQuery(scope, conditions, reader.query.sort, page)
  return decodeKeys(await reader.store.bytes(query, 'RowBinary', reader.options))
}

/** Other orders: the keys of the whole answer first, then the rows of each page by key. */
async function* sortedPages(
  reader: CallReader,
  scope: Scope,
  page: { select: Sql; limit: number | null; offset: number },
): AsyncGenerator<Page> {
  const prepare = await preparing(reader, scope, true)
  const within = await narrowed(reader, scope)
  const first = await firstByLeaves(reader, within, page, prepare)
  const prepared = first ? null : await prepare(within)
  if (first === null && prepared === null) return
  const keys = first ? listed(first) : await allKeys(reader, prepared as NonNullable<typeof prepared>, page)
  for (;;) {
    const some = keys.next(pageRows)
    if (some.length === 0) return
    const found = new Map<string, LightRow>()
    for (const row of await readRows(reader, rowsQuery(reader.projectId, some, page.select)))
      found.set(`${row[place.startedUs]} ${row[place.id]}`, row)
    const rows = some.map(({ startedUs, id }) => found.get(`${startedUs} ${id}`)).filter((row) => row !== undefined)
    if (rows.length > 0) yield { rows, spread: 'scattered' }
  }
}

/** Number of calls that match, at most `limit`. */
export async function countCalls(reader: CallReader, limit: number | null): Promise<number> {
  const { facts } = reader.query
  if (facts.nothing) return 0
  if (facts.counted && facts.startedFrom === null && facts.startedBefore === null) {
    const all = await countProject(reader.store, reader.projectId, facts.counted, reader.options, reader.memory)
    return limit === null ? all : Math.min(all, limit)
  }
  const scope = await wayIn(reader)
  if (scope === null) return 0
  const prepare = await preparing(reader, scope)
  const order = { startedAt: 'desc', id: 'desc' } as const
  const isWalked = reader.query.joins.refs.length > 0 && scope.index === null
  const walk = isWalked ? await windowsOf(reader, { limit: null, offset: 0, order }) : single(scope)
  let count = 0
  for (;;) {
    const window = await walk.next(largestWindowOfRefs)
    if (window === null || (limit !== null && count >= limit)) return count
    const prepared = await prepare(await narrowed(reader, { ...scope, range: window.range }))
    const left = limit === null ? null : limit - count
    if (prepared !== null) count += await readCount(reader, countQuery(prepared.scope, prepared.conditions, left))
  }
}

/** The call that a query by id finds: of several calls with one span id the one that was written last. */
export async function readCall(reader: CallReader, select: Sql): Promise<LightRow | null> {
  const scope = await wayIn(reader)
  if (scope === null) return null
  const page = { select, order: newestVersion, after: null, limit: 1, offset: 0 }
  const [row] = await readRows(reader, pageQuery('calls.read', scope, conditionsOf(reader.query), page))
  return row ?? null
}

/** Bytes of the whole traces whose roots match, each root once. */
export async function sizeOfCalls(reader: CallReader, limit: number | null): Promise<number> {
  const scope = await wayIn(reader)
  if (scope === null) return 0
  const prepared = await (await preparing(reader, scope))(await narrowed(reader, scope))
  return prepared === null ? 0 : readCount(reader, totalSizeQuery(prepared.scope, prepared.conditions, limit))
}
