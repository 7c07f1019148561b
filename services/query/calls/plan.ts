// Chooses the way in (index, windows of time, sorted keys) and yields the light rows of a call query page by page.
import type { ProjectId } from '../../core/ids.ts'
import type { Sql } from '../../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../../core/store/store.ts'
import type { CompiledCallsQuery } from '../expression/types.ts'
import { type CallConditions, conditionsOf, readsPayloads } from './conditions.ts'
import { type CountMemory, countProject } from './counts.ts'
import { compactRows, type LightRow, place } from './light.ts'
import { anyOdd, findOdd } from './odd.ts'
import { countQuery, keysQuery, lightKeysQuery, newestVersion, pageQuery, rowsQuery, type TimeOrder } from './page.ts'
import type { Spread } from './payloads.ts'
import { indexOf, type Key, type Scope } from './scope.ts'
import { decodeKeys } from './sorted-keys.ts'
import { totalSizeQuery } from './trace-sizes.ts'
import { createWindows } from './windows.ts'

export type CallReader = {
  store: Pick<Store, 'bytes'>
  projectId: ProjectId
  query: CompiledCallsQuery
  options: QueryOptions
  memory: CountMemory
}

/** Light rows in the order of the answer. */
export type Page = { rows: LightRow[]; spread: Spread }

/** Most light rows of one statement. */
const pageRows = 2_000
/** First window of a filter that no counter knows, and the largest one. */
const firstWindow = 20_000
const largestWindow = 1_000_000
/** A page taken from up to this many times more calls is read as a range. */
const denseRatio = 20

const rangeOf = ({ startedFrom, startedBefore }: CompiledCallsQuery['facts']) => ({
  fromUs: startedFrom,
  beforeUs: startedBefore,
})

const scopeOf = ({ projectId, query }: CallReader): Scope => ({
  projectId,
  range: rangeOf(query.facts),
  index: indexOf(query.facts),
  keys: null,
})

async function readRows(reader: CallReader, query: Query): Promise<LightRow[]> {
  return compactRows<LightRow>(await reader.store.bytes(query, 'JSONCompactEachRow', reader.options))
}

async function readCount(reader: CallReader, query: Query): Promise<number> {
  const answer = await reader.store.bytes(query, 'JSONCompactEachRow', reader.options)
  return Number(compactRows<[string]>(answer)[0]?.[0] ?? 0)
}

const keyOfRow = (row: LightRow): Key => ({ startedUs: row[place.startedUs], id: row[place.id] })

/** Pages of a query. `limit` null = all. Errors of the query come with the first page. */
export async function* readPages(
  reader: CallReader,
  page: { select: Sql; limit: number | null; offset: number },
): AsyncGenerator<Page> {
  const { query } = reader
  if (query.facts.nothing || page.limit === 0) return
  const { sort } = query
  const isByTime = sort.startedAtOnly !== null || sort.orderBy() === null
  const scope = scopeOf(reader)
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
  page: { select: Sql; limit: number | null; offset: number; order: TimeOrder },
): AsyncGenerator<Page> {
  const { select, order } = page
  let left = page.limit ?? Number.POSITIVE_INFINITY
  let skip = page.offset
  const walk = scope.index ? single(scope) : await windowsOf(reader, page)
  const prepare = await preparing(reader, scope)
  skip -= walk.skipped
  let target = walk.target
  for (;;) {
    const window = await walk.next(target)
    if (window === null) return
    const prepared = await prepare({ ...scope, range: window.range })
    let hits = 0
    let after: Key | null = null
    while (prepared !== null) {
      const { scope: within, conditions: known } = prepared
      const limit = Math.min(left, pageRows)
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
    target = nextTarget(window.calls, hits, walk.target)
  }
}

/** Windows grow while they yield little, and shrink to about one page of hits. */
function nextTarget(calls: number, hits: number, least: number): number {
  if (hits <= pageRows / 4) return Math.min(largestWindow, Math.max(least, calls) * 4)
  return Math.min(largestWindow, Math.max(pageRows, Math.ceil((calls * pageRows) / hits)))
}

type Walk = {
  skipped: number
  target: number
  next(target: number): Promise<{ range: Scope['range']; calls: number } | null>
}

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
  page: { limit: number | null; offset: number; order: TimeOrder },
): Promise<Walk> {
  const { facts } = reader.query
  const wanted = Math.min(page.limit ?? pageRows, pageRows)
  const isCounted = facts.counted !== null
  const target = isCounted ? wanted + Math.min(page.offset, firstWindow) : firstWindow
  const windows = await createWindows(reader, {
    range: rangeOf(facts),
    direction: page.order.startedAt,
    counter: facts.counted ?? 'calls',
    size: target,
    offset: page.offset,
    isCounted,
  })
  return { ...windows, target: windows.skipped > 0 ? wanted : target }
}

/** A scope and the conditions on its calls; null = no call can match. */
type Narrowed = { scope: Scope; conditions: CallConditions } | null

/** So few calls that meet the light conditions are looked up one by one: their neighbours' payloads stay unread. */
const fewKeys = 1_000

/**
 * Prepares the conditions for parts of a scope. Where documents are read, light conditions that leave few calls come
 * first, and odd documents get their verdicts.
 */
async function preparing(reader: CallReader, whole: Scope): Promise<(scope: Scope) => Promise<Narrowed>> {
  const conditions = conditionsOf(reader.query)
  if (!readsPayloads(conditions)) return async (scope) => ({ scope, conditions })
  const hasOdd = await anyOdd(reader, whole)
  return async (part) => {
    let scope = part
    if (conditions.light.length > 0) {
      const query = lightKeysQuery(part, conditions, fewKeys + 1)
      const keys = decodeKeys(await reader.store.bytes(query, 'RowBinary', reader.options)).next(fewKeys + 1)
      if (keys.length === 0) return null
      if (keys.length <= fewKeys) scope = { ...part, index: null, keys }
    }
    return { scope, conditions: hasOdd ? { ...conditions, odd: await findOdd(reader, scope, conditions) } : conditions }
  }
}

/** Other orders: the keys of the whole answer first, then the rows of each page by key. */
async function* sortedPages(
  reader: CallReader,
  scope: Scope,
  page: { select: Sql; limit: number | null; offset: number },
): AsyncGenerator<Page> {
  const prepared = await (await preparing(reader, scope))(scope)
  if (prepared === null) return
  const keys = decodeKeys(
    await reader.store.bytes(
      keysQuery(prepared.scope, prepared.conditions, reader.query.sort, page),
      'RowBinary',
      reader.options,
    ),
  )
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
  const scope = scopeOf(reader)
  const prepared = await (await preparing(reader, scope))(scope)
  return prepared === null ? 0 : readCount(reader, countQuery(prepared.scope, prepared.conditions, limit))
}

/** The call that a query by id finds: of several calls with one span id the one that was written last. */
export async function readCall(reader: CallReader, select: Sql): Promise<LightRow | null> {
  if (reader.query.facts.nothing) return null
  const page = { select, order: newestVersion, after: null, limit: 1, offset: 0 }
  const [row] = await readRows(reader, pageQuery('calls.read', scopeOf(reader), conditionsOf(reader.query), page))
  return row ?? null
}

/** Bytes of the whole traces whose roots match, each root once. */
export async function sizeOfCalls(reader: CallReader, limit: number | null): Promise<number> {
  if (reader.query.facts.nothing) return 0
  const scope = scopeOf(reader)
  const prepared = await (await preparing(reader, scope))(scope)
  return prepared === null ? 0 : readCount(reader, totalSizeQuery(prepared.scope, prepared.conditions, limit))
}
