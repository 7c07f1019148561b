// The topic logs: OTLP log records as every writer of them appends them.
import { hash } from 'node:crypto'
import { createJsonBuffer, type JsonBuffer } from '../core/json/row-writer.ts'
import type { RecordInput } from '../core/log/log.ts'
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

/** What a record says, without project, id, clock and time. */
const contentOf = (row: LogRow): string =>
  logsTopic.cells({
    observed_ns: row.observed,
    trace_id: row.traceId,
    span_id: row.spanId,
    severity: row.severity,
    severity_text: row.severityText,
    event_name: row.eventName,
    body: row.body,
    body_json: Number(row.isBodyJson),
    attributes: mapText(row.attributes.values),
    json_keys: row.attributes.json,
    resource: row.resource,
    scope: row.scope,
  })

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

/** @param sizeHintBytes expected size of all rows */
export function createLogWriter(sizeHintBytes = 4096): LogWriter {
  const byProject = new Map<string, Pending>()
  return {
    add(projectId, row, time, clock) {
      const content = contentOf(row)
      const columns = content === '' ? '' : `,${content}`
      const id = hash('sha256', `${time}${columns}`, 'hex').slice(0, 32)
      let pending = byProject.get(projectId)
      if (pending === undefined) {
        pending = { rows: createJsonBuffer(sizeHintBytes), rowCount: 0, clock: 0n, firstId: id }
        byProject.set(projectId, pending)
      }
      pending.rows.text(`{${logsTopic.cells({ project_id: projectId, id, clock, at_ns: row.at })}${columns}}\n`)
      pending.rowCount++
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
