// Joins log records with the calls of their spans: reads spans with their records, appends what changes, and notes it.

import type { Log, Position } from '../../core/log/log.ts'
import type { Progress } from '../../core/log/progress.ts'
import { statement } from '../../core/store/statements.ts'
import type { QueryOptions, Store } from '../../core/store/store.ts'
import type { CallFragment } from '../../events/calls.ts'
import { appendCalls, type CallWriter, callSplitOf, createCallWriter } from '../../events/calls-writer.ts'
import { type EventMapping, joinedEventNames as events, type StoredLogRecord } from '../../events/gen-ai-events.ts'
import { type SpanRecord, withArriving } from './arriving.ts'
import { workInBatches } from './call-batches.ts'
import type { Done, JoinedCounts, Look } from './look.ts'
import { allResults, readSpans, type SpanIds, spanKeyOf, wantedParams } from './read-spans.ts'
import { type SpanRow, spanOf } from './span-rows.ts'

export type SpanJoins = {
  store: Pick<Store, 'rows' | 'command'>
  log: Log
  progress: Pick<Progress, 'reach'>
  mapping: EventMapping
  signal: AbortSignal
  /** Rows of calls that this process appended, until they are applied. */
  joinedRows: Set<string>
  onJoined?(joined: JoinedCounts): void
  onError(error: Error): void
}

/** Events of one span that are joined; more of them stay logs. */
export const maxEvents = 1_000
/** Rows of a look; the rest comes with the next one. */
const maxDue = 2_000
/** Rows that are known as joined until they are applied. */
const maxJoined = 10_000
/** So few spans are read as soon as what somebody asked for. */
const maxPrompt = 100
/** For how long records that arrive let the calls that they join go first. */
const maxAheadMs = 500
const background = { pool: 'background' } as const

type Due = SpanIds & {
  clock: string
  base: string
  joined_clock: string
  joined_events: number
  events: number
  bytes: number
}

/** Notes what was joined, once it is in the log. */
export async function keepJoined({ store }: Pick<SpanJoins, 'store'>, done: readonly Done[]): Promise<void> {
  if (done.length === 0) return
  const of = <Key extends keyof Done>(key: Key) => done.map((one) => one[key])
  const params = {
    projects: of('project'),
    traces: of('trace'),
    spans: of('span'),
    logs: of('log'),
    bases: of('base'),
    clocks: of('clock'),
    events: of('events'),
  }
  await store.command(statement('log-joined-insert', params), { background: true })
}

const doneOf = (span: SpanIds, base: string, clock: string, count: number): Done => ({
  project: span.project_id,
  trace: span.trace_id,
  span: span.id,
  log: '',
  base,
  clock,
  events: count,
})

/** A row that cannot be mapped (too large, or a raw span that is none) must not hold up the others: it stays as it is. */
function mapped({ mapping, onError }: SpanJoins, row: SpanRow, own: readonly StoredLogRecord[], clock: bigint) {
  try {
    return mapping.joined(spanOf(row), own, clock)
  } catch (error) {
    onError(new Error(`events of the span ${row.id} cannot be joined (${(error as Error).name})`))
    return null
  }
}

function add({ joinedRows }: SpanJoins, writer: CallWriter, call: CallFragment): void {
  writer.add(call)
  const [oldest] = joinedRows
  if (joinedRows.size >= maxJoined && oldest !== undefined) joinedRows.delete(oldest)
  joinedRows.add(spanKeyOf(call.projectId, call.id, String(call.clock)))
}

async function append({ log }: SpanJoins, writer: CallWriter): Promise<{ count: number; positions: Position[] }> {
  const count = writer.rowCount()
  if (count === 0) return { count, positions: [] }
  const positions = await appendCalls(log, writer.take())
  log.flush('calls')
  return { count, positions }
}

async function read({ store }: SpanJoins, wanted: readonly SpanIds[], as: Pick<QueryOptions, 'pool' | 'timeoutMs'>) {
  const [spans, records] = await allResults(
    readSpans(store, wanted, true, as),
    store.rows<SpanRecord>(statement('log-joins-events', { ...wantedParams(wanted), events, maxEvents }), as),
  )
  return { spans, recordsOf: Map.groupBy(records, (one) => spanKeyOf(one.project_id, one.trace_id, one.span_id)) }
}

/** The call with its records, null when it holds them; the clocks of the span as it was sent and of what is stored then. */
function joinedOf(joins: SpanJoins, row: SpanRow, own: readonly StoredLogRecord[]) {
  const isJoined = row.clock === row.joined_clock && row.joined_clock !== '0'
  const base = isJoined ? row.base : row.clock
  // Less than one step of any clock beyond the span: whatever is accepted later is newer than this, and what holds
  // more events is newer than what holds fewer, whoever joins them.
  const clock = BigInt(base) + BigInt(own.length)
  const call = own.length === 0 || clock <= BigInt(row.clock) ? null : mapped(joins, row, own, clock)
  return { call, base, clock: call === null ? row.clock : String(clock) }
}

/** Joins records that the tables do not hold yet; resolves with whether nothing of them is left to be found there. */
export async function joinArriving(joins: SpanJoins, records: readonly SpanRecord[]): Promise<boolean> {
  const bySpan = Map.groupBy(records, (one) => spanKeyOf(one.project_id, one.trace_id, one.span_id))
  const ids = Array.from(bySpan.values(), ([one]) => one as SpanRecord)
  if (ids.length > maxPrompt) return false
  const { spans, recordsOf } = await read(
    joins,
    ids.map(({ project_id, trace_id, span_id: id }) => ({ project_id, trace_id, id })),
    { timeoutMs: maxAheadMs },
  )
  const writer = createCallWriter(callSplitOf(joins.log))
  const done: Done[] = []
  for (const [key, arriving] of bySpan) {
    const row = spans.get(key)
    const own = withArriving(recordsOf.get(key) ?? [], arriving)
    if (!row || own.length >= maxEvents) continue
    const { call, base, clock } = joinedOf(joins, row, own)
    if (call !== null) add(joins, writer, call)
    done.push(doneOf(row, base, clock, new Set(own.map(({ id }) => id)).size))
  }
  const { count: calls, positions } = await append(joins, writer)
  await allResults(keepJoined(joins, done), joins.progress.reach(positions, maxAheadMs, joins.signal))
  if (calls > 0) joins.onJoined?.({ calls, feedback: 0, beyond: 0, turns: 0 })
  return done.length === bySpan.size
}

/** Reads spans and their events, appends what changes, and notes what was done. @returns how many calls changed */
async function join(joins: SpanJoins, due: readonly Due[], isPrompt: boolean): Promise<number> {
  const { spans, recordsOf } = await read(joins, due, isPrompt && due.length <= maxPrompt ? {} : background)
  const writer = createCallWriter(callSplitOf(joins.log))
  const done: Done[] = []
  for (const one of due) {
    const key = spanKeyOf(one.project_id, one.trace_id, one.id)
    const row = spans.get(key)
    const own = recordsOf.get(key) ?? []
    // A row that changed since it was found is due again by itself, and a row that is no span stays as it is.
    if (row === null || (row !== undefined && row.clock !== one.clock)) continue
    const { call, base, clock } = row ? joinedOf(joins, row, own) : { call: null, base: one.clock, clock: one.clock }
    if (call !== null) add(joins, writer, call)
    done.push(doneOf(one, base, clock, one.events))
  }
  const { count } = await append(joins, writer)
  await keepJoined(joins, done)
  return count
}

/** A call that holds all that it may: its further events are counted alone. */
const isFull = ({ clock, base, joined_clock, joined_events }: Due): boolean =>
  joined_events >= maxEvents && (clock === base || clock === joined_clock)

/** Joins what is due of a look. */
export async function joinSpans(
  joins: SpanJoins,
  { isPrompt, ...look }: Look,
): Promise<Pick<JoinedCounts, 'calls' | 'beyond'>> {
  const { store, signal, onError } = joins
  /** A span that does not fit into memory stays as it is. */
  const onTooLarge = (one: Due): Promise<void> => {
    onError(new Error(`events of the span ${one.id} are too large to be joined`))
    return keepJoined(joins, [doneOf(one, one.clock, one.clock, one.events)])
  }
  const as = isPrompt ? {} : background
  let count = 0
  let beyond = 0
  for (;;) {
    const rows = await store.rows<Due>(statement('log-joins-due', { ...look, events, limit: maxDue }), as)
    const due = rows.map((row) => ({ ...row, events: Number(row.events), joined_events: Number(row.joined_events) }))
    await keepJoined(
      joins,
      due.filter(isFull).map((one) => doneOf(one, one.base, one.joined_clock, one.events)),
    )
    for (const one of due) beyond += Math.max(0, one.events - Math.max(maxEvents, one.joined_events))
    const open = due.filter((one) => !isFull(one))
    count += await workInBatches(open, (some) => join(joins, some, isPrompt), onTooLarge)
    if (due.length < maxDue || signal.aborted) return { calls: count, beyond }
  }
}
