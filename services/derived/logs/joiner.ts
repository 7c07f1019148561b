// Joins log records of generative AI with the calls of their spans, whichever comes first: what fits is appended as an
// ordinary complete row of the same call with a newer clock.

import { everySlot, slotOf } from '../../content/hash-slots.ts'
import { pause } from '../../core/concurrency/pause.ts'
import { createSerialQueue, type SerialQueue } from '../../core/concurrency/serial-queue.ts'
import type { Batch } from '../../core/log/log.ts'
import { statement } from '../../core/store/statements.ts'
import { evaluationEvent, joinedEventNames } from '../../events/gen-ai-events.ts'
import { arrivingRecords } from './arriving.ts'
import { createEvaluations } from './evaluations.ts'
import { joinArriving, joinSpans, keepJoined, type SpanJoins } from './join-spans.ts'
import type { Look } from './look.ts'
import { allResults, spanKeyOf } from './read-spans.ts'
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

const daySeconds = 86_400
/** Records that arrived during a look are seen by the next one. */
const overlapSeconds = 5
/** Both halves of a pair may have been under way at the same time, in two workers: looked for again so often, so far back. */
const longLookEveryMs = 10_000
const longLookSeconds = 120
/** Looks take at most half of the time; until they have taken so long, the next one does not wait. */
const maxOwedMs = 1_000

type JoinerDeps = Omit<SpanJoins, 'signal' | 'joinedRows'> & {
  /** Hash slots of the projects that this process joins; null or absent = all. */
  slots?(): readonly number[] | null
}

type State = SpanJoins & {
  held(): readonly number[]
  projects: Set<string>
  evaluated: Set<string>
  turned: Set<string>
  hasLearned: boolean
  learning: Promise<void> | undefined
  queue: SerialQueue
  joinEvaluations: ReturnType<typeof createEvaluations>
  placeTurns: ReturnType<typeof createTurns>
  /** Ends the wait for the next look. */
  wake: PromiseWithResolvers<void>
}

/** Reads projects with records. @param seconds 0 = of all records that are kept @returns whether there are any */
async function learnOf(state: State, seconds: number, isPrompt = false): Promise<boolean> {
  const params = { seconds, events: joinedEventNames, evaluation: evaluationEvent }
  const rows = await state.store.rows<{ project_id: string; responses: number; turns: number }>(
    statement('log-joins-projects', params),
    isPrompt ? {} : { pool: 'background' },
  )
  for (const { project_id: project, responses, turns } of rows) {
    state.projects.add(project)
    if (Number(responses) === 1) state.evaluated.add(project)
    if (Number(turns) === 1) state.turned.add(project)
  }
  return rows.length > 0
}

function learn(state: State): Promise<void> {
  state.learning ??= learnOf(state, 0)
    .then(() => {
      state.hasLearned = true
    })
    .finally(() => {
      state.learning = undefined
    })
  return state.learning
}

/** @param isPrompt something arrived just now, and calls wait for it */
const lookThrough = (state: State, seconds: number, slots: readonly number[], isPrompt = false): Promise<number> =>
  state.queue.run(async () => {
    const { signal } = state
    if (!state.hasLearned) await learn(state)
    if ((!isPrompt || slots.length === 0) && (!(await learnOf(state, seconds)) || slots.length === 0)) return 0
    const own: Look = { seconds, slots: slots.length === everySlot.length ? [] : slots, isPrompt }
    const [spans, feedback] = await allResults(
      joinSpans(state, own),
      state.joinEvaluations(own, signal),
      isPrompt ? learnOf(state, seconds, true) : undefined,
    )
    const turns = state.turned.size === 0 ? 0 : await state.placeTurns(own, signal)
    if (spans.calls + spans.beyond + feedback + turns > 0) state.onJoined?.({ ...spans, feedback, turns })
    return spans.calls + feedback + turns
  })

async function loop(state: State): Promise<void> {
  const { signal } = state
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
      const slots = state.held()
      const isOwn = slots.every((slot) => covered.has(slot))
      await lookThrough(state, isOwn ? seconds : daySeconds, slots, isOwn && isPrompt)
      covered = new Set(slots)
      lookedMs = beganMs
      if (!isOwn || seconds >= longLookSeconds) lookedAtMs = beganMs
      owedMs = Math.max(0, owedMs - (beganMs - endedMs)) + Date.now() - beganMs
      endedMs = Date.now()
      if (owedMs > maxOwedMs) await pause(owedMs - maxOwedMs, signal)
    } catch (error) {
      if (signal.aborted) return
      state.onError(error as Error)
      await pause(longLookEveryMs, signal)
    }
    const woken = state.wake.promise.then(() => true)
    const longLookMs = Math.max(0, lookedAtMs + longLookEveryMs - Date.now())
    isPrompt = (await Promise.race([woken, pause(longLookMs, signal)])) === true
    state.wake = Promise.withResolvers()
    const since = Math.ceil((Date.now() - lookedMs) / 1_000) + overlapSeconds
    seconds = Date.now() - lookedAtMs >= longLookEveryMs ? Math.max(longLookSeconds, since) : since
  }
}

/** Joins the records of a batch before it is applied, as `Joiner.arrived` says it. */
async function joinBatch(state: State, batch: Batch): Promise<boolean> {
  try {
    const records = await arrivingRecords(batch)
    if (records === null) return false
    const slots = new Set(state.held())
    for (const { project_id: project } of records) {
      if (!slots.has(slotOf(project))) return false
      state.projects.add(project)
    }
    return records.length === 0 || (await joinArriving(state, records))
  } catch {
    // The next look finds them in the tables, and tells what is wrong.
    return false
  }
}

export function createJoiner(deps: JoinerDeps): Joiner {
  const { store, log, mapping } = deps
  const stopping = new AbortController()
  const { signal } = stopping
  const state: State = {
    ...deps,
    signal,
    joinedRows: new Set(),
    held: () => deps.slots?.() ?? everySlot,
    projects: new Set(),
    evaluated: new Set(),
    turned: new Set(),
    hasLearned: false,
    learning: undefined,
    queue: createSerialQueue(),
    joinEvaluations: createEvaluations({ store, log, mapping, keep: (done) => keepJoined(deps, done) }),
    placeTurns: createTurns({ store, log, onError: deps.onError }),
    wake: Promise.withResolvers(),
  }
  const known = (projects: ReadonlySet<string>) => (state.hasLearned ? [...projects] : null)
  let looping: Promise<void> | undefined
  return {
    isJoined: (project, id, clock) => state.joinedRows.has(spanKeyOf(project, id, clock)),
    onApplied: () => state.wake.resolve(),
    arrived: async (batch) => looping !== undefined && !signal.aborted && joinBatch(state, batch),
    projects: () => known(state.projects),
    evaluated: () => known(state.evaluated),
    turned: () => known(state.turned),
    learn: () => learn(state),
    look: (seconds) => lookThrough(state, seconds, state.held()),
    start() {
      looping ??= loop(state)
    },
    async stop() {
      stopping.abort()
      await looping
      await state.queue.idle()
    },
  }
}
