// The applier: takes rows into the tables, for the worker, a rebuild and a repair alike. One batch at a time, as the
// scratch tables belong to it.
import { createSerialQueue, type SerialQueue } from '../core/concurrency/serial-queue.ts'
import { splitBatch } from '../core/concurrency/split-batch.ts'
import { batchMembers } from '../core/log/combined-batch.ts'
import type { Batch, Log, Position } from '../core/log/log.ts'
import { statement } from '../core/store/statements.ts'
import type { Store } from '../core/store/store.ts'
import type { Budget } from '../derived/budget.ts'
import type { TimeRange } from '../derived/time-range.ts'
import { topicNamed } from '../events/registry.ts'
import { isPatch, type SegmentRow, segmentRows, withSourceRows } from '../events/segment-rows.ts'
import { rowsByCall } from './calls/call-rows.ts'
import { createDeduplication } from './calls/deduplicate.ts'
import { type DirtyPositions, dirtyAt } from './calls/dirty-positions.ts'
import { createNewCallsInsert, type NewCallsDeps, type NewCallsInsert } from './calls/insert-new.ts'
import type { Marking, Materializer } from './calls/materializer.ts'
import { type CallMaterializer, createCallMaterializer, type LogJoins } from './calls/merge-fragments.ts'
import { withSharedTimesMoved } from './calls/shared-times.ts'
import type { SpansOfRows } from './calls/spans.ts'
import type { UsageShares } from './calls/usage-shares.ts'
import type { DeadLetters } from './dead-letters/dead-letters.ts'
import type { ControlInsert } from './split/control-insert.ts'
import { cut, failureOf, isRefusal } from './split/cuts.ts'
import { insertWithoutRefused } from './split/refused-rows.ts'

type StartedCall = { project: string; started_us: number }

export type Applier = {
  /**
   * Applies a batch, in smaller ones when that is too much for the store.
   * @param rows only these of its rows; absent: all, and the engine reads its source
   * @returns number of dead letters
   */
  apply(batch: Batch, rows?: SegmentRow[]): Promise<number>
  /** Applies rows that were applied before once more: what is in the tables already stays as it is. */
  reapply(topic: string, rows: SegmentRow[]): Promise<void>
  /** Makes the counters of a range due again. */
  recount(range: TimeRange): Promise<void>
  /** The same of the times at which some calls start, in microseconds: what is stored of them is unchanged. */
  recountCalls(calls: readonly StartedCall[]): Promise<void>
  /** Stores what spans of a range count for themselves again, and makes their counters due. */
  recountShares(range: TimeRange): Promise<void>
  /** Runs a job between two batches. */
  exclusive<T>(job: () => Promise<T>): Promise<T>
  /** Merges calls that large batches brought under two start times since the last time; returns their number. */
  deduplicateChanged(): Promise<number>
  /** The same for everything that is stored. */
  deduplicateAll(): Promise<number>
  /** Finishes the deduplication under way; batches still go in. */
  stop(): Promise<void>
  /** Takes no more batches; resolves once the last one is done. */
  close(): Promise<void>
}

export type ApplierDeps = {
  store: Store
  log: Pick<Log, 'committed'>
  deadLetters: Pick<DeadLetters, 'add'>
  /** Whether it is the tables that are at fault; absent: each refused row is a dead letter. */
  control?: ControlInsert
  /** Committed positions of the calls up to which `deduplicateChanged` looks; absent or empty: another worker does it. */
  committedCalls?(): Promise<Position[]>
  logJoins?: LogJoins | undefined
  budget?: Budget
  /** Takes batches of calls that are new in without a merge; absent: every batch is merged. */
  newCalls?: NewCallsDeps
  /** Keeps what spans count for themselves, of the rows that `newCalls` looks at. */
  shares?: UsageShares
  /** Called with the spans of a batch that is in the tables. */
  onSpans?(spans: SpansOfRows): void
}

/** A batch of rows that are at hand, under the position of the last of them. */
export const batchOfRows = ({ topic, partition, offset }: Position, rows: readonly SegmentRow[]): Batch => ({
  topic,
  partition,
  firstOffset: offset,
  lastOffset: offset,
  records: [],
  source: { bytes: [] },
  rowCount: rows.length,
  patchCount: topic === 'calls' ? rows.filter(isPatch).length : 0,
  oldestMs: Date.now(),
})

/** The batch with only some of its rows. */
const withRows = (batch: Batch, rows: SegmentRow[]): Batch => ({
  ...batch,
  rowCount: rows.length,
  patchCount: batch.patchCount === 0 ? 0 : rows.filter(isPatch).length,
})

type State = {
  deps: ApplierDeps
  queue: SerialQueue
  calls: CallMaterializer
  newCalls: NewCallsInsert | undefined
  /** Greatest offset of partition 0 of the calls that was taken from the log: it may be applied and not yet committed. */
  lastTaken: number
  /** Positions by partition up to which dirty buckets may be there; one that is written again replaces them. */
  markedUpTo: Map<number, number> | undefined
  /** Seconds that were marked under one position of partition 0 before a batch took it, as bits by project and minute. */
  markedAhead: { position: number; seconds: Map<string, bigint> }
}

function materializerOf({ calls, newCalls }: State, topic: string): Materializer {
  if (topic !== 'calls') return { topic, beforeInsert: async () => {}, afterInsert: async () => {} }
  return {
    ...calls,
    ...(newCalls && { insertNew: newCalls.insert }),
    afterInsert: (batch, isBySecond) => calls.afterInsert(batch, isBySecond, newCalls?.isJoined(batch)),
  }
}

async function markingOf(state: State, batch: Batch, rows: SegmentRow[] | undefined): Promise<Marking> {
  const { store, newCalls } = state.deps
  if (batch.topic !== 'calls' || rows !== undefined || !newCalls) return { isAlone: false, isBySecond: false }
  if (state.markedUpTo === undefined) {
    const found = await store.rows<{ partition: number; position: number }>(statement('dirty-buckets.last'))
    state.markedUpTo = new Map(found.map(({ partition, position }) => [Number(partition), Number(position)]))
  }
  const marked = state.markedUpTo
  const members = batchMembers(batch)
  const isAlone = members.every(({ partition, firstOffset }) => firstOffset > (marked.get(partition) ?? 0))
  for (const { partition, lastOffset } of members)
    marked.set(partition, Math.max(lastOffset, marked.get(partition) ?? 0))
  const { position } = state.markedAhead
  const isFirst = members.every(({ partition, lastOffset }) => partition !== 0 || lastOffset !== position)
  // Where others write the tables too, they may mark the same minutes. A whole minute takes the place of its seconds.
  return { isAlone, isBySecond: isAlone && isFirst && newCalls.known !== undefined }
}

/** The offset after everything that was taken of partition 0. */
async function nextOffset(state: State, topic: string): Promise<number> {
  const committed = (await state.deps.log.committed(topic)).find(({ partition }) => partition === 0)?.offset ?? 0
  // Read now: more may have been taken meanwhile.
  return Math.max(committed, topic === 'calls' ? state.lastTaken : 0) + 1
}

/** The position after everything that was taken, under which rows are marked that have to be read again. */
async function nextPosition(state: State, topic: string): Promise<Position> {
  const offset = await nextOffset(state, topic)
  const { markedUpTo } = state
  if (topic === 'calls') markedUpTo?.set(0, Math.max(markedUpTo.get(0) ?? 0, offset))
  return { topic, partition: 0, offset }
}

async function nextDirty(state: State): Promise<DirtyPositions> {
  const { partition, offset: lastOffset } = await nextPosition(state, 'calls')
  return dirtyAt([{ partition, lastOffset }])
}

async function insertRows(
  { store, deadLetters, control }: ApplierDeps,
  batch: Batch,
  rows: SegmentRow[] | undefined,
): Promise<number> {
  if (!rows) {
    try {
      const { rowsRead } = await store.insert(topicNamed(batch.topic), batch.source)
      if (rowsRead === batch.rowCount) return 0
    } catch (error) {
      if (!isRefusal(error)) throw error
    }
  }
  return insertWithoutRefused(batch.topic, rows ?? (await segmentRows(batch)), {
    store,
    deadLetters,
    ...(control && { control: () => control(batch) }),
  })
}

/** Rows of calls that cannot go in as they came; undefined when all can. */
async function movedRows(
  store: Store,
  batch: Batch,
  some: SegmentRow[] | undefined,
  spans: SpansOfRows | undefined,
): Promise<SegmentRow[] | undefined> {
  if (batch.topic !== 'calls') return undefined
  const read = async () => (some ? await rowsByCall(some) : await withSourceRows(batch, rowsByCall)).spans
  return withSharedTimesMoved(store, spans ?? (await read()), async () => some ?? segmentRows(batch))
}

async function settleShares(
  { shares, onSpans }: ApplierDeps,
  spans: SpansOfRows | undefined,
  isNew: boolean,
  marked: () => Promise<DirtyPositions>,
): Promise<void> {
  if (spans === undefined) return
  onSpans?.(spans)
  if (shares === undefined) return
  if (spans.traces.size + spans.mixed.size + spans.others.size === 0) return
  await shares.settle(spans, await marked(), isNew)
}

/**
 * Takes all or some rows of a batch through the steps of its topic.
 * @param noted spans of rows that are applied once more: what these change is marked under the next position
 */
async function applyOnce(
  state: State,
  { insertNew, beforeInsert, afterInsert }: Materializer,
  batch: Batch,
  rows: SegmentRow[] | undefined,
  noted: SpansOfRows | undefined,
): Promise<number> {
  const spans = (): SpansOfRows | undefined => noted ?? state.newCalls?.spansOf(batch)
  const marking = await markingOf(state, batch, rows)
  const isIn = (await insertNew?.(batch, rows, marking)) ?? false
  let refused = 0
  if (!isIn) {
    await beforeInsert(batch)
    const moved = await movedRows(state.deps.store, batch, rows, spans())
    refused = await insertRows(state.deps, batch, moved ?? rows)
    await afterInsert(batch, marking.isBySecond)
  }
  const marked = async () => (noted ? nextDirty(state) : dirtyAt(batchMembers(batch)))
  await settleShares(state.deps, spans(), isIn, marked)
  return refused
}

async function applyWith(
  state: State,
  materializer: Materializer,
  whole: Batch,
  some: SegmentRow[] | undefined,
  noted?: SpansOfRows,
): Promise<number> {
  let dead = 0
  await splitBatch(some, async (rows) => {
    const batch = rows ? withRows(whole, rows) : whole
    try {
      dead += await state.queue.run(() => applyOnce(state, materializer, batch, rows, noted))
      return []
    } catch (error) {
      const failure = failureOf(error)
      const all = failure === undefined ? [] : (rows ?? (await segmentRows(whole)))
      if (failure === undefined || failure === 'refused row' || all.length < 2) throw error
      return cut(all, failure)
    }
  })
  return dead
}

function applyBatch(state: State, batch: Batch, rows: SegmentRow[] | undefined): Promise<number> {
  if (batch.topic === 'calls')
    for (const { partition, lastOffset } of batchMembers(batch))
      if (partition === 0) state.lastTaken = Math.max(state.lastTaken, lastOffset)
  return applyWith(state, materializerOf(state, batch.topic), batch, rows)
}

async function reapplyRows(state: State, topic: string, rows: SegmentRow[]): Promise<void> {
  const { calls, newCalls } = state
  const noted = topic === 'calls' ? await newCalls?.note(rows) : undefined
  const materializer =
    topic === 'calls' ? calls.reapplied(() => nextPosition(state, 'calls')) : materializerOf(state, topic)
  await applyWith(state, materializer, batchOfRows(await nextPosition(state, topic), rows), rows, noted)
}

/** Marks the seconds of calls whose counts change without a batch; whole minutes where others write the tables too. */
async function markCalls(state: State, calls: readonly StartedCall[]): Promise<void> {
  const { store, newCalls } = state.deps
  const position = await nextOffset(state, 'calls')
  if (state.markedAhead.position !== position) state.markedAhead = { position, seconds: new Map() }
  const { seconds } = state.markedAhead
  const changed = new Set<string>()
  for (const { project, started_us } of calls) {
    const second = Math.floor(started_us / 1e6)
    const key = JSON.stringify([project, 0, position, second - (second % 60)]).slice(0, -1)
    seconds.set(key, (seconds.get(key) ?? 0n) | (1n << BigInt(second % 60)))
    changed.add(key)
  }
  // Rows under one position replace each other: minutes that may be marked whole there stay so.
  const isBySecond = newCalls?.known !== undefined && (state.markedUpTo?.get(0) ?? position) < position
  const rows = Array.from(changed, (key) => `${key},${isBySecond ? seconds.get(key) : 0}]`)
  await store.command(statement('dirty-buckets-of-new', {}, { rows: rows.join('\n') }))
}

async function runExclusive<T>({ deps }: State, job: () => Promise<T>): Promise<T> {
  try {
    return await job()
  } finally {
    // It may have exchanged tables.
    deps.newCalls?.known?.forget()
    deps.shares?.forget()
  }
}

export function createApplier(deps: ApplierDeps): Applier {
  const { store, committedCalls = async () => [], budget, shares } = deps
  const queue = createSerialQueue()
  const calls = createCallMaterializer(store, deps.logJoins)
  const newCalls = deps.newCalls && createNewCallsInsert(store, deps.newCalls)
  const markedAhead = { position: 0, seconds: new Map() }
  const state: State = { deps, queue, calls, newCalls, lastTaken: 0, markedUpTo: undefined, markedAhead }
  const nextCalls = () => nextPosition(state, 'calls')
  const mergeNamed: typeof calls.mergeNamed = async (at, named) => {
    await calls.mergeNamed(at, named)
    await shares?.settleCalls(named, await nextDirty(state))
  }
  const deduplication = createDeduplication({
    store,
    calls: { mergeNamed },
    queue,
    committed: committedCalls,
    next: nextCalls,
    ...(budget && { budget }),
  })
  const recount = (range: TimeRange) => queue.run(async () => calls.markRangeDirty(await nextCalls(), range))
  return {
    apply: (batch, rows) => applyBatch(state, batch, rows),
    reapply: (topic, rows) => reapplyRows(state, topic, rows),
    recount,
    recountCalls: (calls) => queue.run(() => markCalls(state, calls)),
    async recountShares(range) {
      await queue.run(async () => shares?.settleStored(range))
      await recount(range)
    },
    exclusive: (job) => queue.run(() => runExclusive(state, job)),
    deduplicateChanged: deduplication.changed,
    deduplicateAll: deduplication.all,
    stop: deduplication.stop,
    close: queue.close,
  }
}
