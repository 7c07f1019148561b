// Payload texts of the calls of a page: read as raw bytes, the newest part of each side, in batches bounded by bytes.

import { hasReferences, spliced } from '../../content/span-dump.ts'
import { retryLater } from '../../core/http/errors.ts'
import type { ProjectId } from '../../core/ids.ts'
import { runningCutoffs } from '../../core/process/running-handler.ts'
import { rowBinary } from '../../core/store/row-binary.ts'
import { identifier, join, param, type Sql, sql } from '../../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../../core/store/store.ts'
import { projectQuery } from '../../events/project-query.ts'
import type { Columns } from '../compact-rows.ts'
import { type Side, sideOf } from './conditions/conditions.ts'
import type { Document } from './conditions/types.ts'
import { allOf, type CallKey, everything, type Index, instants, rangeConditions, timeConditions } from './scope.ts'
import { documentSql } from './span-dump.ts'

/** A call with the places of its payloads. */
export type PayloadPlace = CallKey & { hasEnd: 0 | 1; outputUs: number }

export const payloadPlace: Columns<PayloadPlace> = {
  id: sql`c.id`,
  startedUs: sql`toUnixTimestamp64Micro(c.started_at)`,
  hasEnd: sql`c.end_ver > 0`,
  outputUs: sql`toUnixTimestamp64Micro(c.output_at)`,
}

/**
 * The columns of a payload that are read: its documents, and values that follow from them for a bill (costs/billed.ts),
 * as texts.
 */
export type PayloadColumn = Document

export type CallDocuments = Partial<Record<PayloadColumn, Buffer>>

/** Columns that are no documents: the side they belong to, and their text, '' where there is nothing to tell. */
const derived: Partial<Record<PayloadColumn, { side: Side; text: Sql }>> = {
  billed_usage: { side: 'end', text: documentSql('billed_usage') },
  counts_cached: { side: 'start', text: documentSql('counts_cached') },
  thrown_types: { side: 'start', text: documentSql('thrown_types') },
  // The clock tells whether both sides were read from one row.
  mask_start: { side: 'start', text: sql`concat(mask::String, ' ', mask_hits::String, ' ', clock::String)` },
  mask_end: { side: 'end', text: sql`concat(mask::String, ' ', mask_hits::String, ' ', clock::String)` },
}
const sideOfColumn = (column: PayloadColumn): Side => derived[column]?.side ?? sideOf(column as Document)

/** Distribution of rows: next to each other (read the range), or scattered (look up each). */
export type Spread = 'dense' | 'scattered'

/** Up to so many rows looking up each is as fast as reading their range. */
const fewRows = 64

export const payloadQuery = (
  projectId: ProjectId,
  rows: readonly PayloadPlace[],
  documents: readonly PayloadColumn[],
  spread: Spread,
): Query =>
  projectQuery('calls.payloads', projectId, (project) => {
    const sides = new Set(documents.map(sideOfColumn))
    const times = new Set<number>()
    for (const row of rows) {
      if (sides.has('start')) times.add(row.startedUs)
      if (sides.has('end') && row.hasEnd) times.add(row.outputUs)
    }
    const list = [...times]
    const id = sql`id`
    const conditions = [
      spread === 'dense' && rows.length > fewRows
        ? allOf(rangeConditions(sql`at`, bounds(list)))
        : sql`at IN ${instants(list)}`,
      sql`${id} IN ${param(
        'Array(String)',
        rows.map((row) => row.id),
      )}`,
    ]
    if (sides.size === 1) conditions.push(sides.has('start') ? sql`part != 'end'` : sql`part != 'start'`)
    return sql`${selectOf(documents)} ${project.from('payloads', { where: allOf(conditions) })}`
  })

const selectOf = (documents: readonly PayloadColumn[]): Sql =>
  sql`SELECT toUnixTimestamp64Micro(at), id, part, clock, ${join(
    documents.map((column) => derived[column]?.text ?? identifier(column)),
    ', ',
  )}`

/** The parts of the calls of some ids that lie at their start: all of a call that came whole. */
export const partsAtStartQuery = (projectId: ProjectId, index: Index, documents: readonly PayloadColumn[]): Query =>
  projectQuery('calls.payloads', projectId, (project) => {
    const conditions = [
      ...timeConditions(project, sql`at`, { projectId, range: everything, index, keys: null }),
      sql`id IN ${param('Array(String)', index.values)}`,
    ]
    return sql`${selectOf(documents)} ${project.from('payloads', { where: allOf(conditions) })}`
  })

/** Parts that were read before the call headers were known, for `readPayloads`. */
export type EarlyParts = Buffer

/** Reads what `readPayloads` will most probably need, beside the look for the rows of these ids. */
export const readPartsAtStart = (
  store: Pick<Store, 'bytes'>,
  projectId: ProjectId,
  index: Index,
  documents: readonly PayloadColumn[],
  options: QueryOptions,
): Promise<EarlyParts> => store.bytes(partsAtStartQuery(projectId, index, documents), 'RowBinary', options)

function bounds(times: readonly number[]) {
  let from = Number.POSITIVE_INFINITY
  let to = Number.NEGATIVE_INFINITY
  for (const time of times) {
    if (time < from) from = time
    if (time > to) to = time
  }
  return { fromUs: from, beforeUs: to + 1 }
}

type Part = { clock: bigint; texts: Buffer[] }

/** Newest part of each side, by place: start parts by started_at, end parts by where the call header says. */
type Found = { start: Map<string, Part>; end: Map<string, Part> }

const keyOf = (us: number, id: string): string => `${us} ${id}`
const partBoth = 0
const partStart = 1

/** Decodes rows of `payloadQuery` without copying a text. */
function decode(answer: Buffer, documents: number, found: Found): void {
  const read = rowBinary(answer)
  const offer = (side: Map<string, Part>, key: string, part: Part) => {
    const known = side.get(key)
    if (known === undefined || known.clock < part.clock) side.set(key, part)
  }
  while (!read.isAtEnd()) {
    const key = keyOf(read.int64(), read.text())
    const kind = read.uint8()
    const part: Part = { clock: read.uint64(), texts: [] }
    for (let n = 0; n < documents; n++) part.texts.push(read.bytes())
    if (kind === partBoth || kind === partStart) offer(found.start, key, part)
    if (kind !== partStart) offer(found.end, key, part)
  }
}

/** Payloads of the project from before it are not seen, though their calls may be; 0 = all are. */
export const payloadsFromUs = (projectId: ProjectId): number => runningCutoffs(projectId)?.payloadsUs ?? 0

/** Between the two attempts: the views that fill the tables do not commit together. */
const retryAfterMs = 50

/** The other texts of a row that a raw span may share. */
const sharing: readonly Document[] = ['attributes', 'inputs', 'output']

/**
 * The documents of the rows, in the order of the rows; '' where a call has none.
 * @param early parts of the same documents: what they hold is not read again
 * @throws Fault 503 when a part that the call header tells of is not there
 */
export async function readPayloads(
  store: Pick<Store, 'bytes'>,
  projectId: ProjectId,
  rows: readonly PayloadPlace[],
  documents: readonly PayloadColumn[],
  spread: Spread,
  options: QueryOptions,
  early: EarlyParts | null = null,
): Promise<CallDocuments[]> {
  if (documents.length === 0 || rows.length === 0) return rows.map(() => ({}))
  const found: Found = { start: new Map(), end: new Map() }
  const fromUs = payloadsFromUs(projectId)
  const sides = new Set(documents.map(sideOfColumn))
  const read = async (wanted: readonly PayloadPlace[]) => {
    const query = payloadQuery(projectId, wanted, documents, spread)
    decode(await store.bytes(query, 'RowBinary', options), documents.length, found)
  }
  const startOf = (row: PayloadPlace) => found.start.get(keyOf(row.startedUs, row.id))
  const endOf = (row: PayloadPlace) => found.end.get(keyOf(row.outputUs, row.id))
  const isMissing = (row: PayloadPlace): boolean =>
    (sides.has('start') && !startOf(row) && row.startedUs >= fromUs) ||
    (sides.has('end') && row.hasEnd === 1 && !endOf(row) && row.outputUs >= fromUs)

  if (early) decode(early, documents.length, found)
  const wanted = early || fromUs > 0 ? rows.filter(isMissing) : rows
  if (wanted.length > 0) await read(wanted)
  const missing = rows.filter(isMissing)
  if (missing.length > 0) {
    await new Promise((resolve) => setTimeout(resolve, retryAfterMs))
    await read(missing)
    const first = missing.find(isMissing)
    if (first) throw retryLater(503, `The payload of call ${first.id} is not readable yet`)
  }
  const spanAt = documents.indexOf('otel_dump')
  const isCut = (row: PayloadPlace): boolean => spanAt !== -1 && hasReferences(startOf(row)?.texts[spanAt] ?? nothing)
  const cut = rows.filter(isCut)
  if (cut.length > 0 && !sharing.every((document) => documents.includes(document))) {
    // Few ask for a raw span without the rest of its call: the rest is read for these alone.
    const whole = await readPayloads(store, projectId, cut, ['otel_dump', ...sharing], 'scattered', options)
    for (const [n, row] of cut.entries()) {
      const part = startOf(row) as Part
      part.texts[spanAt] = whole[n]?.otel_dump ?? nothing
    }
  }
  return rows.map((row) => {
    const start = startOf(row)
    const end = row.hasEnd === 1 ? endOf(row) : undefined
    const payload: CallDocuments = {}
    for (const [n, document] of documents.entries()) {
      let text = (sideOfColumn(document) === 'start' ? start : end)?.texts[n]
      if (n === spanAt && start && text && hasReferences(text)) text = spliced(text, textsOf(start, documents))
      if (text && text.length > 0) payload[document] = text
    }
    return payload
  })
}

const nothing = Buffer.alloc(0)

/** The texts of one row, by document. */
const textsOf = ({ texts }: Part, documents: readonly PayloadColumn[]): CallDocuments =>
  Object.fromEntries(documents.map((document, n) => [document, texts[n]]))
