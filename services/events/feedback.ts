// The topic feedback: what every writer of feedback appends.
import type { Clock } from '../core/clock/clock.ts'
import { rewriteJson } from '../core/json/rewrite.ts'
import type { RecordInput } from '../core/log/log.ts'
import {
  choice,
  clock,
  declareTopic,
  json,
  key,
  nullableText,
  numberMap,
  recordOfRows,
  text,
  textMap,
  texts,
  type ValuesOf,
} from './declaration.ts'

export const feedbackTopic = declareTopic({
  name: 'feedback',
  about: 'Feedback about calls and other things: created or purged. A replacement is both.',
  version: 1,
  landing: 'feedback_in',
  columns: {
    project_id: key,
    id: key,
    clock,
    event: choice('created', 'purged'),
    weave_ref: text,
    user_id: text,
    creator: nullableText,
    feedback_type: text,
    annotation_ref: nullableText,
    runnable_ref: nullableText,
    call_ref: nullableText,
    trigger_ref: nullableText,
    queue_id: nullableText,
    scorer_tags: texts,
    scorer_tag_reasons: textMap,
    scorer_rating_reasons: textMap,
    scorer_tag_confidences: numberMap,
    scorer_ratings: numberMap,
    scorer_rating_confidences: numberMap,
    span_agent_name: text,
    span_agent_version: text,
    span_conversation_id: text,
    span_trace_id: text,
    scorer_trace_id: text,
    span_status_code: text,
    payload: json,
    readable_payload: json,
  },
})

/** An item of feedback as it is stored; `payload` is JSON text of an object, as `storedPayload` gives it. */
export type FeedbackRow = Omit<ValuesOf<typeof feedbackTopic>, 'event' | 'readable_payload'>

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

const created = (row: FeedbackRow) => ({ ...row, event: 'created', readable_payload: readable(row.payload) }) as const

const purged = (projectId: string, id: string, clock: bigint) =>
  ({ project_id: projectId, id, clock, event: 'purged' }) as const

/** One record per project: items of one project stay together. */
export const createdRecords = (rows: readonly FeedbackRow[]): RecordInput[] =>
  [...Map.groupBy(rows, (row) => row.project_id).values()].map((own) => recordOfRows(feedbackTopic, own.map(created)))

/** The ids, at least one, are gone for good, unless a later event creates them anew. */
export function purgedRecord(projectId: string, ids: readonly string[], clock: Clock): RecordInput {
  const at = clock.next()
  return recordOfRows(
    feedbackTopic,
    ids.map((id) => purged(projectId, id, at)),
  )
}

/** Both steps of a replacement in one record; `row` must be younger than `purgedAt`. */
export const replacedRecord = (purgedId: string, purgedAt: bigint, row: FeedbackRow): RecordInput =>
  recordOfRows(feedbackTopic, [purged(row.project_id, purgedId, purgedAt), created(row)])
