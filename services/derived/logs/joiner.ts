// Joins log records of generative AI with the calls of their spans, whichever comes first: what fits is appended as an
// ordinary complete row of the same call with a newer clock.

import { everySlot, slotOf } from '../../content/hash-slots.ts'
import { pause } from '../../core/concurrency/pause.ts'
import { createSerialQueue } from '../../core/concurrency/serial-queue.ts'
import type { Batch, Log, Position } from '../../core/log/log.ts'
import type { Progress } from '../../core/log/progress.ts'
import { statement } from '../../core/store/statements.ts'
import type { QueryOptions, Store } from '../../core/store/store.ts'
import type { CallFragment } from '../../events/calls.ts'
import { appendCalls, type CallWriter, callSplitOf, createCallWriter } from '../../events/calls-writer.ts'
import {
  type EventMapping,
  evaluationEvent,
  joinedEventNames,
  type StoredLogRecord,
} from '../../events/gen-ai-events.ts'
import { arrivingRecords, type SpanRecord, withArriving } from './arriving.ts'
import { workInBatches } from './call-batches.ts'
import { createEvaluations } from './evaluations.ts'
import type { Done, JoinedCounts, KeepJoined, Look } from './look.ts'
import { allResults, readSpans, type SpanIds, spanKeyOf, wantedParams } from './read-spans.ts'
import { type SpanRow, spanOf } from './span-rows.ts'
import { createTurns } from './turns.ts'

export type Joiner = {
  /** Whether this process appended that row of a call lately. */
  isJoined(project: string, id: string, clock: string): boolean
  /** Rows of calls or logs are in the tables: some of them may be due. */
  onApplied(): void
  /**
   * A batch of log records has come, and is applied once this has resolved: their calls go first, as somebody waits for
   * these. Resolves with whether all of it that may be joined is joined: if not, some of it may be due once it is applied.
   * Never rejects.
   */
  arrived(batch: Batch): Promise<boolean>
  /** Projects with records that may be joined: only their calls are looked at when they come. null = not known yet. */
  projects(): readonly string[] | null
  /** Those of them with evaluations that name the response of a call. */
  evaluated(): readonly string[] | null
  /** Those of them with records of coding agents that name no prompt. */
  turned(): readonly string[] | null
  /** Reads which projects these are, of all records that are kept. Until that is done all calls are looked at. */
  learn(): Promise<void>
  /** Joins everything that arrived in the last seconds; resolves once it is in the log. */
  look(seconds: number): Promise<number>
  /** Looks from now on: through the last day, then at what arrives. */
  start(): void
  stop(): Promise<void>
}

/** Events of one span that are joined; more of them stay logs. */
export const maxEvents = 1_000
const daySeconds = 86_400
/** Records that arrived during a look are seen by the next one. */
const overlapSeconds = 5
/** Both halves of a pair may have been under way at the same time, in two workers: looked for again so often, so far back. */
const longLookEveryMs = 10_000
const longLookSeconds = 120
/** Rows of a look; the rest comes with the next one. */
const maxDue = 2_000
/** Rows that are known as joined until they are applied. */
const maxJoined = 10_000
/** So few spans are read as soon as what somebody asked for. */
const maxPrompt = 100
/** For how long records that arrive let the calls that they join go first. */
const maxAheadMs = 500
/** Looks take at most half of the time; until they have taken so long, the next one does not wait. */
const maxOwedMs = 1_000

type Due = SpanIds & {
  clock: string
  base: string
  joined_clock: string
  joined_events: number
  events: number
  bytes: number
}

export function createJoiner(deps: {
  store: Pick<Store, 'rows' | 'command'>
  log: Log
  progress: Pick<Progress, 'reach'>
  mapping: EventMapping
  /** Hash slots of the projects that this process joins; null or absent = all. */
  slots?(): readonly number[] | null
  onJoined?(joined: JoinedCounts): void
  onError(error: Error): void
}): Joiner {
  const { store, log, progress, mapping } = deps
  const stopping = new AbortController()
  const projects = new Set<string>()
  const evaluated = new Set<string>()
  const turned = new Set<string>()
  const background = { pool: 'background' } as const
  const events = joinedEventNames

  const keep: KeepJoined = async (done) => {
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
  const joinEvaluations = createEvaluations({ store, log, mapping, keep })
  const placeTurns = createTurns({ store, log, onError: deps.onError })

  /**
   * A row that cannot be mapped (too large, or a raw span that is none) must not hold up the others: it stays as it is.
   */
  const mapped = (row: SpanRow, own: readonly StoredLogRecord[], clock: bigint) => {
    try {
      return mapping.joined(spanOf(row), own, clock)
    } catch (error) {
      deps.onError(new Error(`events of the span ${row.id} cannot be joined (${(error as Error).name})`))
      return null
    }
  }

  const joinedRows = new Set<string>()
  const add = (writer: CallWriter, call: CallFragment): void => {
    writer.add(call)
    const [oldest] = joinedRows
    if (joinedRows.size >= maxJoined && oldest !== undefined) joinedRows.delete(oldest)
    joinedRows.add(spanKeyOf(call.projectId, call.id, String(call.clock)))
  }

  const append = async (writer: CallWriter): Promise<{ count: number; positions: Position[] }> => {
    const count = writer.rowCount()
    if (count === 0) return { count, positions: [] }
    const positions = await appendCalls(log, writer.take())
    log.flush('calls')
    return { count, positions }
  }

  const read = async (wanted: readonly SpanIds[], as: Pick<QueryOptions, 'pool' | 'timeoutMs'>) => {
    const [spans, records] = await allResults(
      readSpans(store, wanted, true, as),
      store.rows<SpanRecord>(statement('log-joins-events', { ...wantedParams(wanted), events, maxEvents }), as),
    )
    return { spans, recordsOf: Map.groupBy(records, (one) => spanKeyOf(one.project_id, one.trace_id, one.span_id)) }
  }

  /** The call with its records, null when it holds them; the clocks of the span as it was sent and of what is stored then. */
  const joinedOf = (row: SpanRow, own: readonly StoredLogRecord[]) => {
    const isJoined = row.clock === row.joined_clock && row.joined_clock !== '0'
    const base = isJoined ? row.base : row.clock
    // Less than one step of any clock beyond the span: whatever is accepted later is newer than this, and what holds
    // more events is newer than what holds fewer, whoever joins them.
    const clock = BigInt(base) + BigInt(own.length)
    const call = own.length === 0 || clock <= BigInt(row.clock) ? null : mapped(row, own, clock)
    return { call, base, clock: call === null ? row.clock : String(clock) }
  }

  /** Joins records that the tables do not hold yet; resolves with whether nothing of them is left to be found there. */
  const joinArriving = async (records: readonly SpanRecord[]): Promise<boolean> => {
    const bySpan = Map.groupBy(records, (one) => spanKeyOf(one.project_id, one.trace_id, one.span_id))
    const ids = Array.from(bySpan.values(), ([one]) => one as SpanRecord)
    if (ids.length > maxPrompt) return false
    const { spans, recordsOf } = await read(
      ids.map(({ project_id, trace_id, span_id: id }) => ({ project_id, trace_id, id })),
      { timeoutMs: maxAheadMs },
    )
    const writer = createCallWriter(callSplitOf(log))
    const done: Done[] = []
    for (const [key, arriving] of bySpan) {
      const row = spans.get(key)
      const own = withArriving(recordsOf.get(key) ?? [], arriving)
      if (!row || own.length >= maxEvents) continue
      const { call, base, clock } = joinedOf(row, own)
      if (call !== null) add(writer, call)
      const ids = { project: row.project_id, trace: row.trace_id, span: row.id, log: '' }
      done.push({ ...ids, base, clock, events: new Set(own.map(({ id }) => id)).size })
    }
    const { count: calls, positions } = await append(writer)
    await allResults(keep(done), progress.reach(positions, maxAheadMs, stopping.signal))
    if (calls > 0) deps.onJoined?.({ calls, feedback: 0, beyond: 0, turns: 0 })
    return done.length === bySpan.size
  }

  /** Reads spans and their events, appends what changes, and notes what was done. */
  const join = async (due: readonly Due[], isPrompt: boolean): Promise<number> => {
    const { spans, recordsOf } = await read(due, isPrompt && due.length <= maxPrompt ? {} : background)
    const writer = createCallWriter(callSplitOf(log))
    const done: Done[] = []
    for (const one of due) {
      const key = spanKeyOf(one.project_id, one.trace_id, one.id)
      const row = spans.get(key)
      const own = recordsOf.get(key) ?? []
      // A row that changed since it was found is due again by itself, and a row that is no span stays as it is.
      if (row === null || (row !== undefined && row.clock !== one.clock)) continue
      const { call, base, clock } = row ? joinedOf(row, own) : { call: null, base: one.clock, clock: one.clock }
      if (call !== null) add(writer, call)
      done.push({
        project: one.project_id,
        trace: one.trace_id,
        span: one.id,
        log: '',
        base,
        clock,
        events: one.events,
      })
    }
    const { count } = await append(writer)
    await keep(done)
    return count
  }

  /** A span that does not fit into memory stays as it is. */
  const onTooLarge = (one: Due): Promise<void> => {
    deps.onError(new Error(`events of the span ${one.id} are too large to be joined`))
    return keep([
      {
        project: one.project_id,
        trace: one.trace_id,
        span: one.id,
        log: '',
        base: one.clock,
        clock: one.clock,
        events: one.events,
      },
    ])
  }

  /** A call that holds all that it may: its further events are counted alone. */
  const isFull = ({ clock, base, joined_clock, joined_events }: Due): boolean =>
    joined_events >= maxEvents && (clock === base || clock === joined_clock)

  const joinSpans = async ({ isPrompt, ...look }: Look): Promise<Pick<JoinedCounts, 'calls' | 'beyond'>> => {
    const as = isPrompt ? {} : background
    let count = 0
    let beyond = 0
    for (;;) {
      const rows = await store.rows<Due>(statement('log-joins-due', { ...look, events, limit: maxDue }), as)
      const due = rows.map((row) => ({ ...row, events: Number(row.events), joined_events: Number(row.joined_events) }))
      const full = due.filter(isFull)
      await keep(
        full.map((one) => ({
          project: one.project_id,
          trace: one.trace_id,
          span: one.id,
          log: '',
          base: one.base,
          clock: one.joined_clock,
          events: one.events,
        })),
      )
      for (const one of due) beyond += Math.max(0, one.events - Math.max(maxEvents, one.joined_events))
      const open = due.filter((one) => !isFull(one))
      count += await workInBatches(open, (some) => join(some, isPrompt), onTooLarge)
      if (due.length < maxDue || stopping.signal.aborted) return { calls: count, beyond }
    }
  }

  /** @param seconds 0 = of all records that are kept */
  const learnOf = async (seconds: number, isPrompt = false): Promise<boolean> => {
    const query = statement('log-joins-projects', { seconds, events, evaluation: evaluationEvent })
    const as = isPrompt ? {} : background
    const rows = await store.rows<{ project_id: string; responses: number; turns: number }>(query, as)
    for (const { project_id: project, responses, turns } of rows) {
      projects.add(project)
      if (Number(responses) === 1) evaluated.add(project)
      if (Number(turns) === 1) turned.add(project)
    }
    return rows.length > 0
  }
  let hasLearned = false
  let learning: Promise<void> | undefined
  const learn = (): Promise<void> => {
    learning ??= learnOf(0)
      .then(() => {
        hasLearned = true
      })
      .finally(() => {
        learning = undefined
      })
    return learning
  }

  const held = (): readonly number[] => deps.slots?.() ?? everySlot
  const queue = createSerialQueue()
  /** @param isPrompt something arrived just now, and calls wait for it */
  const lookThrough = (seconds: number, slots: readonly number[], isPrompt = false): Promise<number> =>
    queue.run(async () => {
      if (!hasLearned) await learn()
      if ((!isPrompt || slots.length === 0) && (!(await learnOf(seconds)) || slots.length === 0)) return 0
      const own = { seconds, slots: slots.length === everySlot.length ? [] : slots, isPrompt }
      const [spans, feedback] = await allResults(
        joinSpans(own),
        joinEvaluations(own, stopping.signal),
        isPrompt ? learnOf(seconds, true) : undefined,
      )
      const turns = turned.size === 0 ? 0 : await placeTurns(own, stopping.signal)
      if (spans.calls + spans.beyond + feedback + turns > 0) deps.onJoined?.({ ...spans, feedback, turns })
      return spans.calls + feedback + turns
    })

  let wake = Promise.withResolvers<void>()
  const loop = async (): Promise<void> => {
    const { signal } = stopping
    /** Slots of which the last day was looked through: also what another process left undone. */
    let covered: ReadonlySet<number> = new Set()
    let seconds = 0
    let lookedMs = Date.now()
    let lookedAtMs = lookedMs
    let endedMs = lookedMs
    let owedMs = 0
    let isPrompt = false
    while (!signal.aborted) {
      const beganMs = Date.now()
      try {
        const slots = held()
        const isOwn = slots.every((slot) => covered.has(slot))
        await lookThrough(isOwn ? seconds : daySeconds, slots, isOwn && isPrompt)
        covered = new Set(slots)
        lookedMs = beganMs
        if (!isOwn || seconds >= longLookSeconds) lookedAtMs = beganMs
        owedMs = Math.max(0, owedMs - (beganMs - endedMs)) + Date.now() - beganMs
        endedMs = Date.now()
        if (owedMs > maxOwedMs) await pause(owedMs - maxOwedMs, signal)
      } catch (error) {
        if (signal.aborted) return
        deps.onError(error as Error)
        await pause(longLookEveryMs, signal)
      }
      const woken = wake.promise.then(() => true)
      const longLookMs = Math.max(0, lookedAtMs + longLookEveryMs - Date.now())
      isPrompt = (await Promise.race([woken, pause(longLookMs, signal)])) === true
      wake = Promise.withResolvers()
      const since = Math.ceil((Date.now() - lookedMs) / 1_000) + overlapSeconds
      seconds = Date.now() - lookedAtMs >= longLookEveryMs ? Math.max(longLookSeconds, since) : since
    }
  }
  let looping: Promise<void> | undefined

  return {
    isJoined: (project, id, clock) => joinedRows.has(spanKeyOf(project, id, clock)),
    onApplied: () => wake.resolve(),
    async arrived(batch) {
      if (looping === undefined || stopping.signal.aborted) return false
      try {
        const records = await arrivingRecords(batch)
        if (records === null) return false
        const slots = new Set(held())
        for (const { project_id: project } of records) {
          if (!slots.has(slotOf(project))) return false
          projects.add(project)
        }
        return records.length === 0 || (await joinArriving(records))
      } catch {
        // The next look finds them in the tables, and tells what is wrong.
        return false
      }
    },
    projects: () => (hasLearned ? [...projects] : null),
    evaluated: () => (hasLearned ? [...evaluated] : null),
    turned: () => (hasLearned ? [...turned] : null),
    learn,
    look: (seconds) => lookThrough(seconds, held()),
    start() {
      looping ??= loop()
    },
    async stop() {
      stopping.abort()
      await looping
      await queue.idle()
    },
  }
}
