// Turns the checked items of one request into log records: a start and an end of one call become one finished row.

import type { ContentStore, Extraction } from '../../content/content-port.ts'
import type { Slice } from '../../content/json-scan.ts'
import { hitsOf, withMaskedHead } from '../../content/masking/mask-call.ts'
import { type Maskings, maskedExtraction } from '../../content/masking/maskings.ts'
import type { Clock } from '../../core/clock/clock.ts'
import type { RecordInput, RecordSplit } from '../../core/log/log.ts'
import type { BufferPool } from '../../core/memory/buffer-pool.ts'
import type { CallFragment } from '../../events/calls.ts'
import { createCallWriter } from '../../events/calls-writer.ts'
import type { PayloadSlices } from './envelope.ts'
import type { EndHead, StartHead } from './fragment-checks.ts'
import {
  attributesPayload,
  inputsPayload,
  otelDumpPayload,
  outputPayload,
  type PayloadOwner,
  type PayloadRules,
  type PayloadText,
  payloadText,
  summaryPayload,
} from './payload-texts.ts'
import { coerceSummary } from './summary-check.ts'

/** A start or an end with its payloads; a whole call has both, with the same payloads. */
export type Item = {
  projectId: string
  id: string
  start: { head: StartHead; payloads: PayloadSlices } | null
  end: { head: EndHead; payloads: PayloadSlices } | null
}

/** The parts of one call in a request. */
type Group = { projectId: string; items: Item[]; done: boolean }

/** Finds the group of each item. Ids alone are cheap keys; the same id in a second project has its own map. */
function groupsOf(items: Item[]): Group[] {
  const byId = new Map<string, Group>()
  const elsewhere = new Map<string, Group>()
  return items.map((item) => {
    const { projectId, id } = item
    let group = byId.get(id)
    if (group === undefined) {
      group = { projectId, items: [], done: false }
      byId.set(id, group)
    } else if (group.projectId !== projectId) {
      const key = `${projectId}/${id}`
      group = elsewhere.get(key) ?? { projectId, items: [], done: false }
      elsewhere.set(key, group)
    }
    group.items.push(item)
    return group
  })
}

/**
 * The rows to write, in list order. A start and an end become one row when the request holds exactly one of each for
 * the call; everything else stays apart and is merged by clock.
 */
function pair(items: Item[]): Item[] {
  if (items.length < 2) return items
  const groups = groupsOf(items)
  const rows: Item[] = []
  for (let i = 0; i < items.length; i++) {
    const item = items[i] as Item
    const group = groups[i] as Group
    const [one, other] = group.items as [Item, Item]
    if (group.items.length !== 2 || !one.start === !other.start || !one.end === !other.end) rows.push(item)
    else if (!group.done) {
      group.done = true
      const { projectId, id } = item
      rows.push({ projectId, id, start: one.start ?? other.start, end: one.end ?? other.end })
    }
  }
  return rows
}

const nullText: PayloadText = { json: 'null', refs: [], odd: false }
const noText: PayloadText = { json: '', refs: [], odd: false }

const textOf = (slice: Slice | null, rules: PayloadRules, owner: PayloadOwner, absent: PayloadText): PayloadText =>
  slice === null ? absent : payloadText(slice, rules, owner)

type StartTexts = { attributes: PayloadText; inputs: PayloadText; otelDump: PayloadText }
type EndTexts = { output: PayloadText; summary: PayloadText }

const startTexts = ({ head, payloads }: NonNullable<Item['start']>, owner: PayloadOwner): StartTexts => ({
  attributes: textOf(payloads.attributes, attributesPayload, owner, noText),
  inputs: textOf(payloads.inputs, inputsPayload, owner, noText),
  otelDump: head.hasOtelDump ? textOf(payloads.otelDump, otelDumpPayload, owner, noText) : noText,
})

function endTexts({ head, payloads }: NonNullable<Item['end']>, owner: PayloadOwner): EndTexts {
  const output = textOf(payloads.output, outputPayload, owner, nullText)
  const summary = textOf(payloads.summary, summaryPayload, owner, noText)
  if (!head.summaryCoerced) return { output, summary }
  const { json } = summary
  const text = typeof json === 'string' ? json : json.bytes.toString('utf8', json.start, json.end)
  return { output, summary: { ...summary, json: coerceSummary(text) } }
}

/** The part of a call that an item brings; written out because spreading objects is slow here. */
function fragmentOf({ projectId, id, start, end }: Item, clock: bigint, owner: PayloadOwner): CallFragment {
  const s = start?.head
  const e = end?.head
  const st = start && startTexts(start, owner)
  const et = end && endTexts(end, owner)
  if (s && st) {
    const odd = st.attributes.odd || st.inputs.odd || st.otelDump.odd
    const { startedUs, traceId, parentId, threadId, turnId, opName, displayName, runId, runStep } = s
    const { userId } = owner
    const inputRefs = st.inputs.refs
    const attributes = st.attributes.json
    const inputs = st.inputs.json
    const otelDump = st.otelDump.json
    if (!e || !et)
      return {
        kind: 'start',
        projectId,
        id,
        clock,
        odd,
        startedUs,
        traceId,
        parentId,
        threadId,
        turnId,
        opName,
        displayName,
        userId,
        runId,
        runStep,
        inputRefs,
        attributes,
        inputs,
        otelDump,
      }
    return {
      kind: 'complete',
      projectId,
      id,
      clock,
      odd: odd || et.output.odd || et.summary.odd,
      startedUs,
      traceId,
      parentId,
      threadId,
      turnId,
      opName,
      displayName,
      userId,
      runId,
      runStep,
      inputRefs,
      attributes,
      inputs,
      otelDump,
      endedUs: e.endedUs,
      exception: e.exception,
      runStepEnd: e.runStepEnd,
      outputRefs: et.output.refs,
      errorCount: e.errorCount,
      usage: e.usage,
      output: et.output.json,
      summary: et.summary.json,
    }
  }
  if (!e || !et) throw new Error('an item without start and end')
  return {
    kind: 'end',
    projectId,
    id,
    clock,
    odd: et.output.odd || et.summary.odd,
    payloadUs: e.payloadUs,
    endedUs: e.endedUs,
    exception: e.exception,
    runStepEnd: e.runStepEnd,
    outputRefs: et.output.refs,
    errorCount: e.errorCount,
    usage: e.usage,
    output: et.output.json,
    summary: et.summary.json,
  }
}

export type RowsInput = {
  maskings: Maskings
  content: ContentStore
  items: Item[]
  userId: string
  clock: Clock
  extraction: Extraction
  split: RecordSplit
  pool: BufferPool
  /** Size of the request, from which the size of the rows is guessed. */
  bodyBytes: number
}

/** Log records of the items; each row takes the next value of the clock, in list order. */
export function recordsOf({ items, userId, clock, split, pool, bodyBytes, ...by }: RowsInput): RecordInput[] {
  const parts = pair(items)
  const writer = createCallWriter({ sizeHintBytes: bodyBytes + 512 * parts.length, ...split, pool })
  for (const part of parts) {
    const { projectId } = part
    const masker = by.maskings.of(projectId)
    const extraction = maskedExtraction(masker, by.extraction, by.content)
    const owner: PayloadOwner = { projectId, userId, extraction, masker }
    const before = hitsOf(masker)
    const fragment = fragmentOf(part, clock.next(), owner)
    writer.add(masker === undefined ? fragment : withMaskedHead(masker, fragment, before))
  }
  return writer.take()
}
