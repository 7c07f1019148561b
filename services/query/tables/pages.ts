// Tables in their natural order: pages with a look ahead for readers that go on, and long reads window by window.
import type { ProjectId } from '../../core/ids.ts'
import { param, sql } from '../../core/store/sql.ts'
import { type Query, type Store, StoreError } from '../../core/store/store.ts'
import { projectQuery } from '../../events/project-query.ts'
import { listChunkRows } from '../../events/tables.ts'
import { listedRows, rowsAt, rowTexts, type TableSource, tableCounts } from './read.ts'

/** Most rows of a page; more is read window by window. */
export const maxPageRows = 1_000

/** Bytes of a window of a long read, and its most rows: what is in memory at one time, twice. */
const windowBytes = 24 * 1024 * 1024
const maxWindowRows = 200_000
/** A window is at most so many times as long as the one before: rows may become larger. */
const growth = 8

/** Read-ahead pages of one table, and of all tables together. */
const maxAheadBytes = 4 * 1024 * 1024
const maxKeptBytes = 32 * 1024 * 1024

type Ahead = { from: number; texts: string[]; isLast: boolean; sizeBytes: number }

export type ReadAhead = {
  /** The texts of the rows from `from` up to and without `to`, when they were read ahead. */
  find(key: string, from: number, to: number): string[] | undefined
  /** True when a page that ended at `from` was read lately. */
  goesOn(key: string, from: number): boolean
  endedAt(key: string, to: number): void
  /** Number of rows of the next look ahead: more each time, within the bytes of one. */
  nextRows(key: string): number
  keep(key: string, ahead: Ahead): void
}

/** The rows of a table never change, so a kept row is never wrong. */
export function createReadAhead(): ReadAhead {
  const kept = new Map<string, Ahead>()
  const ends = new Map<string, number>()
  let total = 0
  const forget = (key: string) => {
    total -= kept.get(key)?.sizeBytes ?? 0
    kept.delete(key)
  }
  return {
    find(key, from, to) {
      const ahead = kept.get(key)
      if (ahead === undefined || from < ahead.from) return undefined
      const end = ahead.from + ahead.texts.length
      if (to > end && !ahead.isLast) return undefined
      return ahead.texts.slice(from - ahead.from, to - ahead.from)
    },
    goesOn: (key, from) => from > 0 && ends.get(key) === from,
    endedAt(key, to) {
      ends.delete(key)
      ends.set(key, to)
      if (ends.size > 1_000) ends.delete(ends.keys().next().value as string)
    },
    nextRows(key) {
      const last = kept.get(key)
      if (last === undefined) return listChunkRows
      const rowBytes = Math.max(1, last.sizeBytes / Math.max(1, last.texts.length))
      return Math.max(listChunkRows, Math.min(last.texts.length * growth, Math.floor(maxAheadBytes / 2 / rowBytes)))
    },
    keep(key, ahead) {
      forget(key)
      if (ahead.sizeBytes > maxAheadBytes) return
      kept.set(key, ahead)
      total += ahead.sizeBytes
      for (const oldest of kept.keys()) {
        if (total <= maxKeptBytes) return
        forget(oldest)
      }
    },
  }
}

/** The rows from `from` up to and without `to`, of at most a page; null when not all of them are stored (yet). */
async function pageTexts(source: TableSource, digest: string, from: number, to: number): Promise<Ahead | null> {
  const texts: string[] = []
  let sizeBytes = 0
  let placed = 0
  for await (const places of listedRows(source, digest, from, to)) {
    placed += places.length
    for await (const rows of rowsAt(source, places))
      for (const text of rowTexts(rows)) {
        texts.push(text)
        sizeBytes += text.length
        if (sizeBytes > maxAheadBytes) return null
      }
  }
  return texts.length === placed ? { from, texts, isLast: placed < to - from, sizeBytes } : null
}

/**
 * One page in natural order, as texts of rows separated by commas. A reader that asks page after page gets the rest of
 * its chunk read along, then more and more chunks.
 */
export async function* page(
  source: TableSource,
  ahead: ReadAhead,
  digest: string,
  from: number,
  to: number,
): AsyncGenerator<string> {
  const key = `${source.projectId}\n${digest}`
  const goesOn = ahead.goesOn(key, from)
  ahead.endedAt(key, to)
  let texts = ahead.find(key, from, to)
  if (texts === undefined && goesOn) {
    const chunksEnd = Math.ceil((from + ahead.nextRows(key)) / listChunkRows) * listChunkRows
    const found = await pageTexts(source, digest, from, Math.max(to, chunksEnd))
    if (found !== null) {
      ahead.keep(key, found)
      texts = found.texts.slice(0, to - from)
    }
  }
  if (texts === undefined) {
    for await (const places of listedRows(source, digest, from, to))
      for await (const rows of rowsAt(source, places)) if (rows.length > 0) yield rowTexts(rows).join(',')
  } else if (texts.length > 0) yield texts.join(',')
}

/** Rows as `,{…}` lines, made by the engine: no byte of them is looked at here. Refused above half as much again as a
 *  window has, when there is less to ask for. */
export const windowQuery = (projectId: ProjectId, digest: string, from: number, to: number): Query =>
  projectQuery('tables.window', projectId, (project) => {
    const first = param('UInt32', Math.floor(from / listChunkRows))
    const last = param('UInt32', Math.ceil(to / listChunkRows) - 1)
    const where = sql`digest = ${param('String', digest)} AND chunk_index BETWEEN ${first} AND ${last}`
    const chunks = sql`SELECT chunk_index, row_digests ${project.from('table_lists', { where })}
      ORDER BY chunk_index, age DESC LIMIT 1 BY chunk_index`
    const places = sql`SELECT toUInt64(chunk_index) * ${param('UInt64', listChunkRows)} + place - 1 AS index, row_digest
      FROM (${chunks}) ARRAY JOIN row_digests AS row_digest, arrayEnumerate(row_digests) AS place
      WHERE index >= ${param('UInt64', from)} AND index < ${param('UInt64', to)}`
    const stored = sql`digest IN (SELECT row_digest FROM (${places}))`
    return sql`SELECT concat(',{"digest":"', r.digest, '","val":', r.val, ',"original_index":', toString(p.index), '}')
    FROM (${places}) AS p
    INNER JOIN (SELECT digest, val ${project.from('table_rows', { final: true, where: stored })}) AS r
      ON p.row_digest = r.digest
    ORDER BY p.index
    ${to - from > 1 ? sql`SETTINGS max_result_bytes = 37748736` : sql``}`
  })

type WindowSource = TableSource & { store: Pick<Store, 'bytes'> }
type Window = { bytes: Buffer; rows: number }

/** A window, or the beginning of one when its rows are larger than those before. A single row has any size. */
async function readWindow(source: WindowSource, digest: string, from: number, rows: number): Promise<Window> {
  for (let count = rows; ; count = Math.ceil(count / growth)) {
    try {
      const query = windowQuery(source.projectId, digest, from, from + count)
      return { bytes: await source.store.bytes(query, 'TSVRaw', source.options), rows: count }
    } catch (error) {
      if (!(error instanceof StoreError) || error.kind !== 'memory' || count === 1) throw error
    }
  }
}

/** All rows from `from` up to and without `to`, as texts separated by commas; the next window is read meanwhile. */
export async function* windows(
  source: WindowSource,
  digest: string,
  from: number,
  to: number,
): AsyncGenerator<string | Buffer> {
  const end = Math.min(to, (await tableCounts(source, [digest])).get(digest) ?? 0)
  const head = Math.min(end, from + maxPageRows)
  let sentBytes = 0
  for await (const places of listedRows(source, digest, from, head))
    for await (const rows of rowsAt(source, places)) {
      const text = rowTexts(rows).join(',')
      sentBytes += text.length
      if (text !== '') yield text
    }
  let at = head
  let rows = maxPageRows
  let rowBytes = sentBytes / maxPageRows
  const next = () => {
    const fitting = Math.floor(windowBytes / Math.max(rowBytes, 1))
    const wanted = Math.min(rows * growth, maxWindowRows, fitting, end - at)
    const reading = readWindow(source, digest, at, Math.max(1, wanted))
    reading.catch(() => undefined)
    return reading
  }
  for (let reading = at < end ? next() : null; reading !== null; ) {
    const { bytes, rows: count } = await reading
    at += count
    rows = count
    rowBytes = Math.max(rowBytes / 2, bytes.length / count)
    reading = at < end ? next() : null
    // Without the first comma and the last line break.
    if (bytes.length > 0) yield bytes.subarray(1, bytes.length - 1)
  }
}
