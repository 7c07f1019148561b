// The routes that write calls: start, end, update, batches of both, and whole calls.

import type { z } from 'zod'
import {
  batchSchema,
  callIdsSchema,
  completeBatchSchema,
  emptySchema,
  endSchema,
  startSchema,
  updateSchema,
  upsertResponseSchema,
} from '../../../schemas/calls.ts'
import { type Reply, type Route, type RouteContext, route } from '../../core/http/route.ts'
import { isCallId } from '../../core/ids.ts'
import { appendCalls, createCallWriter } from '../../events/calls-writer.ts'
import { completeBatch, upsertBatch } from './batches.ts'
import { wholeBody } from './envelope.ts'
import { faultOf, findingsAt, optionalText, refuse, requiredText } from './field-checks.ts'
import { checkDisplayName } from './fragment-checks.ts'
import { checkEndItem, checkStartItem, type OpenProject, objectAt } from './items.ts'
import { bodyObject, idsText, pathProject } from './requests.ts'
import {
  type CallWriteDeps,
  type CallWrites,
  checkContextOf,
  createCallWrites,
  withPayloads,
  writeItems,
  writtenReply,
} from './write.ts'

const checks = { start: checkStartItem, end: checkEndItem }

/** Stores the start or the end of a call. */
async function writeSide(
  writes: CallWrites,
  context: RouteContext,
  side: keyof typeof checks,
  open: OpenProject,
): Promise<Reply> {
  const found = findingsAt('body')
  const read = writes.reader.single(context.body.bytes, context)
  const from = objectAt(found, bodyObject(read.value), side)
  found.loc.push(side)
  const checked = from && checks[side](found, from, open, checkContextOf(writes))
  const wrong = faultOf(found)
  if (wrong !== null || checked === null) throw wrong
  const { id, start } = checked
  const positions = await writeItems(writes, context, [withPayloads(checked, read)])
  return writtenReply(side === 'start' ? idsText(id, start?.traceId ?? '') : '{}', positions)
}

async function update({ log, clock, maskings, split }: CallWrites, context: RouteContext): Promise<Reply> {
  const from = bodyObject(wholeBody(context.body.bytes, context))
  const found = findingsAt('body')
  const project = requiredText(found, from, 'project_id')
  const id = requiredText(found, from, 'call_id')
  const displayName = optionalText(found, from, 'display_name')
  if (displayName === null) refuse(found, 'One of [display_name] is required for call update')
  else checkDisplayName(found, displayName)
  const wrong = faultOf(found)
  if (wrong !== null || displayName === null) throw wrong
  const projectId = context.project(project)
  // No call can have such an id: the answer is that of an unknown call.
  if (!isCallId(id)) return writtenReply('{}', [])
  const masked = maskings.of(projectId)?.text('display_name', displayName).text ?? displayName
  const writer = createCallWriter(split)
  writer.add({ kind: 'name', projectId, id: id.toWellFormed(), clock: clock.next(), displayName: masked })
  return writtenReply('{}', await appendCalls(log, writer.take()))
}

const anyProject =
  (context: RouteContext): OpenProject =>
  (id) =>
    context.project(id)

const body = <Schema extends z.ZodType>(schema: Schema) => ({ type: 'json', schema, check: 'bytes' }) as const
const topics = ['calls', 'objects', 'files']
const v2 = '/v2/{entity}/{project}'

export function createCallWriteRoutes(deps: CallWriteDeps): Route[] {
  const writes = createCallWrites(deps)
  const prefix = deps.wirePrefix
  return [
    route({
      name: 'calls.start',
      method: 'POST',
      path: '/call/start',
      summary: 'Store the start of a call.',
      body: body(startSchema(prefix)),
      response: callIdsSchema,
      topics,
      handle: (context) => writeSide(writes, context, 'start', anyProject(context)),
    }),
    route({
      name: 'calls.end',
      method: 'POST',
      path: '/call/end',
      summary: 'Store the end of a call; it may come before its start.',
      body: body(endSchema(prefix)),
      response: emptySchema,
      topics,
      handle: (context) => writeSide(writes, context, 'end', anyProject(context)),
    }),
    route({
      name: 'calls.update',
      method: 'POST',
      path: '/call/update',
      summary: 'Rename a call.',
      body: body(updateSchema),
      response: emptySchema,
      topics: ['calls'],
      handle: (context) => update(writes, context),
    }),
    route({
      name: 'calls.upsert_batch',
      method: 'POST',
      path: '/call/upsert_batch',
      summary: 'Store starts and ends in one request; faulty items are answered at their places.',
      body: body(batchSchema(prefix)),
      response: upsertResponseSchema,
      topics,
      handle: (context) => upsertBatch(writes, context),
    }),
    route({
      name: 'calls.complete',
      method: 'POST',
      path: `${v2}/calls/complete`,
      summary: 'Store finished calls, all or none.',
      body: body(completeBatchSchema(prefix)),
      response: emptySchema,
      topics,
      handle: (context) => completeBatch(writes, context),
    }),
    route({
      name: 'calls.start_in_project',
      method: 'POST',
      path: `${v2}/call/start`,
      summary: 'Store the start of a call of the project in the path.',
      body: body(startSchema(prefix)),
      response: callIdsSchema,
      topics,
      handle: (context) => writeSide(writes, context, 'start', pathProject(context)),
    }),
    route({
      name: 'calls.end_in_project',
      method: 'POST',
      path: `${v2}/call/end`,
      summary: 'Store the end of a call of the project in the path.',
      body: body(endSchema(prefix)),
      response: emptySchema,
      topics,
      handle: (context) => writeSide(writes, context, 'end', pathProject(context)),
    }),
  ]
}
