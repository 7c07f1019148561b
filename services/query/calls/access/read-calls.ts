// Reads the calls of a query: pages of call headers, a count, sizes. All of them follow the candidates of one access path.

import type { Query } from '../../../core/store/store.ts'
import { onlyRow, type RowReader, readCompact } from '../../compact-rows.ts'
import { conditionsOf } from '../conditions/conditions.ts'
import { createRefine, type Refined } from '../conditions/refine.ts'
import { countQuery, newestVersion, pageQuery, rowsQuery } from '../page.ts'
import type { CallReader, Page } from '../reader.ts'
import { type CallKey, indexOf, rangeOf } from '../scope.ts'
import { totalSizeQuery } from '../trace-sizes.ts'
import { type CallSearch, pageRows, type SearchProgress } from './access-path.ts'
import { chooseAccessPath } from './choose.ts'
import { countProject } from './counts.ts'

/** A page taken from up to this many times more calls is read as a range. */
const denseRatio = 20

async function readCount(reader: CallReader, query: Query): Promise<number> {
  return Number(onlyRow<[string]>(await readCompact(reader.store, query, reader.options))[0])
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
async function* pagesWithin<Row extends CallKey>(
  { reader, order, rows: maxRows }: CallSearch,
  { scope, conditions }: Refined,
  reading: Reading,
  page: { columns: RowReader<Row>; calls: number },
): AsyncGenerator<Page<Row>> {
  for (let after: CallKey | null = null; ; ) {
    const limit = Math.min(reading.left, maxRows)
    const options = { select: page.columns.select, order, after, limit, offset: reading.skip }
    const query = pageQuery('calls.page', scope, conditions, options)
    const rows = await page.columns.read(reader.store, query, reader.options)
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
    after = { startedUs: last.startedUs, id: last.id }
  }
}

/** The rows of some keys, in their order; calls that are gone by now are left out. */
async function rowsByKey<Row extends CallKey>(
  { store, projectId, options }: CallReader,
  keys: readonly CallKey[],
  columns: RowReader<Row>,
): Promise<Row[]> {
  const placeOf = ({ startedUs, id }: CallKey): string => `${startedUs} ${id}`
  const rows = await columns.read(store, rowsQuery(projectId, keys, columns.select), options)
  const found = new Map(rows.map((row) => [placeOf(row), row]))
  return keys.map((key) => found.get(placeOf(key))).filter((row) => row !== undefined)
}

/**
 * Pages of a query. `limit` null = all. Errors of the query come with the first page.
 * @param page.rows most rows of one statement: narrow rows come faster in fewer statements
 */
export async function* readPages<Row extends CallKey>(
  reader: CallReader,
  page: Wanted & { columns: RowReader<Row> },
): AsyncGenerator<Page<Row>> {
  if (page.limit === 0) return
  const { columns, ...wanted } = page
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
      const rows = await rowsByKey(reader, candidates.keys, columns)
      if (rows.length > 0) yield { rows, spread: 'scattered' }
      continue
    }
    reading.skip -= candidates.skipped ?? 0
    const refined = await search.refine(candidates.scope)
    if (refined !== null) yield* pagesWithin(search, refined, reading, { columns, calls: candidates.calls })
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
export async function readCall<Row>(reader: CallReader, columns: RowReader<Row>): Promise<Row | null> {
  const { store, projectId, query, options } = reader
  if (query.facts.nothing) return null
  const scope = { projectId, range: rangeOf(query.facts), index: indexOf(query.facts), keys: null }
  const page = { select: columns.select, order: newestVersion, after: null, limit: 1, offset: 0 }
  const [row] = await columns.read(store, pageQuery('calls.read', scope, conditionsOf(query), page), options)
  return row ?? null
}
