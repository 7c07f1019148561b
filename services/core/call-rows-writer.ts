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

const column = (name: string, value: string): string => (value === '' ? '' : `,"${name}":${quote(value)}`)
const count = (name: string, value: number): string => (value === 0 ? '' : `,"${name}":${value}`)
const step = (name: string, value: number | null): string =>
  value === null || value === -1 ? '' : `,"${name}":${int64(value)}`
const counts = (name: string, entries: UsageEntry[], of: (entry: UsageEntry) => number): string =>
  `,"${name}":[${entries.map((entry) => int64(of(entry))).join(',')}]`

const usage = (entries: UsageEntry[]): string =>
  entries.length === 0
    ? ''
    : `,"usage_model":${texts(entries.map((entry) => entry.model))}` +
      counts('usage_requests', entries, (entry) => entry.requests) +
      counts('usage_input', entries, (entry) => entry.input) +
      counts('usage_output', entries, (entry) => entry.output) +
      counts('usage_total', entries, (entry) => entry.total) +
      counts('usage_cache_read', entries, (entry) => entry.cacheRead) +
      counts('usage_cache_write', entries, (entry) => entry.cacheWrite)

const sizeOf = (json: JsonText): number => (typeof json === 'string' ? Buffer.byteLength(json) : json.end - json.start)

const isNested = (first: number | undefined): boolean => first === 123 || first === 91

/** Payload columns in row order, with the bytes that stand before their values. */
const payloads = (['attributes', 'inputs', 'output', 'summary', 'otel_dump'] as const).map((name) => ({
  name,
  lead: Buffer.from(`,"${name}":`),
}))

type Payloads = Partial<Record<(typeof payloads)[number]['name'], JsonText>>

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
      at += source.copy(buffer, at, start, end)
    },
    done: (): Buffer => buffer.subarray(0, at),
  }
}

type Rows = ReturnType<typeof createRows>

function writePayload(rows: Rows, lead: Buffer, json: JsonText): void {
  if (json === '') return
  rows.bytes(lead, 0, lead.length)
  if (typeof json === 'string') {
    rows.text(isNested(json.charCodeAt(0)) ? json : JSON.stringify(json))
  } else if (isNested(json.bytes[json.start])) {
    rows.bytes(json.bytes, json.start, json.end)
  } else {
    rows.text(JSON.stringify(json.bytes.toString('utf8', json.start, json.end)))
  }
}

const startColumns = (part: StartFields) => ({
  ids:
    column('trace_id', part.traceId) +
    column('parent_id', part.parentId) +
    column('thread_id', part.threadId) +
    column('turn_id', part.turnId) +
    column('op_name', part.opName) +
    (part.displayName === null ? '' : `,"named":1${column('display_name', part.displayName)}`),
  run: column('user_id', part.userId) + column('run_id', part.runId) + step('run_step', part.runStep),
  refs: part.inputRefs.length ? `,"input_refs":${texts(part.inputRefs)}` : '',
  bytes: `,"start_bytes":${sizeOf(part.attributes) + sizeOf(part.inputs) + sizeOf(part.otelDump)}`,
})

const endColumns = (part: EndFields) => ({
  run: step('run_step_end', part.runStepEnd),
  refs: part.outputRefs.length ? `,"output_refs":${texts(part.outputRefs)}` : '',
  usage: count('error_count', part.errorCount) + usage(part.usage),
  bytes: `,"end_bytes":${sizeOf(part.output) + sizeOf(part.summary)}`,
})

/** Everything between the clock and the payloads, in the order of the topic's columns. */
function lightColumns(part: CallPart): string {
  switch (part.kind) {
    case 'complete': {
      const start = startColumns(part)
      const end = endColumns(part)
      const times = `,"started_us":${part.startedUs},"ended_us":${part.endedUs}`
      const exception = column('exception', part.exception)
      return `${times}${start.ids}${exception}${start.run}${end.run}${start.refs}${end.refs}${end.usage}${start.bytes}${end.bytes}`
    }
    case 'start': {
      const start = startColumns(part)
      return `,"started_us":${part.startedUs}${start.ids}${start.run}${start.refs}${start.bytes}`
    }
    case 'end': {
      const end = endColumns(part)
      const times = `,"ended_us":${part.endedUs},"payload_us":${part.payloadUs}`
      return `${times}${column('exception', part.exception)}${end.run}${end.refs}${end.usage}${end.bytes}`
    }
    case 'name':
      return `,"named":1${column('display_name', part.displayName)}`
    case 'delete':
      return ''
  }
}

function payloadsOf(part: CallPart): Payloads {
  switch (part.kind) {
    case 'complete':
      return {
        attributes: part.attributes,
        inputs: part.inputs,
        output: part.output,
        summary: part.summary,
        otel_dump: part.otelDump,
      }
    case 'start':
      return { attributes: part.attributes, inputs: part.inputs, otel_dump: part.otelDump }
    case 'end':
      return { output: part.output, summary: part.summary }
    default:
      return {}
  }
}

/** FNV-1a over project and call id: everything about one call goes to one partition. */
export function partitionOf(projectId: string, id: string, partitions: number): number {
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
      const values = payloadsOf(part)
      for (const { name, lead } of payloads) {
        const json = values[name]
        if (json !== undefined) writePayload(rows, lead, json)
      }
      rows.text('}\n')
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
