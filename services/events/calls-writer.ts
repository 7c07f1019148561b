// Serializes parts of calls into the rows of log records: the one place that knows how a call's row is written.
import { Buffer } from 'node:buffer'
import { createJsonBuffer, type JsonBuffer } from '../core/json/row-writer.ts'
import type { Log, Position, RecordInput, RecordSplit } from '../core/log/log.ts'
import { type BufferPool, rowBuffers } from '../core/memory/buffer-pool.ts'
import type { CallFragment, callsTopic, EndFields, JsonText, Masking, StartFields, UsageEntry } from './calls.ts'

export type CallWriter = {
  /** Writes one row. Payload texts must be valid JSON without line breaks between tokens. */
  add(part: CallFragment): void
  /** Rows since the last `take`. */
  rowCount(): number
  /** The records to append, one per partition that has rows, more when it would be too large; the writer is empty then. */
  take(): RecordInput[]
}

/** The bytes before a column's value. */
const lead = (name: keyof typeof callsTopic.columns): Uint8Array => Buffer.from(`,"${name}":`)

const prefixes = {
  startedUs: lead('started_us'),
  endedUs: lead('ended_us'),
  payloadUs: lead('payload_us'),
  traceId: lead('trace_id'),
  parentId: lead('parent_id'),
  threadId: lead('thread_id'),
  turnId: lead('turn_id'),
  opName: lead('op_name'),
  displayName: lead('display_name'),
  exception: lead('exception'),
  userId: lead('user_id'),
  runId: lead('run_id'),
  runStep: lead('run_step'),
  runStepEnd: lead('run_step_end'),
  inputRefs: lead('input_refs'),
  outputRefs: lead('output_refs'),
  errorCount: lead('error_count'),
  startBytes: lead('start_bytes'),
  endBytes: lead('end_bytes'),
  attributes: lead('attributes'),
  inputs: lead('inputs'),
  output: lead('output'),
  summary: lead('summary'),
  otelDump: lead('otel_dump'),
  mask: lead('mask'),
  maskHits: lead('mask_hits'),
}

const heads: Record<CallFragment['kind'], Uint8Array> = {
  complete: Buffer.from('{"kind":"complete","project_id":'),
  start: Buffer.from('{"kind":"start","project_id":'),
  end: Buffer.from('{"kind":"end","project_id":'),
  name: Buffer.from('{"kind":"name","project_id":'),
  delete: Buffer.from('{"kind":"delete","project_id":'),
}
const idLead = lead('id')
const clockLead = lead('clock')
const named = Buffer.from(',"named":1')
const odd = Buffer.from(',"odd":1')
const rowEnd = Buffer.from('}\n')
const listStart = Buffer.from('[')
const comma = Buffer.from(',')
const listEnd = Buffer.from(']')

const usageColumns: readonly (readonly [lead: Uint8Array, count: (entry: UsageEntry) => number])[] = [
  [lead('usage_requests'), (entry) => entry.requests],
  [lead('usage_input'), (entry) => entry.input],
  [lead('usage_output'), (entry) => entry.output],
  [lead('usage_total'), (entry) => entry.total],
  [lead('usage_cache_read'), (entry) => entry.cacheRead],
  [lead('usage_cache_write'), (entry) => entry.cacheWrite],
]
const usageModel = lead('usage_model')

/** The bytes before the values of a row of a start, an end or both, in the order in which it is written. */
export const rowLeads: readonly Uint8Array[] = [
  heads.start,
  heads.end,
  heads.complete,
  idLead,
  clockLead,
  prefixes.startedUs,
  prefixes.endedUs,
  prefixes.payloadUs,
  prefixes.traceId,
  prefixes.parentId,
  prefixes.threadId,
  prefixes.turnId,
  prefixes.opName,
  named,
  prefixes.displayName,
  prefixes.exception,
  prefixes.inputRefs,
  prefixes.outputRefs,
  prefixes.errorCount,
  usageModel,
  ...usageColumns.map(([before]) => before),
  prefixes.startBytes,
  prefixes.endBytes,
  prefixes.attributes,
  prefixes.inputs,
  prefixes.output,
  prefixes.summary,
  rowEnd,
]

/** The user as written in the rows of starts. */
export const userColumn = (userId: string): string =>
  userId === '' ? '' : `${Buffer.from(prefixes.userId).toString()}${JSON.stringify(userId.toWellFormed())}`

function textColumn(rows: JsonBuffer, before: Uint8Array, value: string): void {
  if (value === '') return
  rows.fixed(before)
  rows.string(value)
}

function integerColumn(rows: JsonBuffer, before: Uint8Array, value: number): void {
  rows.fixed(before)
  rows.integer(value)
}

const stepColumn = (rows: JsonBuffer, before: Uint8Array, value: number | null): void => {
  if (value !== null && value !== -1) integerColumn(rows, before, value)
}

function listColumn(rows: JsonBuffer, before: Uint8Array, length: number, write: (index: number) => void): void {
  if (length === 0) return
  rows.fixed(before)
  rows.fixed(listStart)
  for (let i = 0; i < length; i++) {
    if (i > 0) rows.fixed(comma)
    write(i)
  }
  rows.fixed(listEnd)
}

const textsColumn = (rows: JsonBuffer, before: Uint8Array, texts: string[]): void =>
  listColumn(rows, before, texts.length, (i) => rows.string(texts[i] as string))

function usageColumnsOf(rows: JsonBuffer, usage: UsageEntry[]): void {
  if (usage.length === 0) return
  listColumn(rows, usageModel, usage.length, (i) => rows.string((usage[i] as UsageEntry).model))
  for (const [before, count] of usageColumns)
    listColumn(rows, before, usage.length, (i) => rows.integer(count(usage[i] as UsageEntry)))
}

function nameColumns(rows: JsonBuffer, displayName: string | null): void {
  if (displayName === null) return
  rows.fixed(named)
  textColumn(rows, prefixes.displayName, displayName)
}

function idColumns(rows: JsonBuffer, part: StartFields): void {
  textColumn(rows, prefixes.traceId, part.traceId)
  textColumn(rows, prefixes.parentId, part.parentId)
  textColumn(rows, prefixes.threadId, part.threadId)
  textColumn(rows, prefixes.turnId, part.turnId)
  textColumn(rows, prefixes.opName, part.opName)
  nameColumns(rows, part.displayName)
}

function runColumns(rows: JsonBuffer, part: StartFields): void {
  textColumn(rows, prefixes.userId, part.userId)
  textColumn(rows, prefixes.runId, part.runId)
  stepColumn(rows, prefixes.runStep, part.runStep)
}

function countColumns(rows: JsonBuffer, part: EndFields): void {
  if (part.errorCount !== 0) integerColumn(rows, prefixes.errorCount, part.errorCount)
  usageColumnsOf(rows, part.usage)
}

const sizeOf = (json: JsonText): number => (typeof json === 'string' ? Buffer.byteLength(json) : json.end - json.start)

const startBytes = (rows: JsonBuffer, part: StartFields): void =>
  integerColumn(rows, prefixes.startBytes, sizeOf(part.attributes) + sizeOf(part.inputs) + sizeOf(part.otelDump))

const endBytes = (rows: JsonBuffer, part: EndFields): void =>
  integerColumn(rows, prefixes.endBytes, sizeOf(part.output) + sizeOf(part.summary))

/** Everything between the clock and the payloads, in the order of the topic's columns. */
function headerColumns(rows: JsonBuffer, part: CallFragment): void {
  switch (part.kind) {
    case 'complete':
      integerColumn(rows, prefixes.startedUs, part.startedUs)
      integerColumn(rows, prefixes.endedUs, part.endedUs)
      idColumns(rows, part)
      textColumn(rows, prefixes.exception, part.exception)
      runColumns(rows, part)
      stepColumn(rows, prefixes.runStepEnd, part.runStepEnd)
      textsColumn(rows, prefixes.inputRefs, part.inputRefs)
      textsColumn(rows, prefixes.outputRefs, part.outputRefs)
      countColumns(rows, part)
      startBytes(rows, part)
      endBytes(rows, part)
      break
    case 'start':
      integerColumn(rows, prefixes.startedUs, part.startedUs)
      idColumns(rows, part)
      runColumns(rows, part)
      textsColumn(rows, prefixes.inputRefs, part.inputRefs)
      startBytes(rows, part)
      break
    case 'end':
      integerColumn(rows, prefixes.endedUs, part.endedUs)
      integerColumn(rows, prefixes.payloadUs, part.payloadUs)
      textColumn(rows, prefixes.exception, part.exception)
      stepColumn(rows, prefixes.runStepEnd, part.runStepEnd)
      textsColumn(rows, prefixes.outputRefs, part.outputRefs)
      countColumns(rows, part)
      endBytes(rows, part)
      break
    case 'name':
      nameColumns(rows, part.displayName)
      break
    case 'delete':
  }
}

const isNested = (first: number | undefined): boolean => first === 123 || first === 91

/** Objects and arrays are written as they are, everything else as a string that holds its JSON text. */
function payload(rows: JsonBuffer, before: Uint8Array, json: JsonText): void {
  if (json === '') return
  rows.fixed(before)
  if (typeof json === 'string') rows.text(isNested(json.charCodeAt(0)) ? json : JSON.stringify(json))
  else if (isNested(json.bytes[json.start])) rows.slice(json.bytes, json.start, json.end)
  else rows.text(JSON.stringify(json.bytes.toString('utf8', json.start, json.end)))
}

function payloads(rows: JsonBuffer, part: CallFragment): void {
  if (part.kind === 'name' || part.kind === 'delete') return
  if (part.odd) rows.fixed(odd)
  if (part.kind !== 'end') {
    payload(rows, prefixes.attributes, part.attributes)
    payload(rows, prefixes.inputs, part.inputs)
  }
  if (part.kind !== 'start') {
    payload(rows, prefixes.output, part.output)
    payload(rows, prefixes.summary, part.summary)
  }
  if (part.kind !== 'end') payload(rows, prefixes.otelDump, part.otelDump)
  if (part.masking !== undefined) maskingColumns(rows, part.masking)
}

const maxHits = 65_535

function maskingColumns(rows: JsonBuffer, { version, hits }: Masking): void {
  if (version !== 0) integerColumn(rows, prefixes.mask, version)
  if (hits !== 0) integerColumn(rows, prefixes.maskHits, Math.min(hits, maxHits))
}

/** FNV-1a of a text behind the one that `hash` stands for. */
function hashOn(hash: number, text: string): number {
  let next = hash
  for (let i = 0; i < text.length; i++) next = Math.imul(next ^ text.charCodeAt(i), 0x01000193)
  return next
}

/** The hash that the hashes of all calls of a project begin with. */
export const projectHash = (projectId: string): number => hashOn(hashOn(0x811c9dc5, projectId), '/')

/** FNV-1a over project and call id: everything about one call goes to one partition. */
export const partitionOfCall = (projectId: string, id: string, partitions: number): number =>
  partitions === 1 ? 0 : (hashOn(projectHash(projectId), id) >>> 0) % partitions

type Pending = {
  rows: JsonBuffer
  rowCount: number
  patchCount: number
  clock: bigint
  /** Bytes by project, but for the last rows of one project. */
  projects: Map<string, number>
  /** Calls that begin here, by project, but for the last ones. */
  begun: Map<string, number>
  lastProject: string
  lastBegun: number
  countedBytes: number
}

/** Counts the last rows of one project; what comes next may be another one's. */
function countProject(pending: Pending, next: string): void {
  const { rows, projects, begun, lastProject, countedBytes } = pending
  const bytes = rows.sizeBytes() - countedBytes
  if (bytes > 0) projects.set(lastProject, (projects.get(lastProject) ?? 0) + bytes)
  if (pending.lastBegun > 0) begun.set(lastProject, (begun.get(lastProject) ?? 0) + pending.lastBegun)
  pending.lastBegun = 0
  pending.countedBytes += bytes
  pending.lastProject = next
}

export const callSplitOf = (log: Pick<Log, 'partitions' | 'limits'>): RecordSplit => ({
  partitions: log.partitions('calls'),
  maxRecordBytes: log.limits.recordBytes,
})

/**
 * @param options.sizeHintBytes expected size of all rows, to save copies
 * @param options.pool where the buffers of the rows come from; the caller gives them back
 * @param options.partitions partitions of the log's topic; a record's `key` is the number of its partition
 * @param options.maxRecordBytes a record ends at half of it, so that the next row fits
 */
export function createCallWriter(
  options: { sizeHintBytes?: number; pool?: BufferPool } & RecordSplit = {},
): CallWriter {
  const partitions = options.partitions ?? 1
  const fullBytes = (options.maxRecordBytes ?? Number.POSITIVE_INFINITY) / 2
  const sizeHint = (options.sizeHintBytes ?? 4096) / partitions
  let byPartition = new Map<number, Pending>()
  let full: [partition: number, Pending][] = []

  function pendingOf(part: CallFragment): Pending {
    const partition = partitionOfCall(part.projectId, part.id, partitions)
    const known = byPartition.get(partition)
    if (known !== undefined && known.rows.sizeBytes() < fullBytes) return known
    if (known !== undefined) full.push([partition, known])
    const pending = {
      rows: createJsonBuffer(sizeHint, options.pool),
      rowCount: 0,
      patchCount: 0,
      clock: 0n,
      projects: new Map<string, number>(),
      begun: new Map<string, number>(),
      lastBegun: 0,
      lastProject: part.projectId,
      countedBytes: 0,
    }
    byPartition.set(partition, pending)
    return pending
  }

  return {
    add(part) {
      const pending = pendingOf(part)
      const { rows } = pending
      if (part.projectId !== pending.lastProject) countProject(pending, part.projectId)
      rows.fixed(heads[part.kind])
      rows.string(part.projectId)
      rows.fixed(idLead)
      rows.string(part.id)
      rows.fixed(clockLead)
      rows.text(String(part.clock))
      headerColumns(rows, part)
      payloads(rows, part)
      rows.fixed(rowEnd)
      pending.rowCount++
      if (part.kind !== 'complete') pending.patchCount++
      if (part.kind === 'complete' || part.kind === 'start') pending.lastBegun++
      if (part.clock > pending.clock) pending.clock = part.clock
    },
    rowCount() {
      let all = 0
      for (const [, { rowCount }] of [...full, ...byPartition]) all += rowCount
      return all
    },
    take() {
      const records = [...full, ...byPartition].map(([partition, pending]) => {
        countProject(pending, '')
        const { rows, rowCount, patchCount, clock, projects, begun } = pending
        return { rows: rows.done(), rowCount, patchCount, clock, projects, begun, key: String(partition) }
      })
      byPartition = new Map()
      full = []
      return records
    },
  }
}

/** Appends the records of a writer; resolves when all of them are durable. Their buffers then go back to the pool. */
export const appendCalls = (log: Pick<Log, 'append'>, records: RecordInput[]): Promise<Position[]> =>
  Promise.all(
    records.map(async (record) => {
      const position = await log.append('calls', [record])
      rowBuffers.give(record.rows)
      return position
    }),
  )
