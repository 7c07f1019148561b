// Tables in the worker: rows for a grid, one row whole, and all of them as a file.
import { type RouteName, send, staleMsOf } from '../api/send.ts'
import { csvLine, csvRow } from '../engine/csv.ts'
import { kindAt, membersAt, skipSpace, skipValue, stringAt, stringHead, textBetween } from '../engine/json-index.ts'
import { type Member, membersIn, plainText } from '../engine/json-texts.ts'
import { type NodeRef, openDocument } from './documents.ts'

type Context = { signal: AbortSignal }

/** A cell as a grid shows it: the beginning of a string, everything else as it is spelled. */
export type TableCell = { name: string; kind: ReturnType<typeof kindAt>; text: string; bytes: number }
export type TableRow = { cells: TableCell[] }
export type TablePage = { rows: TableRow[]; staleMs: number }

const cellCharacters = 240
/** Rows of one request of a file. */
const fileRows = 1_000

type Asked = { base: string; projectId: string; digest: string }

async function read(context: Context, { base, projectId: project_id, digest }: Asked, offset: number, limit: number) {
  const name: RouteName = 'tables.query'
  const response = await send(base, name, { project_id, digest, offset, limit }, { signal: context.signal })
  const bytes = new Uint8Array(await response.arrayBuffer())
  return { bytes, staleMs: staleMsOf(response) }
}

/** Beginning of each row of an answer. */
function rowStarts(bytes: Uint8Array): number[] {
  const rows = memberAt(bytes, skipSpace(bytes, 0), 'rows')
  if (rows === undefined) return []
  const { count, starts } = membersAt(bytes, rows[0])
  return [...starts.subarray(0, count)]
}

/** Beginning and end of the value of each row of an answer. */
function* valuesOf(bytes: Uint8Array): Generator<[start: number, end: number]> {
  for (const row of rowStarts(bytes)) {
    const value = memberAt(bytes, row, 'val')
    if (value !== undefined) yield value
  }
}

function digestAt(bytes: Uint8Array, row: number): string {
  const found = memberAt(bytes, row, 'digest')
  return found === undefined ? '' : plainText(textBetween(bytes, ...found))
}

function memberAt(bytes: Uint8Array, at: number, name: string): [start: number, end: number] | undefined {
  const { count, keys, starts, ends } = membersAt(bytes, at)
  for (let n = 0; n < count; n++) {
    const key = keys[n] as number
    if (stringAt(bytes, key, skipValue(bytes, key)) === name) return [starts[n] as number, ends[n] as number]
  }
  return undefined
}

function cellsAt(bytes: Uint8Array, at: number): TableCell[] {
  if (kindAt(bytes, at) !== 'object') return []
  const { count, keys, starts, ends } = membersAt(bytes, at)
  return Array.from({ length: count }, (_, n) => {
    const [key, start, end] = [keys[n] as number, starts[n] as number, ends[n] as number]
    const kind = kindAt(bytes, start)
    const text =
      kind === 'string'
        ? stringHead(bytes, start, end, cellCharacters)
        : textBetween(bytes, start, Math.min(end, start + cellCharacters))
    return { name: stringHead(bytes, key, skipValue(bytes, key), 1_000), kind, text, bytes: end - start }
  })
}

export async function tableRows(context: Context, asked: Asked, offset: number, limit: number): Promise<TablePage> {
  const { bytes, staleMs } = await read(context, asked, offset, limit)
  return { rows: [...valuesOf(bytes)].map(([start]) => ({ cells: cellsAt(bytes, start) })), staleMs }
}

/** Rows with their digests, and all cells as they are spelled: to make another table of them. */
export async function tableCells(context: Context, asked: Asked, offset: number, limit: number) {
  const { bytes } = await read(context, asked, offset, limit)
  return rowStarts(bytes).map((row) => {
    const value = memberAt(bytes, row, 'val')
    return { digest: digestAt(bytes, row), cells: value ? membersIn(bytes, value[0]) : [] }
  })
}

export type WholeRow = {
  node: NodeRef
  cells: Member[]
  /** Digest of stored rows. */
  digest?: string | undefined
}

/** A text of JSON as a document of its own, with the members of its object. */
export function textDocument(text: string): WholeRow {
  const bytes = new TextEncoder().encode(text)
  return { node: openDocument(bytes), cells: membersIn(bytes, skipSpace(bytes, 0)) }
}

/** One row with all of its cells as they are spelled. */
export async function tableRow(context: Context, asked: Asked, index: number): Promise<WholeRow | null> {
  const { bytes } = await read(context, asked, index, 1)
  const [row] = rowStarts(bytes)
  const value = row === undefined ? undefined : memberAt(bytes, row, 'val')
  if (row === undefined || value === undefined) return null
  return { ...textDocument(textBetween(bytes, ...value)), digest: digestAt(bytes, row) }
}

async function* pagesOf(context: Context, asked: Asked, count: number): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < count; offset += fileRows) yield (await read(context, asked, offset, fileRows)).bytes
}

/** All rows as JSON Lines in the bytes that are stored, or as CSV with a column for every name that any row has. */
export async function tableFile(context: Context, asked: Asked, count: number, format: 'jsonl' | 'csv'): Promise<Blob> {
  const parts: BlobPart[] = []
  if (format === 'jsonl') {
    for await (const bytes of pagesOf(context, asked, count))
      parts.push([...valuesOf(bytes)].map((value) => `${textBetween(bytes, ...value)}\n`).join(''))
    return new Blob(parts, { type: 'application/jsonl' })
  }
  const names = new Set<string>()
  for await (const bytes of pagesOf(context, asked, count))
    for (const [start] of valuesOf(bytes)) for (const [name] of membersIn(bytes, start)) names.add(name)
  const columns = [...names]
  parts.push(csvLine(columns))
  for await (const bytes of pagesOf(context, asked, count))
    parts.push([...valuesOf(bytes)].map(([start]) => csvRow(columns, membersIn(bytes, start))).join(''))
  return new Blob(parts, { type: 'text/csv' })
}
