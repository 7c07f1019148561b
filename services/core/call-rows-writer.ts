// Serializes parts of calls into the rows of log records: the one place that knows how a call's row is written.
import { Buffer } from 'node:buffer'
import type { CallPart, EndFields, JsonText, StartFields, UsageEntry } from './call-rows.ts'
import type { Log, Position, RecordInput } from './log/log.ts'

export type CallWriter = {
  /** Writes one row. Payload texts must be valid JSON without line breaks between tokens. */
  add(part: CallPart): void
  /** Rows since the last `take`. */
  rowCount(): number
  /** The records to append, one per partition that has rows; the writer is empty afterwards. */
  take(): RecordInput[]
}

const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/

/** JSON text of a string; lone surrogates become U+FFFD. */
const quote = (text: string): string => (plain.test(text) ? `"${text}"` : JSON.stringify(text.toWellFormed()))

const texts = (list: string[]): string => `[${list.map(quote).join(',')}]`

const int64Max = 2n ** 63n - 1n

/** Digits of an Int64; what lies outside is cut to the nearest one. */
function int64(value: number): string {
  if (Number.isSafeInteger(value)) return String(value)
  const exact = BigInt(Math.trunc(value))
  return String(exact > int64Max ? int64Max : exact < -int64Max ? -int64Max : exact)
}

/** A text column; `lead` is everything before the value's quote. The empty text is left out. */
function column(lead: string, value: string): string {
  if (value === '') return ''
  return plain.test(value) ? `${lead}"${value}"` : lead + JSON.stringify(value.toWellFormed())
}
const step = (lead: string, value: number | null): string => (value === null || value === -1 ? '' : lead + int64(value))

function counts(lead: string, entries: UsageEntry[], of: (entry: UsageEntry) => number): string {
  let list = ''
  for (const entry of entries) list += list === '' ? int64(of(entry)) : `,${int64(of(entry))}`
  return `${lead}[${list}]`
}

const usage = (entries: UsageEntry[]): string =>
  entries.length === 0
    ? ''
    : `,"usage_model":${texts(entries.map((entry) => entry.model))}` +
      counts(',"usage_requests":', entries, (entry) => entry.requests) +
      counts(',"usage_input":', entries, (entry) => entry.input) +
      counts(',"usage_output":', entries, (entry) => entry.output) +
      counts(',"usage_total":', entries, (entry) => entry.total) +
      counts(',"usage_cache_read":', entries, (entry) => entry.cacheRead) +
      counts(',"usage_cache_write":', entries, (entry) => entry.cacheWrite)

const sizeOf = (json: JsonText): number => (typeof json === 'string' ? Buffer.byteLength(json) : json.end - json.start)

const isNested = (first: number | undefined): boolean => first === 123 || first === 91

/** What stands before the value of each payload column. */
const leads = {
  attributes: Buffer.from(',"attributes":'),
  inputs: Buffer.from(',"inputs":'),
  output: Buffer.from(',"output":'),
  summary: Buffer.from(',"summary":'),
  otelDump: Buffer.from(',"otel_dump":'),
}

/** A buffer that grows; its bytes are handed out and never written again. */
function createRows(sizeHint: number) {
  let buffer = Buffer.allocUnsafeSlow(Math.max(1024, sizeHint))
  let at = 0
  const reserve = (bytes: number): void => {
    if (at + bytes <= buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(buffer.length * 2, at + bytes))
    buffer.copy(larger, 0, 0, at)
    buffer = larger
  }
  return {
    rowCount: 0,
    patchCount: 0,
    clock: 0n,
    text(text: string): void {
      reserve(text.length * 3)
      at += buffer.write(text, at)
    },
    bytes(source: Buffer, start: number, end: number): void {
      reserve(end - start)
      // Buffer.copy does the same at twice the cost.
      buffer.set(new Uint8Array(source.buffer, source.byteOffset + start, end - start), at)
      at += end - start
    },
    lead(source: Buffer): void {
      reserve(source.length)
      for (let i = 0; i < source.length; i++) buffer[at++] = source[i] as number
    },
    done: (): Buffer => buffer.subarray(0, at),
  }
}

type Rows = ReturnType<typeof createRows>

function writePayload(rows: Rows, lead: Buffer, json: JsonText): void {
  if (json === '') return
  rows.lead(lead)
  if (typeof json === 'string') {
    rows.text(isNested(json.charCodeAt(0)) ? json : JSON.stringify(json))
  } else if (isNested(json.bytes[json.start])) {
    rows.bytes(json.bytes, json.start, json.end)
  } else {
    rows.text(JSON.stringify(json.bytes.toString('utf8', json.start, json.end)))
  }
}

const idColumns = (part: StartFields): string =>
  column(',"trace_id":', part.traceId) +
  column(',"parent_id":', part.parentId) +
  column(',"thread_id":', part.threadId) +
  column(',"turn_id":', part.turnId) +
  column(',"op_name":', part.opName) +
  (part.displayName === null ? '' : `,"named":1${column(',"display_name":', part.displayName)}`)

const runColumns = (part: StartFields): string =>
  column(',"user_id":', part.userId) + column(',"run_id":', part.runId) + step(',"run_step":', part.runStep)

const refs = (lead: string, list: string[]): string => (list.length === 0 ? '' : lead + texts(list))

const countColumns = (part: EndFields): string =>
  (part.errorCount === 0 ? '' : `,"error_count":${part.errorCount}`) + usage(part.usage)

const startBytes = (part: StartFields): string =>
  `,"start_bytes":${sizeOf(part.attributes) + sizeOf(part.inputs) + sizeOf(part.otelDump)}`

const endBytes = (part: EndFields): string => `,"end_bytes":${sizeOf(part.output) + sizeOf(part.summary)}`

/** Everything between the clock and the payloads, in the order of the topic's columns. */
function lightColumns(part: CallPart): string {
  switch (part.kind) {
    case 'complete':
      return (
        `,"started_us":${part.startedUs},"ended_us":${part.endedUs}` +
        idColumns(part) +
        column(',"exception":', part.exception) +
        runColumns(part) +
        step(',"run_step_end":', part.runStepEnd) +
        refs(',"input_refs":', part.inputRefs) +
        refs(',"output_refs":', part.outputRefs) +
        countColumns(part) +
        startBytes(part) +
        endBytes(part)
      )
    case 'start':
      return (
        `,"started_us":${part.startedUs}` +
        idColumns(part) +
        runColumns(part) +
        refs(',"input_refs":', part.inputRefs) +
        startBytes(part)
      )
    case 'end':
      return (
        `,"ended_us":${part.endedUs},"payload_us":${part.payloadUs}` +
        column(',"exception":', part.exception) +
        step(',"run_step_end":', part.runStepEnd) +
        refs(',"output_refs":', part.outputRefs) +
        countColumns(part) +
        endBytes(part)
      )
    case 'name':
      return `,"named":1${column(',"display_name":', part.displayName)}`
    case 'delete':
      return ''
  }
}

function writePayloads(rows: Rows, part: CallPart): void {
  if (part.kind === 'name' || part.kind === 'delete') return
  if (part.kind !== 'end') {
    writePayload(rows, leads.attributes, part.attributes)
    writePayload(rows, leads.inputs, part.inputs)
  }
  if (part.kind !== 'start') {
    writePayload(rows, leads.output, part.output)
    writePayload(rows, leads.summary, part.summary)
  }
  if (part.kind !== 'end') writePayload(rows, leads.otelDump, part.otelDump)
}

const rowEnd = Buffer.from('}\n')

/** FNV-1a over project and call id: everything about one call goes to one partition. */
function partitionOf(projectId: string, id: string, partitions: number): number {
  if (partitions === 1) return 0
  let hash = 0x811c9dc5
  const text = `${projectId}/${id}`
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash >>> 0) % partitions
}

/**
 * @param options.sizeHintBytes expected size of all rows, to save copies
 * @param options.partitions partitions of the log's topic; a record's `key` is the number of its partition
 */
export function createCallWriter(options: { sizeHintBytes?: number; partitions?: number } = {}): CallWriter {
  const partitions = options.partitions ?? 1
  const sizeHint = (options.sizeHintBytes ?? 4096) / partitions
  let byPartition = new Map<number, Rows>()
  let project = ''
  let projectJson = '""'
  return {
    add(part) {
      const partition = partitionOf(part.projectId, part.id, partitions)
      let rows = byPartition.get(partition)
      if (rows === undefined) {
        rows = createRows(sizeHint)
        byPartition.set(partition, rows)
      }
      if (project !== part.projectId) {
        project = part.projectId
        projectJson = quote(project)
      }
      const odd = 'odd' in part && part.odd ? ',"odd":1' : ''
      rows.text(
        `{"kind":"${part.kind}","project_id":${projectJson},"id":${quote(part.id)},"clock":${part.clock}${lightColumns(part)}${odd}`,
      )
      writePayloads(rows, part)
      rows.lead(rowEnd)
      rows.rowCount++
      if (part.kind !== 'complete') rows.patchCount++
      if (part.clock > rows.clock) rows.clock = part.clock
    },
    rowCount() {
      let all = 0
      for (const rows of byPartition.values()) all += rows.rowCount
      return all
    },
    take() {
      const records = [...byPartition].map(([partition, rows]) => ({
        rows: rows.done(),
        rowCount: rows.rowCount,
        patchCount: rows.patchCount,
        clock: rows.clock,
        key: String(partition),
      }))
      byPartition = new Map()
      return records
    },
  }
}

/** Appends the records of a writer; resolves when all of them are durable. */
export const appendCalls = (log: Log, records: RecordInput[]): Promise<Position[]> =>
  Promise.all(records.map((record) => log.append('calls', [record])))
