// Writing feedback: POST /feedback/create, POST /feedback/batch/create and POST /feedback/replace.
import {
  type FeedbackCreate,
  feedbackBatchCreateRequest,
  feedbackBatchCreateResponse,
  feedbackCreateRequest,
  feedbackCreateResponse,
  feedbackReplaceRequest,
} from '../../../schemas/feedback.ts'
import type { Masker } from '../../content/masking/masker.ts'
import { type Maskings, takesLong } from '../../content/masking/maskings.ts'
import { formatRef } from '../../content/refs.ts'
import type { Audit } from '../../core/audit/audit.ts'
import { audited, idsOf } from '../../core/audit/audited.ts'
import type { Clock } from '../../core/clock/clock.ts'
import { formatTimestamp } from '../../core/clock/timestamps.ts'
import { TooLongHere } from '../../core/errors.ts'
import { fault, invalid } from '../../core/http/errors.ts'
import { type Reply, type Route, type RouteContext, route } from '../../core/http/route.ts'
import { type ProjectId, uuidv7 } from '../../core/ids.ts'
import { items, members } from '../../core/json/canonical.ts'
import type { Log, Position, RecordInput } from '../../core/log/log.ts'
import { formatPositions, positionHeader } from '../../core/log/positions.ts'
import { createdRecords, type FeedbackRow, replacedRecord } from '../../events/feedback.ts'
import { createSchemaCheck, type ValueCheck } from './schema-check.ts'
import { type AnnotationTarget, checkFeedback } from './types.ts'
import { payloadOf } from './value.ts'

/** Throws over some items of feedback that are there. */
type ThrowOver = (
  context: Pick<RouteContext, 'caller' | 'signal'>,
  projectId: ProjectId,
  feedbackIds: readonly string[],
) => Promise<void>

export type FeedbackWriteDeps = {
  log: Pick<Log, 'append'>
  clock: Clock
  maskings: Maskings
  config: { wirePrefix: string; feedbackPrefix: string }
  /** JSON Schema that an annotation's value must fit; a fault when the ref names no annotation of the project. */
  annotationSchema(
    context: Pick<RouteContext, 'header' | 'query' | 'signal'>,
    projectId: ProjectId,
    ref: AnnotationTarget,
  ): Promise<unknown>
  /** A fault when the project has no such annotation queue, or it is deleted. */
  checkQueue(
    context: Pick<RouteContext, 'header' | 'query' | 'signal'>,
    projectId: ProjectId,
    queueId: string,
  ): Promise<void>
  /** A fault when one of these items is of somebody else, and the caller may not delete. */
  throwUnlessOwn: ThrowOver
  /** A fault when one of these items is about something that is held. */
  throwIfHeld: ThrowOver
  audit: Pick<Audit, 'begin'>
  /** Has the texts of an item that was replaced removed for good. @returns headers of the answer that name the erasure */
  requestRemoval(
    context: Pick<RouteContext, 'caller'>,
    projectId: ProjectId,
    feedbackId: string,
  ): Promise<Record<string, string>>
}

/** Findings of a request so far: the items of a batch mostly share their schema and their queue. */
type Known = { schemas: Map<string, unknown>; queues: Set<string>; checkValue: ValueCheck }

type Feedback = FeedbackWriteDeps & { nothingChecked(): Known }

type Sent = { item: FeedbackCreate; payloadText: string }
/** An item that passed every check. */
type Accepted = { item: FeedbackCreate; projectId: ProjectId; payload: string }

/** The payload's own text in an item's. */
function payloadText(itemText: string): string {
  const text = members(itemText)?.get('payload')
  if (text === undefined) throw invalid({ loc: ['body', 'payload'], msg: 'Field required', type: 'missing' })
  return text
}

/** Masks the reasons that scorers write in their own words. */
function maskedReasons(masker: Masker, item: FeedbackCreate): Partial<FeedbackCreate> {
  const masked = <Reasons>(reasons: Reasons): Reasons =>
    reasons === undefined ? reasons : (JSON.parse(masker.json('feedback', JSON.stringify(reasons)).text) as Reasons)
  return {
    scorer_tag_reasons: masked(item.scorer_tag_reasons),
    scorer_rating_reasons: masked(item.scorer_rating_reasons),
  }
}

const microseconds = ({ clock }: FeedbackRow): number => Number(clock / 1024n)

/** Checks that the value fits the schema of its annotation. @throws Fault */
async function checkAnnotation(
  deps: Feedback,
  context: RouteContext,
  projectId: ProjectId,
  annotation: AnnotationTarget,
  item: FeedbackCreate,
  { schemas, checkValue }: Known,
): Promise<void> {
  if (`${annotation.entity}/${annotation.project}` !== projectId)
    throw fault(400, 'annotation_ref must be in the project of the request')
  const ref = formatRef(annotation)
  if (!schemas.has(ref)) schemas.set(ref, await deps.annotationSchema(context, projectId, annotation))
  await checkValue(schemas.get(ref), item.payload.value)
}

/** Checks an item, and masks what has to be. @throws Fault */
async function accept(
  deps: Feedback,
  context: RouteContext,
  { item, payloadText }: Sent,
  known = deps.nothingChecked(),
): Promise<Accepted> {
  const projectId = context.project(item.project_id)
  const masker = deps.maskings.of(projectId)
  if (!context.mayTakeLong && takesLong(masker, context.body.bytes.length)) throw new TooLongHere()
  const { kind, annotation } = checkFeedback(item, deps.config.feedbackPrefix)
  const payload = payloadOf(payloadText, kind === 'reaction' ? (item.payload.emoji as string) : null)
  if (annotation) await checkAnnotation(deps, context, projectId, annotation, item, known)
  const queue = item.queue_id && `${projectId}/${item.queue_id}`
  if (item.queue_id && queue && !known.queues.has(queue)) {
    await deps.checkQueue(context, projectId, item.queue_id)
    known.queues.add(queue)
  }
  if (masker === undefined) return { item, projectId, payload }
  const kept = { ...item, ...maskedReasons(masker, item) }
  // The others are a word of the interface, with the name of an object.
  if (kind === 'other') kept.feedback_type = masker.text('feedback', item.feedback_type).text
  return { item: kept, projectId, payload: masker.json('feedback', payload).text }
}

const rowOf = ({ item, projectId, payload }: Accepted, userId: string, clock: bigint): FeedbackRow => ({
  project_id: projectId,
  id: item.id || uuidv7(),
  clock,
  weave_ref: item.weave_ref,
  user_id: userId,
  creator: item.creator ?? null,
  feedback_type: item.feedback_type,
  annotation_ref: item.annotation_ref ?? null,
  runnable_ref: item.runnable_ref ?? null,
  call_ref: item.call_ref ?? null,
  trigger_ref: item.trigger_ref ?? null,
  queue_id: item.queue_id ?? null,
  scorer_tags: item.scorer_tags,
  scorer_tag_reasons: item.scorer_tag_reasons,
  scorer_rating_reasons: item.scorer_rating_reasons,
  scorer_tag_confidences: item.scorer_tag_confidences,
  scorer_ratings: item.scorer_ratings,
  scorer_rating_confidences: item.scorer_rating_confidences,
  span_agent_name: item.span_agent_name,
  span_agent_version: item.span_agent_version,
  span_conversation_id: item.span_conversation_id,
  span_trace_id: item.span_trace_id,
  scorer_trace_id: item.scorer_trace_id,
  span_status_code: item.span_status_code,
  payload,
})

function answerOf({ config }: Feedback, row: FeedbackRow): string {
  const head = JSON.stringify({
    id: row.id,
    created_at: formatTimestamp(microseconds(row)),
    [`${config.wirePrefix}_user_id`]: row.user_id,
  })
  return `${head.slice(0, -1)},"payload":${row.payload}}`
}

async function append({ log }: Feedback, records: RecordInput[], jsonText: string): Promise<Reply> {
  const position: Position = await log.append('feedback', records)
  return { jsonText, headers: { [positionHeader]: formatPositions([position]) } }
}

const createRoute = (deps: Feedback): Route =>
  route({
    name: 'feedback.create',
    method: 'POST',
    path: '/feedback/create',
    summary: 'Stores an item of feedback',
    body: { type: 'json', schema: feedbackCreateRequest, check: 'schema' },
    response: feedbackCreateResponse,
    topics: ['feedback'],
    tables: ['objects', 'object_events', 'annotation_queues'],
    async handle(context) {
      const { input, body, caller } = context
      const sent = { item: input, payloadText: payloadText(body.bytes.toString()) }
      const row = rowOf(await accept(deps, context, sent), caller.userId, deps.clock.next())
      return append(deps, createdRecords([row]), answerOf(deps, row))
    },
  })

const batchCreateRoute = (deps: Feedback): Route =>
  route({
    name: 'feedback.batch_create',
    method: 'POST',
    path: '/feedback/batch/create',
    summary: 'Stores several items of feedback, or none when one is refused',
    body: { type: 'json', schema: feedbackBatchCreateRequest, check: 'schema' },
    response: feedbackBatchCreateResponse,
    topics: ['feedback'],
    tables: ['objects', 'object_events', 'annotation_queues'],
    async handle(context) {
      const { input, body, caller } = context
      const texts = items(members(body.bytes.toString())?.get('batch') ?? '[]') ?? []
      const accepted: Accepted[] = []
      const known = deps.nothingChecked()
      for (const [n, item] of input.batch.entries())
        accepted.push(await accept(deps, context, { item, payloadText: payloadText(texts[n] ?? '') }, known))
      if (accepted.length === 0) return { json: { res: [] } }
      const rows = accepted.map((one) => rowOf(one, caller.userId, deps.clock.next()))
      return append(deps, createdRecords(rows), `{"res":[${rows.map((row) => answerOf(deps, row)).join(',')}]}`)
    },
  })

const replaceRoute = (deps: Feedback): Route =>
  route({
    name: 'feedback.replace',
    method: 'POST',
    path: '/feedback/replace',
    summary: 'Purges an item of feedback and stores another in its place',
    body: { type: 'json', schema: feedbackReplaceRequest, check: 'schema' },
    response: feedbackCreateResponse,
    topics: ['feedback', 'erasures'],
    tables: ['objects', 'object_events', 'annotation_queues', 'feedback', 'calls', 'call_keys', 'call_patches'],
    async handle(context) {
      const { input, body, caller } = context
      const sent = { item: input, payloadText: payloadText(body.bytes.toString()) }
      const accepted = await accept(deps, context, sent)
      const { projectId } = accepted
      const { feedback_id: replaced } = input
      await deps.throwUnlessOwn(context, projectId, [replaced])
      await deps.throwIfHeld(context, projectId, [replaced])
      const purgedAt = deps.clock.next()
      const row = rowOf(accepted, caller.userId, deps.clock.next())
      const event = { action: 'feedback.purged', scope: projectId, details: { feedback_ids: idsOf([replaced]) } }
      const reply = await audited(deps.audit, [event], () =>
        append(deps, [replacedRecord(replaced, purgedAt, row)], answerOf(deps, row)),
      )
      const removal = await deps.requestRemoval(context, projectId, replaced)
      return { ...reply, headers: { ...reply.headers, ...removal } }
    },
  })

export function createFeedbackWriteRoutes(deps: FeedbackWriteDeps): Route[] {
  const newCheck = createSchemaCheck()
  const nothingChecked = (): Known => ({ schemas: new Map(), queues: new Set(), checkValue: newCheck() })
  const feedback: Feedback = { ...deps, nothingChecked }
  return [createRoute(feedback), batchCreateRoute(feedback), replaceRoute(feedback)]
}
