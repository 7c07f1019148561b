// Writes call records: columns of the header as JSON, payload texts as the bytes that are stored.
import { formatTimestamp } from '../../core/clock/timestamps.ts'
import { concat, lineBuffers, type Piece } from '../../core/memory/buffer-pool.ts'
import { latencyMs } from './conditions/fields.ts'
import type { Document } from './conditions/types.ts'
import type { CostsOfCall } from './costs.ts'
import type { CallHeader } from './header.ts'
import { mayHoldKey, membersOf, membersText } from './json-members.ts'
import type { CallDocuments } from './payloads.ts'

/** The columns of a record: `null` = all. Names are neutral (`user_id`, not `<p>_user_id`). */
export type RecordShape = {
  projectId: string
  prefix: string
  columns: ReadonlySet<string> | null
  storageSize: boolean
  /** Whether to add the user's name, which is the user id: keys are issued to names. */
  usernames: boolean
  /** Sizes of whole traces by trace id; null = not requested. */
  totalSizes: ReadonlyMap<string, number> | null
  /** Costs by model, in place of what the client stored there; null = not requested. */
  costs: CostsOfCall | null
  /** Payloads of calls that began before it are not kept; 0 = all are. */
  payloadsFromUs: number
  /** JSON arrays of feedback by call id; null = not requested. */
  feedback: ReadonlyMap<string, string> | null
  /** Roots were asked for: one that has a parent stands for a root that never came. */
  areRoots: boolean
}

const quoted = (text: string): string => JSON.stringify(text)
const orNull = (text: string): string => (text === '' ? 'null' : JSON.stringify(text))

const nameOfOp = /^weave:\/\/\/[^/]+\/[^/]+\/op\/([^/:]+):/
/** The name of an op without its project and version. */
export const plainName = (opName: string): string => nameOfOp.exec(opName)?.[1] ?? opName

function statusOf(hasEnd: 0 | 1, exception: string, errorCount: number): string {
  if (exception !== '') return 'error'
  if (!hasEnd) return 'running'
  return errorCount > 0 ? 'descendant_error' : 'success'
}

/** Members of `summary.weave` that are derived on every read. */
const derived: ReadonlySet<string> = new Set(['status', 'trace_name', 'latency_ms', 'display_name'])
/** Members that are the server's when they are requested. */
const derivedAlso = {
  costs: new Set([...derived, 'costs']),
  feedback: new Set([...derived, 'feedback']),
  both: new Set([...derived, 'costs', 'feedback']),
}
const weaveKey: ReadonlySet<string> = new Set(['weave'])
const spanKey: ReadonlySet<string> = new Set(['otel_span'])

function weaveMembers(row: CallHeader): string {
  const { opName, startedUs, displayName, endedUs, exception, errorCount, hasEnd } = row
  const status = `"status":"${statusOf(hasEnd, exception, errorCount)}"`
  const latency = hasEnd ? `,"latency_ms":${latencyMs(startedUs, endedUs)}` : ''
  const name =
    displayName === '' ? `,"trace_name":${quoted(plainName(opName))}` : `,"display_name":${quoted(displayName)}`
  return `${status}${latency}${name}`
}

const joinMembers = (a: string, b: string): string => (a === '' || b === '' ? a + b : `${a},${b}`)

/** The text of an object without its closing brace, followed by a comma if it has members. */
function opened(text: Buffer): Buffer | null {
  let end = text.length - 1
  while (end > 0 && text[end] !== 0x7d) end--
  return end <= 0 ? null : text.subarray(0, end)
}

const isEmptyObject = (openedText: Buffer): boolean => openedText.toString('latin1').trim() === '{'

/** Members of the stored `weave` that are not passed on. */
function replacedBy({ costs, feedback }: RecordShape): ReadonlySet<string> {
  if (costs) return feedback ? derivedAlso.both : derivedAlso.costs
  return feedback ? derivedAlso.feedback : derived
}

/** The summary: as stored, with `weave` derived from the row. */
function writeSummary(shape: RecordShape, row: CallHeader, payload: CallDocuments, out: Piece[]): void {
  const stored = payload.summary
  const { costs: costsOf, feedback: feedbackOf } = shape
  const costs = costsOf ? costsOf(payload, row.startedUs) : null
  const feedback = feedbackOf && (feedbackOf.get(row.id) ?? '[]')
  const own =
    weaveMembers(row) +
    (row.startedUs < shape.payloadsFromUs ? ',"payloads_expired":true' : '') +
    (costs === null ? '' : `,"costs":${costs}`) +
    (feedback === null ? '' : `,"feedback":${feedback}`)
  const head = stored && opened(stored)
  if (!stored || !head) {
    out.push(`{"weave":{${own}}}`)
    return
  }
  const members = mayHoldKey(stored, 'weave') ? membersOf(stored) : null
  const client = members?.findLast((member) => member.key === 'weave')
  if (members && client) {
    const value = stored.subarray(client.valueStart, client.end)
    const kept = membersOf(value)
    const weave = joinMembers(kept ? membersText(value, kept, replacedBy(shape)) : '', own)
    out.push(`{${joinMembers(membersText(stored, members, weaveKey), `"weave":{${weave}}`)}}`)
    return
  }
  out.push(head, `${isEmptyObject(head) ? '' : ','}"weave":{${own}}}`)
}

/** The attributes: as stored, with the raw span of an OpenTelemetry call as `otel_span`. */
function writeAttributes(stored: Buffer | undefined, span: Buffer | undefined, out: Piece[]): void {
  if (!span) {
    out.push(stored ?? '{}')
    return
  }
  const members = stored && mayHoldKey(stored, 'otel_span') ? membersOf(stored) : null
  if (stored && members?.some((member) => member.key === 'otel_span')) {
    out.push(`{${joinMembers(membersText(stored, members, spanKey), '"otel_span":')}`, span, '}')
    return
  }
  const head = stored && opened(stored)
  if (head) out.push(head, `${isEmptyObject(head) ? '' : ','}"otel_span":`, span, '}')
  else out.push('{"otel_span":', span, '}')
}

/**
 * The rules that masked the payload, and how many values they hit; of a start and an end that came apart the older
 * ones.
 */
function maskingText({ mask_start: start, mask_end: end }: CallDocuments): string {
  const [one, other] = [start, end].map((text) => String(text ?? '').split(' '))
  const parts = [one, other].filter((part, n) => part && part.length === 3 && (n === 0 || part[2] !== one?.[2]))
  const numbers = (at: number): number[] => parts.map((part) => Number(part?.[at]))
  const version = parts.length === 0 ? 0 : Math.min(...numbers(0))
  return `{"version":${version},"hits":${numbers(1).reduce((sum, hits) => sum + hits, 0)}}`
}

/** One record: pieces of a JSON object, to be written one after the other. */
export function writeRecord(shape: RecordShape, row: CallHeader, payload: CallDocuments, out: Piece[]): void {
  const { columns, prefix } = shape
  const shows = (name: string): boolean => columns === null || columns.has(name)
  const { traceId, displayName, exception, hasEnd, parentId, userId } = row
  const summaryShown = shows('summary')
  const also = (name: string): boolean => summaryShown || shows(name)
  const username = shape.usernames && userId !== '' ? `"${prefix}_username":${quoted(userId)},` : ''
  const isOrphan = shape.areRoots && parentId !== ''
  const total = shape.totalSizes && (isOrphan || parentId === '') ? (shape.totalSizes.get(traceId) ?? 0) : 'null'
  out.push(
    `{"id":${quoted(row.id)},"project_id":${quoted(shape.projectId)},"op_name":${quoted(row.opName)},` +
      `"display_name":${also('display_name') ? orNull(displayName) : 'null'},"trace_id":${quoted(traceId)},` +
      `"parent_id":${shows('parent_id') ? orNull(parentId) : 'null'},` +
      `"thread_id":${orNull(row.threadId)},"turn_id":${orNull(row.turnId)},` +
      `"started_at":"${formatTimestamp(row.startedUs)}",` +
      `"ended_at":${hasEnd && also('ended_at') ? `"${formatTimestamp(row.endedUs)}"` : 'null'},` +
      `"exception":${also('exception') ? orNull(exception) : 'null'},` +
      `"${prefix}_user_id":${orNull(userId)},${username}"${prefix}_run_id":${orNull(row.runId)},` +
      `"${prefix}_run_step":${row.runStep || 'null'},"${prefix}_run_step_end":${row.runStepEnd || 'null'},` +
      `"deleted_at":null,"expire_at":null,"storage_size_bytes":${shape.storageSize ? row.bytes : 'null'},` +
      `"total_storage_size_bytes":${total},"attributes":`,
  )
  writeAttributes(payload.attributes, payload.otel_dump, out)
  out.push(',"inputs":', payload.inputs ?? '{}', ',"output":', payload.output ?? 'null', ',"summary":')
  writeSummary(shape, row, payload, out)
  if (isOrphan) out.push(',"is_orphan":true')
  if (columns?.has('masking')) out.push(`,"masking":${maskingText(payload)}`)
  out.push('}')
}

/** Documents that have to be read for the columns of a record. */
export function documentsForColumns(columns: ReadonlySet<string> | null): Document[] {
  const shows = (name: string): boolean => columns === null || columns.has(name)
  const documents: Document[] = []
  if (shows('attributes')) documents.push('attributes', 'otel_dump')
  for (const name of ['inputs', 'output', 'summary'] as const) if (shows(name)) documents.push(name)
  // Masking is shown only when the request names it.
  if (columns?.has('masking')) documents.push('mask_start', 'mask_end')
  return documents
}

/** JSON Lines of some calls in one buffer. */
export function writeLines(
  shape: RecordShape,
  rows: readonly CallHeader[],
  payloads: readonly CallDocuments[],
): Buffer {
  const pieces: Piece[] = []
  for (const [n, row] of rows.entries()) {
    writeRecord(shape, row, payloads[n] as CallDocuments, pieces)
    pieces.push('\n')
  }
  return concat(pieces, lineBuffers.take)
}
