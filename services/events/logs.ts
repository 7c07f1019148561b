// The topic logs: OTLP log records as every writer of them appends them.
import { hash } from 'node:crypto'
import { createJsonBuffer, type JsonBuffer } from '../core/json/row-writer.ts'
import type { RecordInput } from '../core/log/log.ts'
import { freshBuffers } from '../core/memory/buffer-pool.ts'
import { always, clock, declareTopic, jsonMap, key, number, projectRecord, quoted, text, texts } from './declaration.ts'

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
  },
})

/** Texts of a map, and the names of those that are JSON texts of what was no text. */
export type Texts = { values: ReadonlyMap<string, string>; json: readonly string[] }

/** Names of attributes repeat: their JSON texts are kept, as many as a sender can be expected to have. */
const maxKeys = 10_000
const maxKeyLength = 128
const known = new Map<string, string>()

/** `"key":` */
function keyText(key: string): string {
  const hit = known.get(key)
  if (hit !== undefined) return hit
  const text = `${quoted(key)}:`
  if (key.length <= maxKeyLength) {
    if (known.size >= maxKeys) known.clear()
    known.set(key, text)
  }
  return text
}

/** Shorter texts are written together with what stands around them. */
const shortLength = 128

/** Writes a map behind `lead`, but for its end, which is the answer. */
function writeMap(rows: JsonBuffer, lead: string, values: ReadonlyMap<string, string>): string {
  let text = `${lead}{`
  let isFirst = true
  for (const [key, value] of values) {
    text += isFirst ? keyText(key) : `,${keyText(key)}`
    isFirst = false
    if (value.length <= shortLength) text += quoted(value)
    else {
      rows.text(text)
      rows.string(value)
      text = ''
    }
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

const noId = '0'.repeat(32)
const idLead = '"id":"'
const timeLead = '"at_ns":'

/** Writes the columns behind the event's name and the end of the row; `before` are those up to there. */
function writeContent(rows: JsonBuffer, before: string, row: LogRow): void {
  let text = before
  if (row.body !== '') {
    rows.text(`${text},"body":`)
    rows.string(row.body)
    text = ''
  }
  if (row.isBodyJson) text += `,${logsTopic.cells({ body_json: 1 })}`
  if (row.attributes.values.size > 0) text = writeMap(rows, `${text},"attributes":`, row.attributes.values)
  const behind = logsTopic.cells({ json_keys: row.attributes.json, resource: row.resource, scope: row.scope })
  rows.text(behind === '' ? `${text}}\n` : `${text},${behind}}\n`)
}

export type LogWriter = {
  /**
   * Writes a row; its id is the digest of everything that the record says, so that what is sent again is the same row.
   * @param time the record's own time; it may have none, and `at` tells when it was taken then
   * @returns the id, 32 hex digits
   */
  add(projectId: string, row: LogRow, time: string, clock: bigint): string
  /** The records to append, one per project. */
  take(): RecordInput[]
}

type Pending = { rows: JsonBuffer; rowCount: number; clock: bigint; firstId: string }

/**
 * @param sizeHintBytes expected size of all rows
 * @param pool where the buffers of the rows come from; the caller gives them back
 */
export function createLogWriter(sizeHintBytes = 4096, pool = freshBuffers): LogWriter {
  const byProject = new Map<string, Pending>()
  return {
    add(projectId, row, time, clock) {
      let pending = byProject.get(projectId)
      if (pending === undefined) {
        pending = { rows: createJsonBuffer(sizeHintBytes, pool), rowCount: 0, clock: 0n, firstId: '' }
        byProject.set(projectId, pending)
      }
      const { rows } = pending
      const before = `{${logsTopic.cells({
        ...{ project_id: projectId, id: noId, clock, at_ns: row.at, observed_ns: row.observed },
        ...{ trace_id: row.traceId, span_id: row.spanId, severity: row.severity, severity_text: row.severityText },
        event_name: row.eventName,
      })}`
      const begin = rows.sizeBytes()
      writeContent(rows, before, row)
      const positionOf = (lead: string) =>
        begin + Buffer.byteLength(before.slice(0, before.indexOf(lead) + lead.length))
      // From its time on, without the end of the row.
      const said = rows.since(positionOf(timeLead)).subarray(0, -2)
      const isTimed = time === row.at
      const of = isTimed ? said : Buffer.concat([Buffer.from(time), said.subarray(row.at.length)])
      const id = hash('sha256', of, 'hex').slice(0, 32)
      rows.over(positionOf(idLead), id)
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
