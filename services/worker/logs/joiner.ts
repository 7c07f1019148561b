// Joins log records of generative AI with the calls of their spans, whichever comes first: what fits is appended as an
// ordinary complete row of the same call with a newer clock.

import { spliced } from '../../content/span-dump.ts'
import { pause } from '../../core/concurrency/pause.ts'
import { createSerialQueue } from '../../core/concurrency/serial-queue.ts'
import type { Log } from '../../core/log/log.ts'
import { type Store, StoreError } from '../../core/store/store.ts'
import type { UsageEntry } from '../../events/calls.ts'
import { appendCalls, callSplitOf, createCallWriter } from '../../events/calls-writer.ts'
import { createdRecords, type FeedbackRow, storedPayload } from '../../events/feedback.ts'
import {
  type EventMapping,
  joinedEventNames,
  type StoredLogRecord,
  type StoredSpan,
} from '../../events/gen-ai-events.ts'
import { halves, splitBatch } from '../split/split-batch.ts'
import { statement } from '../statements.ts'

export type Joiner = {
  /** Rows of calls or logs are in the tables: some of them may be due. */
  onApplied(): void
  /** Projects with records that may be joined: only their calls are looked at when they come. */
  projects(): readonly string[]
  /** Joins everything that arrived in the last seconds; resolves once it is in the log. */
  look(seconds: number): Promise<number>
  stop(): Promise<void>
}

/** Events of one span that are joined; more of them stay logs. */
export const maxEvents = 1_000
const daySeconds = 86_400
/** What arrived while a look was under way is seen by the next one. */
const overlapSeconds = 5
/** Both halves of a pair may have been under way at the same time, in two workers: looked for again so often, so far back. */
const longLookEveryMs = 10_000
const longLookSeconds = 120
/** Spans that are read at once, and their bytes. */
const maxSpans = 1_000
const maxBytes = 16 * 2 ** 20
/** Rows of a look; the rest comes with the next one. */
const maxDue = 2_000
/** A response is looked for among the calls that began so long before its evaluation, and so long after it. */
const [beforeUs, afterUs] = [3_600_000_000, 300_000_000]
/** The system's own: nobody sent this feedback. */
const author = 'otel'

type Due = {
  project_id: string
  trace_id: string
  id: string
  started_us: string
  clock: string
  base: string
  joined_clock: string
  events: number
  bytes: number
}
type Evaluation = StoredLogRecord & { project_id: string; id: string; at_us: string; span_id: string }
type Counts = Record<'requests' | 'input' | 'output' | 'total' | 'cache_read' | 'cache_write', string[]>
type SpanRow = {
  [column in
    | 'project_id'
    | 'id'
    | 'clock'
    | 'trace_id'
    | 'started_us'
    | 'ended_us'
    | 'parent_id'
    | 'thread_id'
    | 'turn_id'
    | 'op_name'
    | 'exception'
    | 'user_id'
    | 'run_id'
    | 'run_step'
    | 'run_step_end'
    | 'attributes'
    | 'inputs'
    | 'output'
    | 'summary'
    | 'otel_dump']: string
} & {
  input_refs: string[]
  output_refs: string[]
  error_count: number
  odd: number
  mask: number
  mask_hits: number
  usage_model: string[]
} & { [name in keyof Counts as `usage_${name}`]: string[] }

type Done = { project: string; trace: string; span: string; log: string; base: string; clock: string; events: number }

const keyOf = (project: string, trace: string, span: string): string => `${project}\n${trace}\n${span}`

const stepOf = (step: string): number | null => (Number(step) < 0 ? null : Number(step))

function usageOf(row: SpanRow): UsageEntry[] {
  const count = (list: string[], n: number) => Number(list[n] ?? 0)
  return row.usage_model.map((model, n) => ({
    model,
    requests: count(row.usage_requests, n),
    input: count(row.usage_input, n),
    output: count(row.usage_output, n),
    total: count(row.usage_total, n),
    cacheRead: count(row.usage_cache_read, n),
    cacheWrite: count(row.usage_cache_write, n),
  }))
}

function spanOf(row: SpanRow): StoredSpan {
  const { attributes, inputs, output } = row
  const texts = { attributes: Buffer.from(attributes), inputs: Buffer.from(inputs), output: Buffer.from(output) }
  return {
    projectId: row.project_id,
    id: row.id,
    odd: Number(row.odd) === 1,
    masking: { version: Number(row.mask), hits: Number(row.mask_hits) },
    startedUs: Number(row.started_us),
    endedUs: Number(row.ended_us),
    traceId: row.trace_id,
    parentId: row.parent_id,
    threadId: row.thread_id,
    turnId: row.turn_id,
    opName: row.op_name,
    exception: row.exception,
    userId: row.user_id,
    runId: row.run_id,
    runStep: stepOf(row.run_step),
    runStepEnd: stepOf(row.run_step_end),
    inputRefs: row.input_refs,
    outputRefs: row.output_refs,
    errorCount: Number(row.error_count),
    usage: usageOf(row),
    ...{ attributes, inputs, output, summary: row.summary },
    otelDump: spliced(Buffer.from(row.otel_dump), texts).toString(),
  }
}

/** 32 hex digits in the form of ids. */
const idOf = (digits: string): string => digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

export function createJoiner(deps: {
  store: Pick<Store, 'rows' | 'command'>
  log: Log
  mapping: EventMapping
  onJoined?(joined: { calls: number; feedback: number }): void
  onError(error: Error): void
}): Joiner {
  const { store, log, mapping } = deps
  const stopping = new AbortController()
  const projects = new Set<string>()
  const background = { pool: 'background' } as const
  const events = joinedEventNames

  const keep = async (done: readonly Done[]): Promise<void> => {
    if (done.length === 0) return
    const of = <Key extends keyof Done>(key: Key) => done.map((one) => one[key])
    const params = {
      ...{ projects: of('project'), traces: of('trace'), spans: of('span'), logs: of('log') },
      ...{ bases: of('base'), clocks: of('clock'), events: of('events') },
    }
    await store.command(statement('log-joined-insert', params), { background: true })
  }

  /** What cannot be mapped (too much of it, a raw span that is none) must not hold up the others: it stays as it is. */
  const mapped = (row: SpanRow, own: readonly StoredLogRecord[], clock: bigint) => {
    try {
      return mapping.joined(spanOf(row), own, clock)
    } catch (error) {
      deps.onError(new Error(`events of the span ${row.id} cannot be joined (${(error as Error).name})`))
      return null
    }
  }

  /** Reads spans and their events, appends what changes, and notes what was done. */
  const join = async (due: readonly Due[]): Promise<number> => {
    const ids = { projects: due.map((one) => one.project_id), ids: due.map(({ id }) => id) }
    const [rows, records] = await Promise.all([
      store.rows<SpanRow>(
        statement('log-joins-spans', { ...ids, started: due.map((one) => one.started_us) }),
        background,
      ),
      store.rows<StoredLogRecord & { project_id: string; trace_id: string; span_id: string }>(
        statement('log-joins-events', { ...ids, traces: due.map((one) => one.trace_id), events, maxEvents }),
        background,
      ),
    ])
    const spans = new Map(rows.map((row) => [keyOf(row.project_id, row.trace_id, row.id), row]))
    const recordsOf = Map.groupBy(records, (one) => keyOf(one.project_id, one.trace_id, one.span_id))
    const writer = createCallWriter(callSplitOf(log))
    const done: Done[] = []
    for (const one of due) {
      const key = keyOf(one.project_id, one.trace_id, one.id)
      const row = spans.get(key)
      const own = recordsOf.get(key) ?? []
      // What changed since it was found is due again by itself, and what is no span stays as it is.
      if (row !== undefined && row.clock !== one.clock) continue
      const isJoined = one.clock === one.joined_clock && one.joined_clock !== '0'
      const base = isJoined ? one.base : one.clock
      // Less than one step of any clock beyond the span: whatever is accepted later is newer than this, and what holds
      // more events is newer than what holds fewer, whoever joins them.
      const clock = BigInt(base) + BigInt(own.length)
      const call = row === undefined || own.length === 0 || clock <= BigInt(one.clock) ? null : mapped(row, own, clock)
      if (call !== null) writer.add(call)
      done.push({
        ...{ project: one.project_id, trace: one.trace_id, span: one.id, log: '', base, events: one.events },
        clock: call === null ? one.clock : String(clock),
      })
    }
    const count = writer.rowCount()
    await appendCalls(log, writer.take())
    await keep(done)
    return count
  }

  /** Joins spans, fewer at a time where they do not fit into memory; a span that does not fit alone stays as it is. */
  const joinAll = async (all: readonly Due[]): Promise<number> => {
    let count = 0
    await splitBatch(all, async (due) => {
      try {
        count += await join(due)
        return []
      } catch (error) {
        if (!(error instanceof StoreError) || error.kind !== 'memory') throw error
        if (due.length > 1) return halves(due)
        deps.onError(new Error(`events of the span ${due[0]?.id} are too large to be joined`))
        await keep(
          due.map((one) => ({
            ...{ project: one.project_id, trace: one.trace_id, span: one.id, log: '' },
            ...{ base: one.clock, clock: one.clock, events: one.events },
          })),
        )
        return []
      }
    })
    return count
  }

  const joinSpans = async (seconds: number): Promise<number> => {
    let count = 0
    for (;;) {
      const query = statement('log-joins-due', { seconds, events, maxEvents, limit: maxDue })
      const due = await store.rows<Due>(query, background)
      let some: Due[] = []
      let bytes = 0
      for (const one of due) {
        if (some.length > 0 && (some.length === maxSpans || bytes + Number(one.bytes) > maxBytes)) {
          count += await joinAll(some)
          some = []
          bytes = 0
        }
        some.push({ ...one, events: Number(one.events) })
        bytes += Number(one.bytes)
      }
      if (some.length > 0) count += await joinAll(some)
      if (due.length < maxDue || stopping.signal.aborted) return count
    }
  }

  /** Calls by the ids of their responses, for records without a span. */
  const callsOf = async (
    wanted: readonly { project: string; atUs: number; responseId: string }[],
  ): Promise<Map<string, string>> => {
    const calls = new Map<string, string>()
    for (const [project, own] of Map.groupBy(wanted, (one) => one.project)) {
      const times = own.map(({ atUs }) => atUs)
      const rows = await store.rows<{ id: string; response_id: string }>(
        statement('log-joins-responses', {
          ...{ project, responses: own.map(({ responseId }) => responseId) },
          ...{ from: Math.min(...times) - beforeUs, upTo: Math.max(...times) + afterUs },
        }),
        background,
      )
      for (const { id, response_id: response } of rows) calls.set(`${project}\n${response}`, id)
    }
    return calls
  }

  const joinEvaluations = async (seconds: number): Promise<number> => {
    const rows = await store.rows<Evaluation>(
      statement('log-joins-evaluations', { seconds, limit: maxDue }),
      background,
    )
    const found = rows.flatMap((row) => {
      const result = mapping.evaluation(row)
      return result === null ? [] : [{ row, result, atUs: Number(row.at_us) }]
    })
    const calls = await callsOf(
      found.flatMap(({ row, result, atUs }) =>
        row.span_id === '' && result.responseId !== ''
          ? [{ project: row.project_id, atUs, responseId: result.responseId }]
          : [],
      ),
    )
    const feedback: FeedbackRow[] = []
    const done: Done[] = []
    for (const { row, result, atUs } of found) {
      const call = row.span_id || calls.get(`${row.project_id}\n${result.responseId}`)
      if (call === undefined) continue
      // Its clock follows from the record, so that it is the same feedback however often it is made.
      const clock = BigInt(atUs) * 1024n
      feedback.push({
        ...{
          project_id: row.project_id,
          id: idOf(row.id),
          clock,
          weave_ref: `weave:///${row.project_id}/call/${call}`,
        },
        ...{ user_id: author, creator: null, feedback_type: result.feedbackType, annotation_ref: null },
        ...{ runnable_ref: null, call_ref: null, trigger_ref: null, queue_id: null, scorer_tags: [] },
        ...{ scorer_tag_reasons: {}, scorer_rating_reasons: {}, scorer_tag_confidences: {}, scorer_ratings: {} },
        ...{ scorer_rating_confidences: {}, span_agent_name: '', span_agent_version: '', span_conversation_id: '' },
        ...{ span_trace_id: '', scorer_trace_id: '', span_status_code: '', payload: storedPayload(result.payload) },
      })
      done.push({
        ...{ project: row.project_id, trace: '', span: '', log: row.id },
        ...{ base: String(clock), clock: String(clock), events: 1 },
      })
    }
    if (feedback.length > 0) await log.append('feedback', createdRecords(feedback))
    await keep(done)
    return feedback.length
  }

  const learn = async (seconds: number): Promise<boolean> => {
    const rows = await store.rows<{ project_id: string }>(
      {
        name: 'log-joins.projects',
        sql: `SELECT DISTINCT project_id FROM callhouse.log_joins WHERE arrived >= now() - {seconds:UInt32}`,
        params: { seconds },
      },
      background,
    )
    for (const { project_id: project } of rows) projects.add(project)
    return rows.length > 0
  }

  const queue = createSerialQueue()
  const look = (seconds: number): Promise<number> =>
    queue.run(async () => {
      if (!(await learn(seconds))) return 0
      const joined = { calls: await joinSpans(seconds), feedback: await joinEvaluations(seconds) }
      if (joined.calls + joined.feedback > 0) deps.onJoined?.(joined)
      return joined.calls + joined.feedback
    })

  let wake = Promise.withResolvers<void>()
  const loop = async (): Promise<void> => {
    const { signal } = stopping
    let seconds = daySeconds
    let lookedMs = Date.now()
    let lookedAtMs = lookedMs
    while (!signal.aborted) {
      const beganMs = Date.now()
      try {
        await look(seconds)
        lookedMs = beganMs
        if (seconds >= longLookSeconds) lookedAtMs = beganMs
        // A look takes at most half of the time.
        await pause(Date.now() - beganMs, signal)
      } catch (error) {
        if (signal.aborted) return
        deps.onError(error as Error)
        await pause(longLookEveryMs, signal)
      }
      await Promise.race([wake.promise, pause(Math.max(0, lookedAtMs + longLookEveryMs - Date.now()), signal)])
      wake = Promise.withResolvers()
      const since = Math.ceil((Date.now() - lookedMs) / 1_000) + overlapSeconds
      seconds = Date.now() - lookedAtMs >= longLookEveryMs ? Math.max(longLookSeconds, since) : since
    }
  }
  const looping = loop()

  return {
    onApplied: () => wake.resolve(),
    projects: () => [...projects],
    look,
    async stop() {
      stopping.abort()
      await looping
      await queue.idle()
    },
  }
}
