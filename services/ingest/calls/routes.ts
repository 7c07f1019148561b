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
import { maxFaults } from '../../../schemas/collections.ts'
import { type ContentStore, noContent } from '../../content/content-port.ts'
import { type AnchorsIn, anchorsIn } from '../../content/masking/anchors.ts'
import { type Maskings, maskingsOfRequest, takesLong } from '../../content/masking/maskings.ts'
import type { Clock } from '../../core/clock/clock.ts'
import { TooLongHere } from '../../core/errors.ts'
import { asFault, type Detail, type Fault, fault, invalid } from '../../core/http/errors.ts'
import { type Reply, type Route, type RouteContext, route } from '../../core/http/route.ts'
import { isCallId, type ProjectId } from '../../core/ids.ts'
import { isObject } from '../../core/json/objects.ts'
import { refuseEarly } from '../../core/log/early-refusal.ts'
import type { EdgeLog, Position, RecordSplit } from '../../core/log/log.ts'
import { formatPositions, positionHeader } from '../../core/log/positions.ts'
import { rowBuffers as pool } from '../../core/memory/buffer-pool.ts'
import { appendCalls, createCallWriter } from '../../events/calls-writer.ts'
import { batchModule, type ReadBatch } from './batch-module.ts'
import { type Item, recordsOf } from './batch-rows.ts'
import { refuseEarlyBatch } from './early-refusal.ts'
import {
  type BatchItem,
  createBodyReader,
  fieldNames,
  type PayloadSlices,
  type ReadSide,
  wholeBody,
} from './envelope.ts'
import {
  detailsOf,
  type Findings,
  faultOf,
  findingsAt,
  type Json,
  misfit,
  optionalText,
  reasonOf,
  refuse,
  requiredText,
} from './field-checks.ts'
import { type CheckContext, checkDisplayName, wireNames } from './fragment-checks.ts'
import {
  type CheckedItem,
  checkBatchItem,
  checkCompleteItem,
  checkEndItem,
  checkStartItem,
  type OpenProject,
  objectAt,
} from './items.ts'
import { takesLongToRedact } from './payload-texts.ts'

export type CallWriteDeps = {
  log: Omit<EdgeLog, 'flush'>
  clock: Clock
  content: ContentStore
  maskings: Maskings
  /** First word of the prefixed fields: `platform` or `wb`. */
  wirePrefix: string
  /** Accept `wb_*` beside the configured spelling. */
  wireAliases: boolean
  /** One partition and records of any size when absent. */
  split?: RecordSplit
  /** Batches in their usual form are read by the WebAssembly module; default: true. */
  edgeWasm?: boolean
  /** Called when a batch was stored in part; gets the refused items, and in `places` the places of the first few. */
  onRefused?(refused: { requestId: string; refused: number; of: number; places: number[] }): void
}

/** Places of refused items that are told of one batch. */
const maxLoggedPlaces = 10

type Context = RouteContext

/** The body as an object; 422 when it is none. */
function bodyObject(input: unknown): Json {
  if (isObject(input)) return input
  throw invalid({ loc: ['body'], msg: 'Input should be a valid object', type: 'dict_type' })
}

/** 422 for a body whose `batch` is no list. */
function noBatch(context: Context): Fault {
  const { batch } = bodyObject(wholeBody(context.body.bytes, context))
  return invalid(
    batch === undefined
      ? { loc: ['body', 'batch'], msg: 'Field required', type: 'missing' }
      : { loc: ['body', 'batch'], msg: 'Input should be a valid list', type: 'list_type' },
  )
}

/** Checks the right on each project once per request. */
function projectsOf(context: Context): OpenProject {
  const known = new Map<string, ProjectId>()
  return (projectId) => {
    const seen = known.get(projectId)
    if (seen !== undefined) return seen
    const opened = context.project(projectId)
    known.set(projectId, opened)
    return opened
  }
}

/** Opens the project of the path and refuses every other. */
function pathProject(context: Context): OpenProject {
  const path = context.project(`${context.params.entity}/${context.params.project}`)
  return (projectId) => {
    if (projectId !== path) throw fault(400, 'project_id differs from the project of the path')
    return path
  }
}

const payloadsOf = (payloads: PayloadSlices | undefined) => (payloads ? Object.values(payloads) : [])

type Sides = { start: PayloadSlices; end: PayloadSlices }

const withPayloads = ({ projectId, id, start, end }: CheckedItem, sides: Sides): Item => ({
  projectId,
  id,
  start: start && { head: start, payloads: sides.start },
  end: end && { head: end, payloads: sides.end },
})

/** JSON text of an id; the common form holds nothing to escape. */
const quoted = (id: string): string => (id.length === 36 ? `"${id}"` : JSON.stringify(id))

const idsText = (id: string, traceId: string): string => `{"id":${quoted(id)},"trace_id":${quoted(traceId)}}`

export function createCallWriteRoutes(deps: CallWriteDeps): Route[] {
  const { log, clock, content, maskings } = deps
  const names = wireNames(deps.wirePrefix, deps.wireAliases)
  const { split = {} } = deps
  const reader = createBodyReader(names)
  const fields = fieldNames(names)
  const module = deps.edgeWasm === false ? () => null : () => batchModule(fields)
  /** Used only for payloads of projects with masking rules. */
  const look: AnchorsIn = (...of) => (module()?.anchors ?? anchorsIn)(...of)
  const checkContext = (): CheckContext => ({ names, nowMs: Date.now() })

  /** Stores extracted content and then the rows; the positions of both. */
  async function write(context: Context, items: Item[]): Promise<Position[]> {
    const { userId } = context.caller
    const bodyBytes = context.body.bytes.length
    const ofRequest = maskingsOfRequest(maskings)
    const isLong = () =>
      items.some(({ projectId }) => takesLong(ofRequest.of(projectId), bodyBytes)) ||
      takesLongToRedact(items.flatMap(({ start, end }) => [start, end].flatMap((side) => payloadsOf(side?.payloads))))
    if (!context.mayTakeLong && isLong()) throw new TooLongHere()
    const extraction = content.begin()
    const rows = { items, userId, clock, split, pool, bodyBytes, maskings: ofRequest, content, look }
    let records = recordsOf({ ...rows, extraction })
    let stored: Position[] = []
    try {
      stored = await extraction.append()
    } catch (error) {
      if (asFault(error) !== undefined) throw error
      // Content that cannot be stored stays inline: a call is never refused for it.
      records = recordsOf({ ...rows, extraction: noContent.begin() })
    }
    return [...stored, ...(await appendCalls(log, records))]
  }

  /** The batch in the module's memory, when it is in its usual form and the caller may write to all of its projects. */
  function readUsual(context: Context, isWhole: boolean, open: OpenProject): ReadBatch | null {
    const batch = module()?.read(context, isWhole, Date.now()) ?? null
    try {
      if (batch === null) return null
      const maskers = new Map(batch.projects.map((project) => [project, maskings.of(open(project))]))
      const bodyBytes = context.body.bytes.length
      if (!context.mayTakeLong && [...maskers.values()].some((masker) => takesLong(masker, bodyBytes))) return null
      return batch.mask((project) => maskers.get(project)) ? batch : null
    } catch (error) {
      if (asFault(error) === undefined) throw error
      return null
    }
  }

  const reply = (jsonText: string, positions: Position[]): Reply => ({
    jsonText,
    headers: positions.length > 0 ? { [positionHeader]: formatPositions(positions) } : {},
  })

  async function start(context: Context, open: OpenProject): Promise<Reply> {
    const found = findingsAt('body')
    const read = reader.single(context.body.bytes, context)
    const from = objectAt(found, bodyObject(read.value), 'start')
    found.loc.push('start')
    const checked = from && checkStartItem(found, from, open, checkContext())
    const wrong = faultOf(found)
    if (wrong !== null || checked === null) throw wrong
    const { id, start: head } = checked
    const positions = await write(context, [withPayloads(checked, read)])
    return reply(idsText(id, head?.traceId ?? ''), positions)
  }

  async function end(context: Context, open: OpenProject): Promise<Reply> {
    const found = findingsAt('body')
    const read = reader.single(context.body.bytes, context)
    const from = objectAt(found, bodyObject(read.value), 'end')
    found.loc.push('end')
    const checked = from && checkEndItem(found, from, open, checkContext())
    const wrong = faultOf(found)
    if (wrong !== null || checked === null) throw wrong
    return reply('{}', await write(context, [withPayloads(checked, read)]))
  }

  async function upsertBatch(context: Context): Promise<Reply> {
    const open = projectsOf(context)
    refuseEarlyBatch(log, open, context.body.bytes)
    const usual = readUsual(context, false, open)
    if (usual !== null) {
      const records = usual.records({ clock, split, pool })
      const text = `{"res":${usual.answer()}}`
      return reply(text, await appendCalls(log, records))
    }
    const batch = reader.upserts(context.body.bytes, context)
    if (batch === null) throw noBatch(context)
    if (batch.length === 0) return reply('{"res":[]}', [])
    const check = checkContext()
    let first: Findings | undefined
    const details: Detail[] = []
    // Only the reason of a faulty item is kept: there may be as many as a body holds.
    const results = batch.map((item, index): CheckedItem | string => {
      const found = findingsAt('body', 'batch', index)
      const checked = checkBatchItem(found, item.value, open, check)
      if (checked !== null) return checked
      first ??= found
      if (details.length < maxFaults) details.push(...found.details)
      return reasonOf(found)
    })
    if (first !== undefined && results.every((result) => typeof result === 'string'))
      throw details.length > 0 ? invalid(details) : faultOf(first)
    const items: Item[] = []
    const answers: string[] = []
    const refused: number[] = []
    results.forEach((result, index) => {
      if (typeof result === 'string') {
        refused.push(index)
        answers.push(`{"error":{"reason":${JSON.stringify(result)}}}`)
        return
      }
      items.push(withPayloads(result, batch[index] as BatchItem))
      answers.push(result.start ? idsText(result.id, result.start.traceId) : '{}')
    })
    if (refused.length > 0)
      deps.onRefused?.({
        requestId: context.requestId,
        refused: refused.length,
        of: batch.length,
        places: refused.slice(0, maxLoggedPlaces),
      })
    return reply(`{"res":[${answers.join(',')}]}`, await write(context, items))
  }

  async function complete(context: Context): Promise<Reply> {
    const open = pathProject(context)
    refuseEarly(log, `${context.params.entity}/${context.params.project}`, context.body.bytes.length)
    const usual = readUsual(context, true, open)
    if (usual !== null) return reply('{}', await appendCalls(log, usual.records({ clock, split, pool })))
    const batch = reader.calls(context.body.bytes, context)
    if (batch === null) throw noBatch(context)
    if (batch.length === 0) return reply('{}', [])
    const check = checkContext()
    const details: Detail[] = []
    const calls: CheckedItem[] = []
    for (const [index, { fields }] of batch.entries()) {
      const found = findingsAt('body', 'batch', index)
      try {
        if (isObject(fields)) calls.push(checkCompleteItem(found, fields, open, check))
        else misfit(found, [], 'dict_type', 'Input should be a valid object')
      } catch (error) {
        const wrong = asFault(error)
        if (wrong === undefined) throw error
        refuse(found, wrong.message)
      }
      details.push(...detailsOf(found))
      if (details.length >= maxFaults) break
    }
    if (details.length > 0) throw invalid(details)
    const items = calls.map((call, index) => {
      const { payloads } = batch[index] as ReadSide
      return withPayloads(call, { start: payloads, end: payloads })
    })
    return reply('{}', await write(context, items))
  }

  async function update(context: Context): Promise<Reply> {
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
    if (!isCallId(id)) return reply('{}', [])
    const masked = maskings.of(projectId)?.text('display_name', displayName).text ?? displayName
    const writer = createCallWriter(split)
    writer.add({ kind: 'name', projectId, id: id.toWellFormed(), clock: clock.next(), displayName: masked })
    return reply('{}', await appendCalls(log, writer.take()))
  }

  const body = <Schema extends z.ZodType>(schema: Schema) => ({ type: 'json', schema, check: 'bytes' }) as const
  const prefix = deps.wirePrefix
  const topics = ['calls', 'objects', 'files']
  const v2 = '/v2/{entity}/{project}'
  return [
    route({
      name: 'calls.start',
      method: 'POST',
      path: '/call/start',
      summary: 'Store the start of a call.',
      body: body(startSchema(prefix)),
      response: callIdsSchema,
      topics,
      handle: (context) => start(context, (id) => context.project(id)),
    }),
    route({
      name: 'calls.end',
      method: 'POST',
      path: '/call/end',
      summary: 'Store the end of a call; it may come before its start.',
      body: body(endSchema(prefix)),
      response: emptySchema,
      topics,
      handle: (context) => end(context, (id) => context.project(id)),
    }),
    route({
      name: 'calls.update',
      method: 'POST',
      path: '/call/update',
      summary: 'Rename a call.',
      body: body(updateSchema),
      response: emptySchema,
      topics: ['calls'],
      handle: update,
    }),
    route({
      name: 'calls.upsert_batch',
      method: 'POST',
      path: '/call/upsert_batch',
      summary: 'Store starts and ends in one request; faulty items are answered at their places.',
      body: body(batchSchema(prefix)),
      response: upsertResponseSchema,
      topics,
      handle: upsertBatch,
    }),
    route({
      name: 'calls.complete',
      method: 'POST',
      path: `${v2}/calls/complete`,
      summary: 'Store finished calls, all or none.',
      body: body(completeBatchSchema(prefix)),
      response: emptySchema,
      topics,
      handle: complete,
    }),
    route({
      name: 'calls.start_in_project',
      method: 'POST',
      path: `${v2}/call/start`,
      summary: 'Store the start of a call of the project in the path.',
      body: body(startSchema(prefix)),
      response: callIdsSchema,
      topics,
      handle: (context) => start(context, pathProject(context)),
    }),
    route({
      name: 'calls.end_in_project',
      method: 'POST',
      path: `${v2}/call/end`,
      summary: 'Store the end of a call of the project in the path.',
      body: body(endSchema(prefix)),
      response: emptySchema,
      topics,
      handle: (context) => end(context, pathProject(context)),
    }),
  ]
}
