// Rows of the topic annotation_queues: what every writer of queues, items and progress appends.
import type { ProjectId } from '../core/ids.ts'
import type { RecordInput } from '../core/log/log.ts'
import { quoted } from './objects.ts'
import { projectRecord } from './project-record.ts'

/** One queue of a project, and the accept clock of what happens to it. */
export type QueueEvent = { projectId: ProjectId; queueId: string; clock: bigint; userId: string }

/** What a queue holds and may be changed; an absent value is left as it is. */
export type QueueValues = { name?: string; description?: string; scorerRefs?: readonly string[] }

/** A call as it is when it is added; nothing of it is refreshed later. */
export type QueuedCall = {
  itemId: string
  callId: string
  startedUs: number
  /** 0 while it runs. */
  endedUs: number
  opName: string
  traceId: string
}

/** States that an annotator can move an item to. */
export type ProgressState = 'in_progress' | 'completed' | 'skipped'

/** Lines are gathered into records of about this size. */
const recordBytes = 4 * 2 ** 20

const list = (values: readonly string[]): string => `[${values.map(quoted).join(',')}]`

/** The beginning of a line, columns in the order of topics.ts, defaults left out. */
function head({ projectId, queueId, clock, userId }: QueueEvent, event: string): string {
  const user = userId ? `,"user_id":${quoted(userId)}` : ''
  return `{"project_id":${quoted(projectId)},"queue_id":${quoted(queueId)},"clock":${clock},"event":"${event}"${user}`
}

const record = ({ projectId, clock }: QueueEvent, lines: readonly string[]): RecordInput =>
  projectRecord(projectId, { rows: Buffer.from(lines.join('')), rowCount: lines.length, clock, key: projectId })

/** Names and columns of the values that are given. */
function valuesOf({ name, description, scorerRefs }: QueueValues): { parts: string[]; columns: string } {
  const parts: string[] = []
  let columns = ''
  const add = (part: string, text: string) => {
    parts.push(part)
    columns += `,"${part}":${text}`
  }
  if (name !== undefined) add('name', quoted(name))
  if (description !== undefined) add('description', quoted(description))
  if (scorerRefs !== undefined) add('scorer_refs', list(scorerRefs))
  return { parts, columns }
}

export function queueCreatedRecord(event: QueueEvent, values: Required<QueueValues>): RecordInput {
  const { parts, columns } = valuesOf(values)
  return record(event, [`${head(event, 'created')},"parts":${list(['created', ...parts])}${columns}}\n`])
}

/** Carries only what changes, so updates of different values do not undo each other. */
export function queueUpdatedRecord(event: QueueEvent, values: QueueValues): RecordInput {
  const { parts, columns } = valuesOf(values)
  return record(event, [`${head(event, 'updated')},"parts":${list(parts)}${columns}}\n`])
}

export const queueDeletedRecord = (event: QueueEvent): RecordInput =>
  record(event, [`${head(event, 'deleted')},"parts":["deleted"]}\n`])

/** Calls that join a queue together: they share the time, their ids tell their order. */
export function itemsAddedRecords(
  event: QueueEvent,
  displayFields: readonly string[],
  calls: readonly QueuedCall[],
): RecordInput[] {
  const before = head(event, 'item_added')
  const after = `${displayFields.length > 0 ? `,"display_fields":${list(displayFields)}` : ''}}\n`
  const records: RecordInput[] = []
  let lines: string[] = []
  let length = 0
  for (const { itemId, callId, startedUs, endedUs, opName, traceId } of calls) {
    let line = `${before},"item_id":${quoted(itemId)},"call_id":${quoted(callId)},"call_started_us":${startedUs}`
    if (endedUs !== 0) line += `,"call_ended_us":${endedUs}`
    line += `,"call_op_name":${quoted(opName)},"call_trace_id":${quoted(traceId)}${after}`
    if (length + line.length > recordBytes && lines.length > 0) {
      records.push(record(event, lines))
      lines = []
      length = 0
    }
    lines.push(line)
    length += line.length
  }
  if (lines.length > 0) records.push(record(event, lines))
  return records
}

/** `event.userId` is the annotator whose progress it is. */
export const progressedRecord = (event: QueueEvent, callId: string, state: ProgressState): RecordInput =>
  record(event, [`${head(event, 'progressed')},"call_id":${quoted(callId)},"state":"${state}"}\n`])
