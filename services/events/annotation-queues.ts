// The topic annotation_queues: what every writer of queues, items and progress appends.
import type { ProjectId } from '../core/ids.ts'
import type { RecordInput } from '../core/log/log.ts'
import {
  always,
  choice,
  choices,
  clock,
  declareTopic,
  key,
  number,
  projectRecord,
  type RowOf,
  recordOfRows,
  rowText,
  text,
  texts,
} from './declaration.ts'

export const annotationQueuesTopic = declareTopic({
  name: 'annotation_queues',
  about: 'Annotation queues, the calls that join them, and the progress of annotators.',
  version: 1,
  landing: 'annotation_queues_in',
  columns: {
    project_id: key,
    queue_id: key,
    clock,
    event: choice('created', 'updated', 'deleted', 'item_added', 'progressed'),
    user_id: text,
    parts: always(choices('created', 'name', 'description', 'scorer_refs', 'deleted')),
    name: always(text),
    description: always(text),
    scorer_refs: always(texts),
    item_id: text,
    call_id: text,
    call_started_us: always(number('Int64')),
    call_ended_us: number('Int64'),
    call_op_name: always(text),
    call_trace_id: always(text),
    display_fields: texts,
    state: choice('in_progress', 'completed', 'skipped'),
  },
})

/** One queue of a project, and the accept timestamp of what happens to it. */
export type QueueEvent = { projectId: ProjectId; queueId: string; clock: bigint; userId: string }

/** Properties of a queue that can be changed; an absent value is left as it is. */
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

const eventOf = ({ projectId, queueId, clock, userId }: QueueEvent) => ({
  project_id: projectId,
  queue_id: queueId,
  clock,
  user_id: userId,
})

/** The values that are given, and their names. */
function valuesOf({ name, description, scorerRefs: scorer_refs }: QueueValues) {
  const values = { name, description, scorer_refs }
  const parts = (['name', 'description', 'scorer_refs'] as const).filter((part) => values[part] !== undefined)
  return { ...values, parts }
}

const record = (row: RowOf<typeof annotationQueuesTopic>): RecordInput => recordOfRows(annotationQueuesTopic, [row])

export function queueCreatedRecord(event: QueueEvent, values: Required<QueueValues>): RecordInput {
  const { parts, ...columns } = valuesOf(values)
  return record({ ...eventOf(event), event: 'created', ...columns, parts: ['created', ...parts] })
}

/** Carries only what changes, so updates of different values do not undo each other. */
export const queueUpdatedRecord = (event: QueueEvent, values: QueueValues): RecordInput =>
  record({ ...eventOf(event), event: 'updated', ...valuesOf(values) })

export const queueDeletedRecord = (event: QueueEvent): RecordInput =>
  record({ ...eventOf(event), event: 'deleted', parts: ['deleted'] })

/** Calls that join a queue together: they share the time, their ids tell their order. */
export function itemsAddedRecords(
  event: QueueEvent,
  displayFields: readonly string[],
  calls: readonly QueuedCall[],
): RecordInput[] {
  const shared = { ...eventOf(event), event: 'item_added', display_fields: displayFields } as const
  const records: RecordInput[] = []
  let lines: string[] = []
  let length = 0
  const end = (): void => {
    const rows = Buffer.from(lines.join(''))
    const { projectId, clock } = event
    records.push(projectRecord(projectId, { rows, rowCount: lines.length, clock, key: projectId }))
    lines = []
    length = 0
  }
  for (const call of calls) {
    const line = rowText(annotationQueuesTopic, {
      ...shared,
      item_id: call.itemId,
      call_id: call.callId,
      call_started_us: call.startedUs,
      call_ended_us: call.endedUs,
      call_op_name: call.opName,
      call_trace_id: call.traceId,
    })
    if (length + line.length > recordBytes && lines.length > 0) end()
    lines.push(line)
    length += line.length
  }
  if (lines.length > 0) end()
  return records
}

/** `event.userId` is the annotator whose progress it is. */
export const progressedRecord = (event: QueueEvent, callId: string, state: ProgressState): RecordInput =>
  record({ ...eventOf(event), event: 'progressed', call_id: callId, state })
