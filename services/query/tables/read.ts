// Reading tables: places of the list, the stored rows behind their digests, counts and sizes.
import { retryLater } from '../../core/http/errors.ts'
import type { ProjectId } from '../../core/ids.ts'
import { param, type Sql, sql } from '../../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../../core/store/store.ts'
import { projectQuery } from '../../events/project-query.ts'
import { listChunkRows } from '../../events/tables.ts'
import { batchesBySize } from '../list-reply.ts'
import { ifSmall, unlessTooLarge } from '../list-rows.ts'

/** Index of a row in a table, counted from 0. */
export type ListedRow = { index: number; digest: string }

export type TableSource = { store: Pick<Store, 'rows'>; projectId: ProjectId; options: QueryOptions }

/** Chunks of a list, or digests of a filter, that one statement takes. */
const chunksAtOnce = 10
const digestsAtOnce = 10_000
/** Rows that are read without looking at their sizes first. */
const maxFewRows = 2_000
/** Chunks whose rows are joined with their sizes in one statement. */
const sizedChunks = 100

const anyOf = (digests: readonly string[]): Sql => sql`digest IN ${param('Array(String)', digests)}`

/** A table that is stored twice is one until the engine merges it: the older spelling counts. */
export const rowChunksQuery = (projectId: ProjectId, digest: string, first: number, last: number): Query =>
  projectQuery('tables.chunks', projectId, (project) => {
    const where = sql`digest = ${param('String', digest)} AND chunk_index BETWEEN ${param('UInt32', first)} AND ${param('UInt32', last)}`
    return sql`SELECT chunk_index, toString(row_count) AS row_count, row_digests
    ${project.from('table_lists', { where })} ORDER BY chunk_index, age DESC LIMIT 1 BY chunk_index`
  })

export const listedRowsQuery = (projectId: ProjectId, digest: string, wanted: readonly string[]): Query =>
  projectQuery('tables.places', projectId, (project) => {
    const where = sql`digest = ${param('String', digest)}`
    return sql`SELECT toUInt32(chunk_index * ${param('UInt32', listChunkRows)} + place - 1) AS index, row_digest AS digest
    FROM (
      SELECT chunk_index, row_digests ${project.from('table_lists', { where })}
      ORDER BY chunk_index, age DESC LIMIT 1 BY chunk_index
    )
    ARRAY JOIN row_digests AS row_digest, arrayEnumerate(row_digests) AS place
    WHERE row_digest IN ${param('Array(String)', wanted)}`
  })

export const rowCountsQuery = (projectId: ProjectId, digests: readonly string[]): Query =>
  projectQuery('tables.counts', projectId, (project) => {
    const where = sql`${anyOf(digests)} AND chunk_index = 0`
    return sql`SELECT digest, toString(argMax(row_count, age)) AS row_count ${project.from('table_lists', { where })}
    GROUP BY digest`
  })

export const rowSizesQuery = (projectId: ProjectId, digests: readonly string[]): Query =>
  projectQuery(
    'tables.row-sizes',
    projectId,
    (project) =>
      sql`SELECT digest, toString(any(size_bytes)) AS size_bytes ${project.from('table_rows', { where: anyOf(digests) })}
      GROUP BY digest`,
  )

export const rowValuesQuery = (projectId: ProjectId, digests: readonly string[], settings = sql``): Query =>
  projectQuery(
    'tables.rows',
    projectId,
    (project) =>
      sql`SELECT digest, val ${project.from('table_rows', { where: anyOf(digests) })} ORDER BY age DESC LIMIT 1 BY digest
      ${settings}`,
  )

/** Bytes of some chunks of each table: the rows of its list, repeated ones every time. */
export const storedSizesQuery = (
  projectId: ProjectId,
  digests: readonly string[],
  first: number,
  last: number,
): Query =>
  projectQuery('tables.sizes', projectId, (project) => {
    const chunks = sql`chunk_index BETWEEN ${param('UInt32', first)} AND ${param('UInt32', last)}`
    const lists = sql`SELECT digest AS table_digest, arrayJoin(row_digests) AS row_digest FROM (
      SELECT digest, row_digests ${project.from('table_lists', { where: sql`${anyOf(digests)} AND ${chunks}` })}
      ORDER BY digest, chunk_index, age DESC LIMIT 1 BY digest, chunk_index
    )`
    const rows = sql`SELECT digest AS row_digest, any(size_bytes) AS size_bytes
      ${project.from('table_rows', { where: sql`digest IN (SELECT row_digest FROM (${lists}))` })} GROUP BY digest`
    return sql`SELECT table_digest AS digest, toString(sum(size_bytes)) AS size_bytes
    FROM (${lists}) AS l INNER JOIN (${rows}) AS r USING (row_digest) GROUP BY table_digest`
  })

type ChunkRow = { chunk_index: number; row_count: string; row_digests: string[] }

/** The places from `from` up to and without `to`, in order, some thousands at a time. */
export async function* listedRows(
  { store, projectId, options }: TableSource,
  digest: string,
  from = 0,
  to = Number.POSITIVE_INFINITY,
): AsyncGenerator<ListedRow[]> {
  if (from >= to || from >= 0xffff_ffff) return
  const lastWanted = Math.min(Math.ceil(to / listChunkRows), 0xffff_ffff) - 1
  for (let first = Math.floor(from / listChunkRows); first <= lastWanted; first += chunksAtOnce) {
    const last = Math.min(lastWanted, first + chunksAtOnce - 1)
    const chunks = await store.rows<ChunkRow>(rowChunksQuery(projectId, digest, first, last), options)
    const places: ListedRow[] = []
    for (const { chunk_index, row_digests } of chunks)
      row_digests.forEach((row, i) => {
        const index = chunk_index * listChunkRows + i
        if (index >= from && index < to) places.push({ index, digest: row })
      })
    if (places.length > 0) yield places
    if (Number(chunks.at(-1)?.row_count ?? 0) <= (last + 1) * listChunkRows) return
  }
}

/** The places at which one of the wanted digests stands, in order. */
export async function listedRowsWith(
  { store, projectId, options }: TableSource,
  digest: string,
  wanted: readonly string[],
): Promise<ListedRow[]> {
  const distinct = [...new Set(wanted)]
  const found: ListedRow[] = []
  for (let at = 0; at < distinct.length; at += digestsAtOnce)
    for (const place of await store.rows<ListedRow>(
      listedRowsQuery(projectId, digest, distinct.slice(at, at + digestsAtOnce)),
      options,
    ))
      found.push(place)
  return found.sort((a, b) => a.index - b.index)
}

/** Rows of each known table, by its digest. */
export async function tableCounts(
  { store, projectId, options }: TableSource,
  digests: readonly string[],
): Promise<Map<string, number>> {
  const rows = await store.rows<{ digest: string; row_count: string }>(rowCountsQuery(projectId, digests), options)
  return new Map(rows.map((row) => [row.digest, Number(row.row_count)]))
}

/** Bytes of each table, by its digest; the join of a statement stays small however long the lists are. */
export async function tableSizes(
  { store, projectId, options }: TableSource,
  counts: ReadonlyMap<string, number>,
): Promise<Map<string, number>> {
  const sizes = new Map([...counts.keys()].map((digest) => [digest, 0]))
  const add = async (digests: readonly string[], first: number) => {
    const query = storedSizesQuery(projectId, digests, first, first + sizedChunks - 1)
    for (const { digest, size_bytes } of await store.rows<{ digest: string; size_bytes: string }>(query, options))
      sizes.set(digest, (sizes.get(digest) ?? 0) + Number(size_bytes))
  }
  const most = sizedChunks * listChunkRows
  const rowsIn = (digest: string) => Math.min(counts.get(digest) ?? 0, most)
  for (const together of batchesBySize([...counts.keys()], rowsIn, 1_000, most)) await add(together, 0)
  for (const [digest, count] of counts)
    for (let first = sizedChunks; first * listChunkRows < count; first += sizedChunks) await add([digest], first)
  return sizes
}

/**
 * The whole list of a table; null when there is none.
 * @param onCount told of the number of rows before they are read; what it throws is passed on
 * @throws Fault 503 when not all of it is readable yet
 */
export async function wholeList(
  source: TableSource,
  digest: string,
  onCount: (rows: number) => void,
): Promise<string[] | null> {
  const count = (await tableCounts(source, [digest])).get(digest)
  if (count === undefined) return null
  onCount(count)
  const list: string[] = []
  for await (const places of listedRows(source, digest)) for (const place of places) list.push(place.digest)
  if (list.length !== count) throw retryLater(503, `Table ${digest.slice(0, 100)} is not readable yet`)
  return list
}

export type StoredRow = ListedRow & {
  /** JSON text. */
  val: string
}

/** The rows at the places, in their order, some at a time; places without a stored row are left out. */
export async function* rowsAt(
  { store, projectId, options }: TableSource,
  places: readonly ListedRow[],
): AsyncGenerator<StoredRow[]> {
  for (let at = 0; at < places.length; at += digestsAtOnce)
    yield* groupAt({ store, projectId, options }, places.slice(at, at + digestsAtOnce))
}

const distinct = (some: readonly ListedRow[]) => [...new Set(some.map((place) => place.digest))]

type SizeRow = { digest: string; size_bytes: string }
type ValueRow = { digest: string; val: string }

function withValues(places: readonly ListedRow[], rows: readonly ValueRow[]): StoredRow[] {
  const values = new Map(rows.map(({ digest, val }) => [digest, val]))
  return places.flatMap((place) => {
    const val = values.get(place.digest)
    return val === undefined ? [] : { ...place, val }
  })
}

async function sizesOf({ store, projectId, options }: TableSource, places: readonly ListedRow[]) {
  const rows = await store.rows<SizeRow>(rowSizesQuery(projectId, distinct(places)), options)
  return new Map(rows.map((row) => [row.digest, Number(row.size_bytes)]))
}

async function* groupAt(source: TableSource, places: readonly ListedRow[]): AsyncGenerator<StoredRow[]> {
  const { store, projectId, options } = source
  const read = (some: readonly ListedRow[], settings?: Sql) =>
    store.rows<ValueRow>(rowValuesQuery(projectId, distinct(some), settings), options)
  const few = places.length <= maxFewRows ? await unlessTooLarge(read(places, ifSmall)) : null
  if (few !== null) {
    // One row may stand at many places.
    yield* batchesBySize(withValues(places, few), ({ val }) => val.length)
    return
  }
  const sizes = await sizesOf(source, places)
  const known = places.filter((place) => sizes.has(place.digest))
  for (const batch of batchesBySize(known, (place) => sizes.get(place.digest) ?? 0)) {
    yield withValues(batch, await read(batch))
  }
}

const rowText = ({ digest, val, index }: StoredRow): string =>
  `{"digest":${JSON.stringify(digest)},"val":${val},"original_index":${index}}`

/** Rows as JSON texts. */
export const rowTexts = (rows: readonly StoredRow[]): string[] => rows.map(rowText)
