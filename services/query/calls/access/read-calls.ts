// Reads the calls of a query: pages of call headers, a count, sizes. All of them follow the candidates of one access path.

import type { Sql } from '../../../core/store/sql.ts'
import type { Query } from '../../../core/store/store.ts'
import { compactRows, onlyRow } from '../../compact-rows.ts'
import { conditionsOf } from '../conditions/conditions.ts'
import { createRefine, type Refined } from '../conditions/refine.ts'
import { type CallHeader, columnIndex } from '../header.ts'
import { countQuery, newestVersion, pageQuery, rowsQuery } from '../page.ts'
import type { CallReader, Page } from '../reader.ts'
import { totalSizeQuery } from '../trace-sizes.ts'
import { type CallSearch, pageRows, type SearchProgress } from './access-path.ts'
import { chooseAccessPath } from './choose.ts'
import { countProject } from './counts.ts'
import { type CallKey, indexOf, rangeOf } from './scope.ts'

/** A page taken from up to this many times more calls is read as a range. */
const denseRatio = 20

async function readRows(reader: CallReader, query: Query): Promise<CallHeader[]> {
  return compactRows<CallHeader>(await reader.store.bytes(query, 'JSONCompactEachRow', reader.options))
}

async function readCount(reader: CallReader, query: Query): Promise<number> {
  const answer = await reader.store.bytes(query, 'JSONCompactEachRow', reader.options)
  return Number(onlyRow<[string]>(answer)[0])
}

type Wanted = { limit: number | null; offset: number; rows?: number }

function searchOf(reader: CallReader, wanted: Wanted, isSorted = false): CallSearch {
  const { sort, facts } = reader.query
  const startedAt = sort.startedAtOnly ?? 'asc'
  return {
    reader,
    range: rangeOf(facts),
    refine: createRefine(reader, isSorted),
    order: { startedAt, id: sort.idDirection ?? startedAt },
    rows: pageRows,
    ...wanted,
  }
}

/** Rows that a page still needs, and matching calls that it still leaves out. */
type Reading = SearchProgress & { left: number; skip: number }

/** Pages of the calls of one scope that match. */
async function* pagesWithin(
  { reader, order, rows: maxRows }: CallSearch,
  { scope, conditions }: Refined,
  reading: Reading,
  page: { select: Sql; calls: number },
): AsyncGenerator<Page> {
  for (let after: CallKey | null = null; ; ) {
    const limit = Math.min(reading.left, maxRows)
    const options = { select: page.select, order, after, limit, offset: reading.skip }
    const rows = await readRows(reader, pageQuery('calls.page', scope, conditions, options))
    const last = rows.at(-1)
    if (last === undefined) {
      // Only an offset that lies behind this scope needs to know how many calls of it match.
      if (reading.skip > 0)
        reading.skip = Math.max(0, reading.skip - (await readCount(reader, countQuery(scope, conditions, null))))
      return
    }
    reading.skip = 0
    reading.hits += rows.length
    reading.left -= rows.length
    yield { rows, spread: page.calls <= denseRatio * rows.length ? 'dense' : 'scattered' }
    if (reading.left === 0 || rows.length < limit) return
    after = { startedUs: last[columnIndex.startedUs], id: last[columnIndex.id] }
  }
}

/** The rows of some keys, in their order; calls that are gone by now are left out. */
async function rowsByKey(reader: CallReader, keys: readonly CallKey[], select: Sql): Promise<CallHeader[]> {
  const found = new Map<string, CallHeader>()
  for (const row of await readRows(reader, rowsQuery(reader.projectId, keys, select)))
    found.set(`${row[columnIndex.startedUs]} ${row[columnIndex.id]}`, row)
  return keys.map(({ startedUs, id }) => found.get(`${startedUs} ${id}`)).filter((row) => row !== undefined)
}

/**
 * Pages of a query. `limit` null = all. Errors of the query come with the first page.
 * @param page.rows most rows of one statement: narrow rows come faster in fewer statements
 */
export async function* readPages(reader: CallReader, page: Wanted & { select: Sql }): AsyncGenerator<Page> {
  if (page.limit === 0) return
  const { select, ...wanted } = page
  const { sort } = reader.query
  const isByTime = sort.startedAtOnly !== null || sort.orderBy() === null
  const search = searchOf(reader, wanted, !isByTime)
  // Whole traces are gone over by one statement, not by one for each window or page.
  const isByWindow = isByTime && reader.query.derivedFields.traces.columns.size === 0
  const path = await chooseAccessPath(search, isByWindow ? 'byTime' : 'sorted')
  const reading: Reading = { hits: 0, left: page.limit ?? Number.POSITIVE_INFINITY, skip: page.offset }
  for await (const candidates of path.candidates(reading)) {
    reading.hits = 0
    if ('keys' in candidates) {
      const rows = await rowsByKey(reader, candidates.keys, select)
      if (rows.length > 0) yield { rows, spread: 'scattered' }
      continue
    }
    reading.skip -= candidates.skipped ?? 0
    const refined = await search.refine(candidates.scope)
    if (refined !== null) yield* pagesWithin(search, refined, reading, { select, calls: candidates.calls })
    if (reading.left === 0) return
  }
}

/** Number of calls that match, at most `limit`. */
export async function countCalls(reader: CallReader, limit: number | null): Promise<number> {
  const { facts } = reader.query
  if (!facts.nothing && facts.counted && facts.startedFrom === null && facts.startedBefore === null) {
    const all = await countProject(reader.store, reader.projectId, facts.counted, reader.options, reader.cache)
    return limit === null ? all : Math.min(all, limit)
  }
  return addUp(reader, 'counted', limit, countQuery)
}

/** Bytes of the whole traces whose roots match, each root once. */
export const sizeOfCalls = (reader: CallReader, limit: number | null): Promise<number> =>
  addUp(reader, 'whole', limit, totalSizeQuery)

/** Sum of a number over the candidates, read until it reaches the limit of a count. */
async function addUp(
  reader: CallReader,
  use: 'counted' | 'whole',
  limit: number | null,
  queryOf: typeof countQuery,
): Promise<number> {
  const search = searchOf(reader, { limit: null, offset: 0 })
  const path = await chooseAccessPath(search, use)
  let sum = 0
  for await (const candidates of path.candidates({ hits: 0 })) {
    const refined = 'scope' in candidates ? await search.refine(candidates.scope) : null
    const left = limit === null ? null : limit - sum
    if (refined !== null) sum += await readCount(reader, queryOf(refined.scope, refined.conditions, left))
    if (limit !== null && sum >= limit) break
  }
  return sum
}

/** The call that a query by id finds: of several calls with one span id the one that was written last. */
export async function readCall(reader: CallReader, select: Sql): Promise<CallHeader | null> {
  const { projectId, query } = reader
  if (query.facts.nothing) return null
  const scope = { projectId, range: rangeOf(query.facts), index: indexOf(query.facts), keys: null }
  const page = { select, order: newestVersion, after: null, limit: 1, offset: 0 }
  const [row] = await readRows(reader, pageQuery('calls.read', scope, conditionsOf(query), page))
  return row ?? null
}
