// The topic logs: OTLP log records as every writer of them appends them.
import { hash } from 'node:crypto'
import type { Seen } from '../core/json/escaping.ts'
import { createJsonBuffer, type JsonBuffer } from '../core/json/row-writer.ts'
import type { RecordInput } from '../core/log/log.ts'
import { freshBuffers } from '../core/memory/buffer-pool.ts'
import {
  always,
  clock,
  declareTopic,
  jsonMap,
  key,
  number,
  projectRecord,
  quoted,
  recordOfRows,
  text,
  texts,
} from './declaration.ts'

export const logsTopic = declareTopic({
  name: 'logs',
  about: 'OTLP log records.',
  version: 1,
  landing: 'logs_in',
  columns: {
    project_id: key,
    id: key,
    clock,
    at_ns: always(number<string>('Int64')),
    observed_ns: number<string>('Int64'),
    trace_id: text,
    span_id: text,
    severity: number('UInt8'),
    severity_text: text,
    event_name: text,
    body: text,
    body_json: number('UInt8'),
    attributes: jsonMap,
    json_keys: texts,
    resource: jsonMap,
    scope: jsonMap,
    /** 1 = no record, but its delete: the record of this id is hidden, whenever it comes. */
    deleted: number('UInt8'),
  },
})

/** A log record as its table finds it; the time in nanoseconds as text. */
export type LogKey = { id: string; at: string }

/** Rows that fit into a record of the log with room to spare. */
const deletesOfRecord = 5_000

/** Deletes of log records of a project, at least one, each under an accept timestamp of its own record. */
export function deletedRecords(projectId: string, keys: readonly LogKey[], clock: { next(): bigint }): RecordInput[] {
  const records: RecordInput[] = []
  for (let i = 0; i < keys.length; i += deletesOfRecord) {
    const at = clock.next()
    const some = keys.slice(i, i + deletesOfRecord)
    records.push(
      recordOfRows(
        logsTopic,
        some.map((key) => ({ project_id: projectId, id: key.id, clock: at, at_ns: key.at, deleted: 1 })),
      ),
    )
  }
  return records
}

/** A text as it came: bytes `start` to `end` of a buffer, which are UTF-8 unless the sender errs. */
export class TextBytes {
  readonly source: Buffer
  readonly start: number
  readonly end: number
  constructor(source: Buffer, start: number, end: number) {
    this.source = source
    this.start = start
    this.end = end
  }
  /** Bytes that are no UTF-8 become U+FFFD. */
  text(): string {
    return this.source.toString('utf8', this.start, this.end)
  }
}

/** Texts of a map, and the names of those that are JSON texts of what was no text. */
export type Texts = { values: ReadonlyMap<string, string>; json: readonly string[] }

/** Storage of texts that came as bytes. */
type OfBytes = {
  /** Whether one that holds this is stored as it is. */
  stays(seen: Seen): boolean
  /** The stored form of a text that came as a string. */
  stored(text: string): string
}

/** Names of attributes repeat: their JSON texts are kept, as many as a sender can be expected to have. */
const maxKeys = 10_000
const maxKeyLength = 128
const known = new Map<string, string>()

/** `"key"` */
function quotedKey(key: string): string {
  const hit = known.get(key)
  if (hit !== undefined) return hit
  const text = quoted(key)
  if (key.length <= maxKeyLength) {
    if (known.size >= maxKeys) known.clear()
    known.set(key, text)
  }
  return text
}

const keyText = (key: string): string => `${quotedKey(key)}:`

/** Shorter texts are written together with what stands around them. */
const shortLength = 128

function writeBytes(rows: JsonBuffer, value: TextBytes, { stays, stored }: OfBytes): void {
  if (!rows.bytes(value.source, value.start, value.end, stays)) rows.string(stored(value.text()))
}

/** Writes a map behind `lead`, but for its end, which is the answer. */
function writeMap(rows: JsonBuffer, lead: string, { keys, values }: RowTexts, ofBytes: OfBytes): string {
  let text = `${lead}{`
  for (let i = 0; i < keys.length; i++) {
    const value = values[i] as string | TextBytes
    text += i === 0 ? keys[i] : `,${keys[i]}`
    if (typeof value === 'string' && value.length <= shortLength) {
      text += quoted(value)
      continue
    }
    rows.text(text)
    if (typeof value === 'string') rows.string(value)
    else writeBytes(rows, value, ofBytes)
    text = ''
  }
  return `${text}}`
}

/** `{"key":"value",…}` */
export function mapText(values: ReadonlyMap<string, string>): string {
  let text = ''
  for (const [key, value] of values) text += (text === '' ? '' : ',') + keyText(key) + quoted(value)
  return `{${text}}`
}

export type LogRow = {
  /** Nanoseconds since 1970 as decimal text: when it happened, when it was observed ('0' = not told). */
  at: string
  observed: string
  /** Hexadecimal digits, or none. */
  traceId: string
  spanId: string
  severity: number
  severityText: string
  eventName: string
  body: string
  /** The body is the JSON text of what was no text. */
  isBodyJson: boolean
  attributes: Texts
  /** JSON texts of the maps that the records of a scope share (`mapText`). */
  resource: string
  scope: string
}

/** The same as it is written: keys as `"key":`, each of them once, with their texts in the same order. */
export type RowTexts = {
  keys: readonly string[]
  values: readonly (string | TextBytes)[]
  json: readonly string[]
}

export type WrittenRow = Omit<LogRow, 'body' | 'attributes'> & { body: string | TextBytes; attributes: RowTexts }

/** Texts of a map as they are written. */
export const writtenTexts = ({ values, json }: Texts): RowTexts => ({
  keys: Array.from(values.keys(), keyText),
  values: [...values.values()],
  json,
})

const noId = '0'.repeat(32)
const timeLead = '"at_ns":'
const bodyJson = logsTopic.cells({ body_json: 1 })
/** Bytes are stored as the texts that they are. */
const asText: OfBytes = { stays: () => false, stored: (text) => text }

const placeCells = logsTopic.part('project_id', 'id')
const sharedCells = logsTopic.part('resource', 'scope')

/** Columns from the time to the event's name, as `cells` writes them: there are too many rows to ask each column. */
function factsOf(row: WrittenRow): string {
  let text = `${timeLead}${row.at}`
  if (row.observed !== '0') text += `,"observed_ns":${row.observed}`
  if (row.traceId !== '') text += `,"trace_id":"${row.traceId}"`
  if (row.spanId !== '') text += `,"span_id":"${row.spanId}"`
  if (row.severity !== 0) text += `,"severity":${row.severity}`
  if (row.severityText !== '') text += `,"severity_text":${quotedKey(row.severityText)}`
  if (row.eventName !== '') text += `,"event_name":${quotedKey(row.eventName)}`
  return text
}

/** End of the rows of the last scope. */
let last = { resource: '{}', scope: '{}', end: '}\n' }

function endOf({ attributes: { json }, resource, scope }: WrittenRow): string {
  if (resource !== last.resource || scope !== last.scope) {
    const cells = sharedCells({ resource, scope })
    last = { resource, scope, end: cells === '' ? '}\n' : `,${cells}}\n` }
  }
  if (json.length === 0) return last.end
  let keys = ''
  for (const key of json) keys += keys === '' ? quotedKey(key) : `,${quotedKey(key)}`
  return `,"json_keys":[${keys}]${last.end}`
}

/** Writes the columns behind the event's name and the end of the row; `before` are those up to there. */
function writeContent(rows: JsonBuffer, before: string, row: WrittenRow, ofBytes: OfBytes): void {
  let text = before
  if (row.body !== '') {
    rows.text(`${text},"body":`)
    if (typeof row.body === 'string') rows.string(row.body)
    else writeBytes(rows, row.body, ofBytes)
    text = ''
  }
  if (row.isBodyJson) text += `,${bodyJson}`
  if (row.attributes.keys.length > 0) text = writeMap(rows, `${text},"attributes":`, row.attributes, ofBytes)
  rows.text(text + endOf(row))
}

export type LogWriter = {
  /**
   * Writes a row; its id is the digest of everything that the record says, so that what is sent again is the same row.
   * @param time the record's own time; it may have none, and `at` tells when it was taken then
   * @param ofBytes for texts that came as bytes
   * @returns the id, 32 hex digits
   */
  add(projectId: string, row: WrittenRow, time: string, clock: bigint, ofBytes?: OfBytes): string
  /** The records to append, one per project. */
  take(): RecordInput[]
}

/** `lead` are the columns before the id, up to its first digit, which stands `leadBytes` behind the beginning of a row. */
type Pending = {
  rows: JsonBuffer
  rowCount: number
  clock: bigint
  firstId: string
  lead: string
  leadBytes: number
}

/**
 * @param sizeHintBytes expected size of all rows
 * @param pool where the buffers of the rows come from; the caller gives them back
 */
export function createLogWriter(sizeHintBytes = 4096, pool = freshBuffers): LogWriter {
  const byProject = new Map<string, Pending>()
  return {
    add(projectId, row, time, clock, ofBytes = asText) {
      let pending = byProject.get(projectId)
      if (pending === undefined) {
        const lead = `{${placeCells({ project_id: projectId, id: '' })}`.slice(0, -1)
        const rows = createJsonBuffer(sizeHintBytes, pool)
        pending = { rows, rowCount: 0, clock: 0n, firstId: '', lead, leadBytes: Buffer.byteLength(lead) }
        byProject.set(projectId, pending)
      }
      const { rows, lead, leadBytes } = pending
      const behindId = clock === 0n ? '",' : `","clock":${clock},`
      const idAt = rows.sizeBytes() + leadBytes
      writeContent(rows, `${lead}${noId}${behindId}${factsOf(row)}`, row, ofBytes)
      // The row from its time on, without its end.
      const said = rows.between(idAt + noId.length + behindId.length + timeLead.length, rows.sizeBytes() - 2)
      const isTimed = time === row.at
      const of = isTimed ? said : Buffer.concat([Buffer.from(time), said.subarray(row.at.length)])
      const id = hash('sha256', of, 'hex').slice(0, 32)
      rows.over(idAt, id)
      if (pending.rowCount++ === 0) pending.firstId = id
      if (clock > pending.clock) pending.clock = clock
      return id
    },
    take() {
      const records = [...byProject].map(([projectId, { rows, rowCount, clock, firstId }]) =>
        projectRecord(projectId, { rows: rows.done(), rowCount, clock, key: `${projectId}/${firstId}` }),
      )
      byProject.clear()
      return records
    },
  }
}
