// Rows of the topic feedback: what every writer of feedback appends.
import type { Clock } from '../core/clock/clock.ts'
import { rewriteJson } from '../core/json/rewrite.ts'
import type { RecordInput } from '../core/log/log.ts'
import { projectRecord } from './project-record.ts'

/** An item of feedback as it is stored; keys are the columns of the topic, in their order. */
export type FeedbackRow = {
  project_id: string
  id: string
  clock: bigint
  weave_ref: string
  user_id: string
  creator: string | null
  feedback_type: string
  annotation_ref: string | null
  runnable_ref: string | null
  call_ref: string | null
  trigger_ref: string | null
  queue_id: string | null
  scorer_tags: string[]
  scorer_tag_reasons: Record<string, string>
  scorer_rating_reasons: Record<string, string>
  scorer_tag_confidences: Record<string, number>
  scorer_ratings: Record<string, number>
  scorer_rating_confidences: Record<string, number>
  span_agent_name: string
  span_agent_version: string
  span_conversation_id: string
  span_trace_id: string
  scorer_trace_id: string
  span_status_code: string
  /** JSON text of an object, as `storedPayload` gives it. */
  payload: string
}

/** The payload's text as it is stored: without white space between tokens and without lone surrogates. */
export const storedPayload = (jsonText: string): string => rewriteJson(jsonText)

const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(\.\d+)?([eE][+-]?\d+)?/g
const mayBeWide = /\d{19}|[eE]\+?\d{3}|\d{16}[^"]*[eE]/
const int64Min = -(2n ** 63n)
const uint64Max = 2n ** 64n - 1n

function isWide(token: string, isWhole: boolean): boolean {
  if (!isWhole) return !Number.isFinite(Number(token))
  if (token.length < 19) return false
  const value = BigInt(token)
  return value < int64Min || value > uint64Max
}

/** The payload with numbers that the engine cannot read as strings; '' when it has none. */
function readable(payload: string): string {
  if (!mayBeWide.test(payload)) return ''
  const text = payload.replace(stringOrNumber, (token, fraction?: string, exponent?: string) =>
    token[0] !== '"' && isWide(token, fraction === undefined && exponent === undefined) ? `"${token}"` : token,
  )
  return text === payload ? '' : text
}

const isDefault = (value: unknown): boolean =>
  value === null ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (typeof value === 'object' && Object.keys(value as object).length === 0)

function createdLine({ project_id, id, clock, payload, ...columns }: FeedbackRow): string {
  let line = `{"project_id":${JSON.stringify(project_id)},"id":${JSON.stringify(id)},"clock":${clock},"event":"created"`
  // An empty text of a nullable column is not its default.
  for (const [name, value] of Object.entries(columns))
    if (!isDefault(value) || (value === '' && nullable.has(name))) line += `,"${name}":${JSON.stringify(value)}`
  line += `,"payload":${payload}`
  const text = readable(payload)
  return `${line}${text && `,"readable_payload":${text}`}}\n`
}

const nullable = new Set(['creator', 'annotation_ref', 'runnable_ref', 'call_ref', 'trigger_ref', 'queue_id'])

const purgedLine = (projectId: string, id: string, clock: bigint): string =>
  `{"project_id":${JSON.stringify(projectId)},"id":${JSON.stringify(id)},"clock":${clock},"event":"purged"}\n`

const recordOf = (projectId: string, lines: string[], clock: bigint): RecordInput =>
  projectRecord(projectId, { rows: Buffer.from(lines.join('')), rowCount: lines.length, clock, key: projectId })

/** One record per project: items of one project stay together. */
export function createdRecords(rows: readonly FeedbackRow[]): RecordInput[] {
  const projects = Map.groupBy(rows, (row) => row.project_id)
  return [...projects].map(([projectId, own]) =>
    recordOf(projectId, own.map(createdLine), (own.at(-1) as FeedbackRow).clock),
  )
}

/** The ids are gone for good, unless a later event creates them anew. */
export function purgedRecord(projectId: string, ids: readonly string[], clock: Clock): RecordInput {
  const at = clock.next()
  return recordOf(
    projectId,
    ids.map((id) => purgedLine(projectId, id, at)),
    at,
  )
}

/** Both steps of a replacement in one record; `row` must be younger than `purgedAt`. */
export const replacedRecord = (purgedId: string, purgedAt: bigint, row: FeedbackRow): RecordInput =>
  recordOf(row.project_id, [purgedLine(row.project_id, purgedId, purgedAt), createdLine(row)], row.clock)
