// Batches of starts and ends, whose faulty items are answered at their places, and of whole calls, stored all or none.
import { maxFaults } from '../../../schemas/collections.ts'
import { asFault, type Detail, type Fault, invalid } from '../../core/http/errors.ts'
import type { Reply, RouteContext } from '../../core/http/route.ts'
import { isObject } from '../../core/json/objects.ts'
import { refuseEarly } from '../../core/log/early-refusal.ts'
import type { Item } from './batch-rows.ts'
import { refuseEarlyBatch } from './early-refusal.ts'
import { type BatchItem, type ReadSide, wholeBody } from './envelope.ts'
import { detailsOf, type Findings, faultOf, findingsAt, misfit, reasonOf, refuse } from './field-checks.ts'
import { type CheckedItem, checkBatchItem, checkCompleteItem, type OpenProject } from './items.ts'
import { bodyObject, idsText, openedProjects, pathProject } from './requests.ts'
import {
  type CallWrites,
  checkContextOf,
  readFast,
  withPayloads,
  writeFast,
  writeItems,
  writtenReply,
} from './write.ts'

/** Places of refused items that are told of one batch. */
const maxLoggedPlaces = 10

/** 422 for a body whose `batch` is no list. */
function noBatch(context: RouteContext): Fault {
  const { batch } = bodyObject(wholeBody(context.body.bytes, context))
  return invalid(
    batch === undefined
      ? { loc: ['body', 'batch'], msg: 'Field required', type: 'missing' }
      : { loc: ['body', 'batch'], msg: 'Input should be a valid list', type: 'list_type' },
  )
}

/** The items that are sound, and the reason of each that is not. @throws Fault when none is sound */
function checkItems(writes: CallWrites, batch: readonly BatchItem[], open: OpenProject): (CheckedItem | string)[] {
  const check = checkContextOf(writes)
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
  return results
}

export async function upsertBatch(writes: CallWrites, context: RouteContext): Promise<Reply> {
  const open = openedProjects(context)
  refuseEarlyBatch(writes.log, open, context.body.bytes)
  const fast = readFast(writes, context, false, open)
  if (fast !== null) {
    const text = `{"res":${fast.answer()}}`
    return writtenReply(text, await writeFast(writes, fast))
  }
  const batch = writes.reader.upserts(context.body.bytes, context)
  if (batch === null) throw noBatch(context)
  if (batch.length === 0) return writtenReply('{"res":[]}', [])
  const items: Item[] = []
  const answers: string[] = []
  const refused: number[] = []
  checkItems(writes, batch, open).forEach((result, index) => {
    if (typeof result === 'string') {
      refused.push(index)
      answers.push(`{"error":{"reason":${JSON.stringify(result)}}}`)
      return
    }
    items.push(withPayloads(result, batch[index] as BatchItem))
    answers.push(result.start ? idsText(result.id, result.start.traceId) : '{}')
  })
  if (refused.length > 0)
    writes.onRefused?.({
      requestId: context.requestId,
      refused: refused.length,
      of: batch.length,
      places: refused.slice(0, maxLoggedPlaces),
    })
  return writtenReply(`{"res":[${answers.join(',')}]}`, await writeItems(writes, context, items))
}

/** @throws Fault with what is wrong with the first calls */
function checkCalls(writes: CallWrites, batch: readonly ReadSide[], open: OpenProject): CheckedItem[] {
  const check = checkContextOf(writes)
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
  return calls
}

export async function completeBatch(writes: CallWrites, context: RouteContext): Promise<Reply> {
  const open = pathProject(context)
  refuseEarly(writes.log, `${context.params.entity}/${context.params.project}`, context.body.bytes.length)
  const fast = readFast(writes, context, true, open)
  if (fast !== null) return writtenReply('{}', await writeFast(writes, fast))
  const batch = writes.reader.calls(context.body.bytes, context)
  if (batch === null) throw noBatch(context)
  if (batch.length === 0) return writtenReply('{}', [])
  const items = checkCalls(writes, batch, open).map((call, index) => {
    const { payloads } = batch[index] as ReadSide
    return withPayloads(call, { start: payloads, end: payloads })
  })
  return writtenReply('{}', await writeItems(writes, context, items))
}
