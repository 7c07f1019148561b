// Reads a small batch of log records for those that spans wait for, before the tables have them.
import type { Batch } from '../../core/log/log.ts'
import { agentEventKinds, evaluationEvent, joinedEventNames, type StoredLogRecord } from '../../events/gen-ai-events.ts'
import { type SegmentRow, withoutHeader, withSourceRows } from '../../events/segment-rows.ts'

/** A record that may become part of the call of its span. `at_ns` is its time as decimal text. */
export type SpanRecord = StoredLogRecord & {
  project_id: string
  trace_id: string
  span_id: string
  id: string
  at_ns: string
}

/** In larger batches more waits than a few calls. */
const maxBytes = 2 ** 20
const maxRows = 1_000

/** Bytes at the beginning of a row before everything that clients may write without escapes. */
const factBytes = 1024
const name = /"event_name":"([^"\\]*)"/
const time = /"at_ns":(\d+)/
const joined: ReadonlySet<string> = new Set(joinedEventNames)

/** Whether it is one of a coding agent without a span. @param before what stands before the event's name */
const isOfSession = (event: string, before: string): boolean =>
  Object.hasOwn(agentEventKinds, event) && !(before.includes('"trace_id":') && before.includes('"span_id":'))

/** Members of every such record; the others are in it only where they differ from the usual. */
type Named = Partial<SpanRecord> & Pick<SpanRecord, 'event_name' | 'trace_id' | 'span_id'>

/** null for one that spans do not wait for. */
function recordOf({ text }: SegmentRow, facts: string): SpanRecord | null {
  const row = JSON.parse(withoutHeader(text)) as Partial<SpanRecord>
  if (!row.event_name || !joined.has(row.event_name) || !row.trace_id || !row.span_id) return null
  return {
    body: '',
    body_json: 0,
    attributes: {},
    json_keys: [],
    project_id: '',
    id: '',
    ...(row as Named),
    // As a number it would be rounded.
    at_ns: time.exec(facts)?.[1] ?? '0',
  }
}

/** All records of a batch that spans wait for; null when it is large, or holds what has to be found in the tables. */
export async function arrivingRecords(batch: Batch): Promise<SpanRecord[] | null> {
  const bytes = batch.records.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  if (bytes > maxBytes || batch.rowCount > maxRows) return null
  return withSourceRows(batch, async (rows) => recordsIn(rows))
}

function recordsIn(rows: Iterable<SegmentRow>): SpanRecord[] | null {
  const found: SpanRecord[] = []
  for (const row of rows) {
    const facts = row.text.toString('latin1', 0, factBytes)
    const named = name.exec(facts)
    const event = named?.[1]
    if (event === evaluationEvent || (event === undefined && row.text.length > factBytes)) return null
    if (event !== undefined && isOfSession(event, facts.slice(0, named?.index))) return null
    const record = event !== undefined && joined.has(event) ? recordOf(row, facts) : null
    if (record !== null) found.push(record)
  }
  return found
}

const isBefore = (one: SpanRecord, other: SpanRecord): number => {
  const by = BigInt(one.at_ns) - BigInt(other.at_ns)
  return by !== 0n ? (by < 0n ? -1 : 1) : one.id < other.id ? -1 : one.id > other.id ? 1 : 0
}

/** The records of a span in the tables and those that arrive, in their order, each of them once. */
export function withArriving(stored: readonly SpanRecord[], arriving: readonly SpanRecord[]): SpanRecord[] {
  const all = new Map([...stored, ...arriving].map((one) => [`${one.at_ns} ${one.id}`, one]))
  return [...all.values()].sort(isBefore)
}
