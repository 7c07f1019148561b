// Reads what rows of calls tell of their traces: the spans of a batch, as the rule of usage shares needs them.
import { textOfBytes } from '../../events/segment-rows.ts'

/** A call of a trace, as far as its usage is counted. */
export type CountedSpan = {
  id: string
  /** '' = none */
  parent: string
  startedUs: number
  /** Clock of its end, as a decimal number. */
  endVer: string
  /** Requests, input, output, total, cache read, cache write, summed over models; empty = it reports no usage. */
  numbers: readonly number[]
  /** What is billed of it beside its tokens (usage-shares-bills.sql); null = not read yet. */
  billed: readonly number[] | null
  /** Whether it came as a span, as far as `billed` is known. */
  isSpan: boolean
  /** Its row of usage_shares, whether it is nested and its numbers; null = not read yet. */
  stored: readonly number[] | null
}

export type TraceName = { project: string; trace: string }

/** A trace that a batch holds calls of. */
export type TraceOfRows = TraceName & {
  key: string
  spans: CountedSpan[]
  /** Whether it has a call that is not among `spans`. */
  isPartial: boolean
}

/** Calls of a batch that are in traces of spans, and spans of which only the id is known, as they are deleted. */
export type SpansOfRows = {
  /** By their keys; each has a span. */
  traces: Map<string, TraceOfRows>
  /** Keys of those of which nothing was stored before; undefined = it is not known. */
  newTraces?: ReadonlySet<string> | undefined
  /** Keys of the calls of the batch of which something may be stored already; undefined = any may be. */
  storedCalls?: ReadonlySet<string> | undefined
  /** Keys of traces of spans that have a call of another kind. */
  mixed: Set<string>
  /** By project and id. */
  others: Map<string, { project: string; id: string }>
  /** Projects with a span that reports usage. */
  reporting: Set<string>
}

/** Numbers of a bill, and of a row of usage_shares. */
const [billNumbers, shareNumbers] = [6, 11]
/** Of a span that is billed for its tokens alone. */
export const noBill: readonly number[] = Array(billNumbers).fill(0)
/** The row of a span that others with usage are not below. */
export const noShare: readonly number[] = Array(shareNumbers).fill(0)
const noNumbers: readonly number[] = []

/** Characters of the id of a span. */
export const spanIdLength = 16
export const spanIdForm = /^[0-9a-f]{16}$/
const traceLead = ',"trace_id":"'
const parentLead = ',"parent_id":"'
const traceIdLength = 32
const traceForm = /,"trace_id":"([0-9a-f]{32})"(?:,"parent_id":"([0-9a-f]{16})")?/
const dumpLead = Buffer.from(',"otel_dump":')
const usageLead = Buffer.from(',"usage_model":')
const attributesLead = Buffer.from(',"attributes":')
/** Of a row without its payloads: bytes in which the ids of its trace stand. */
const idsBytes = 512

/**
 * What tells a trace from all others and from calls: fingerprints are made of it, as `known-calls.sql` makes them.
 * @param project as bytes of UTF-8, one per character
 */
const keyOf = (project: string, trace: string): string => `${project}","trace_id":"${trace}`

/** The key of a trace whose project is a text. */
export const keyOfTrace = ({ project, trace }: TraceName): string =>
  keyOf(Buffer.from(project, 'utf8').toString('latin1'), trace)

/** A row without its payloads. */
export const headOf = (text: Buffer): Buffer => {
  const end = text.indexOf(attributesLead)
  return end === -1 ? text : text.subarray(0, end)
}

const sumOf = (values: unknown): number => (Array.isArray(values) ? values.reduce((sum, n) => sum + Number(n), 0) : 0)

function numbersOf(head: Buffer): readonly number[] {
  const at = head.indexOf(usageLead)
  const end = head.at(-1) === 0x7d ? head.length - 1 : head.length
  const row = JSON.parse(`{${head.toString('utf8', at + 1, end)}}`)
  return [
    row.usage_requests,
    row.usage_input,
    row.usage_output,
    row.usage_total,
    row.usage_cache_read,
    row.usage_cache_write,
  ].map(sumOf)
}

/** What a row begins with, texts as bytes of UTF-8, one per character. */
export type RowBeginning = {
  project: string
  id: string
  clock: string
  startedUs: number
  begins: boolean
  /** Whether more than its tokens may be billed of it. */
  mayBeBilled: boolean
}

const copied = (text: string): string => Buffer.from(text, 'latin1').toString('latin1')

/** @param head of a span without its payloads */
export const idsOfTrace = (head: Buffer): RegExpExecArray | null =>
  traceForm.exec(head.toString('latin1', 0, idsBytes)) ?? traceForm.exec(head.toString('latin1'))

/** Adds what a row tells of a trace. */
export function addToSpans(spans: SpansOfRows, text: Buffer, row: RowBeginning): void {
  const { id } = row
  const isSpan = id.length === spanIdLength
  const head = isSpan ? headOf(text) : text
  // Of other calls it does no harm to find a trace in their payloads.
  const found = isSpan ? idsOfTrace(head) : traceForm.exec(head.toString('latin1', 0, idsBytes))
  if (!isSpan) {
    if (found !== null) spans.mixed.add(keyOf(row.project, found[1] as string))
    return
  }
  const project = textOfBytes(row.project)
  const reports = head.includes(usageLead)
  if (reports) spans.reporting.add(project)
  if (found === null) {
    spans.others.set(`${project}\n${id}`, { project, id })
    return
  }
  // Slices of the text would keep all of it in memory, as long as the trace is remembered.
  const trace = copied(found[1] as string)
  const key = keyOf(row.project, trace)
  let known = spans.traces.get(key)
  if (known === undefined) {
    known = { key, project, trace, spans: [], isPartial: false }
    spans.traces.set(key, known)
  }
  const parentAt = found.index + traceLead.length + traceIdLength + 1
  const hasParent = head.indexOf(parentLead, parentAt) === parentAt
  if (!row.begins || !spanIdForm.test(id) || hasParent !== (found[2] !== undefined)) {
    known.isPartial = true
    return
  }
  known.spans.push({
    id: copied(id),
    parent: copied(found[2] ?? ''),
    startedUs: row.startedUs,
    endVer: reports ? copied(row.clock) : '',
    numbers: reports ? numbersOf(head) : noNumbers,
    billed: reports && row.mayBeBilled ? null : noBill,
    isSpan: reports && !row.mayBeBilled && text.includes(dumpLead),
    stored: noShare,
  })
}
