// The topic tables: table rows by content, and the lists of row digests that make tables.

import type { Clock } from '../core/clock/clock.ts'
import { createSerialQueue } from '../core/concurrency/serial-queue.ts'
import { forEachYielding } from '../core/concurrency/yielding.ts'
import { tooLarge } from '../core/errors.ts'
import type { ProjectId } from '../core/ids.ts'
import { canonicalJson, oneLine } from '../core/json/canonical.ts'
import type { RecordInput } from '../core/log/log.ts'
import { choice, clock, declareTopic, json, key, number, projectRecord, rowText, texts } from './declaration.ts'
import { canonicalDigest, createTableDigest } from './digest.ts'

export const tablesTopic = declareTopic({
  name: 'tables',
  about: 'Table rows by content, and the lists of row digests that make tables.',
  version: 1,
  landing: 'tables_in',
  columns: {
    project_id: key,
    kind: choice('row', 'list'),
    digest: key,
    clock,
    size_bytes: number('UInt64'),
    chunk_index: number('UInt32'),
    row_count: number('UInt64'),
    row_digests: texts,
    val: json,
  },
})

/** Digests in one chunk of a list; part of the stored form, because places are found by division. */
export const listChunkRows = 1000

export type TableRow = {
  /** JSON text of an object, on one line. */
  val: string
  digest: string
  /** Bytes of the canonical JSON. */
  sizeBytes: number
}

function tableRow(jsonText: string): TableRow {
  const canonical = canonicalJson(jsonText)
  return { val: oneLine(jsonText), digest: canonicalDigest(canonical), sizeBytes: canonical.length }
}

type RowMasker = { json(field: 'objects', json: string): { text: string } }

export type NewTable = {
  projectId: ProjectId
  /** JSON texts of the rows to store. */
  texts: readonly string[]
  /** The digests of the table's rows, in order: of these, of stored ones, or of any. */
  list(rows: readonly TableRow[]): readonly string[]
  clock: Clock
  /** Masker of the rows before they get their digests. */
  masker?: RowMasker | undefined
}

export type MadeTable = {
  digest: string
  rowDigests: readonly string[]
  /** Each distinct row and every chunk of the list. */
  record: RecordInput
}

function* chunksOf(rowDigests: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < rowDigests.length; at += listChunkRows) yield rowDigests.slice(at, at + listChunkRows)
}

const chunkLength = 256 * 1024

/** Lines as bytes, gathered in pieces. */
function createLines() {
  const pieces: Buffer[] = []
  let text = ''
  let rowCount = 0
  return {
    put(line: string): void {
      text += line
      rowCount++
      if (text.length < chunkLength) return
      pieces.push(Buffer.from(text))
      text = ''
    },
    end: () => ({ rows: Buffer.concat([...pieces, Buffer.from(text)]), rowCount }),
  }
}

async function make({ projectId, texts, list, clock, masker }: NewTable): Promise<MadeTable> {
  const rows: TableRow[] = []
  await forEachYielding(texts, (text) => rows.push(tableRow(masker?.json('objects', text).text ?? text)))
  const rowDigests = list(rows)
  const sha = createTableDigest()
  await forEachYielding(chunksOf(rowDigests), (chunk) => sha.update(chunk))
  const digest = sha.digest()

  const version = clock.next()
  const { put, end } = createLines()
  const written = new Set<string>()
  const shared = { project_id: projectId, clock: version }
  await forEachYielding(rows, (row) => {
    if (written.has(row.digest)) return
    written.add(row.digest)
    put(rowText(tablesTopic, { ...shared, kind: 'row', digest: row.digest, size_bytes: row.sizeBytes, val: row.val }))
  })
  const asList = { ...shared, kind: 'list', digest, row_count: rowDigests.length } as const
  if (rowDigests.length === 0) put(rowText(tablesTopic, asList))
  let index = 0
  await forEachYielding(chunksOf(rowDigests), (chunk) =>
    put(rowText(tablesTopic, { ...asList, chunk_index: index++, row_digests: chunk })),
  )
  const key = `${projectId}/${digest}`
  return { digest, rowDigests, record: projectRecord(projectId, { ...end(), clock: version, key }) }
}

/** Rows that one request may store: half a kilobyte each while the table is made. */
const maxRows = 1_000_000
/** Requests of more rows wait for one another. */
const manyRows = 10_000

const largeTables = createSerialQueue()

/**
 * The stored form of a request for a table.
 * @throws Fault 413 for too many rows or one that is nested too deep, 400 for numbers beyond double range
 */
export async function makeTable(table: NewTable): Promise<MadeTable> {
  const { length } = table.texts
  if (length > maxRows) throw tooLarge()
  return length > manyRows ? largeTables.run(() => make(table)) : make(table)
}
