// Materializes the topic calls: inserts rows, merges the fragments of affected calls, marks changed minutes as dirty.
import type { Batch, Position } from '../../core/log/log.ts'
import { statement } from '../../core/store/statements.ts'
import type { Store } from '../../core/store/store.ts'
import type { TimeRange } from '../../derived/time-range.ts'
import { evaluationEvent, joinedEventNames } from '../../events/gen-ai-events.ts'
import { failureOf, monthsAtOnce } from '../split/cuts.ts'
import { type DirtyPositions, dirtyAt, dirtyPositionsOf } from './dirty-positions.ts'
import type { Materializer } from './materializer.ts'

/** Above this many finished rows other start times are left to the deduplication: looking up costs a read per id. */
export const lookupRows = 2_000

/** Beyond the time of any call, in microseconds. */
const maxUs = Number.MAX_SAFE_INTEGER

type Scratch = 'calls_batch' | 'calls_touched' | 'calls_folded'

type AppliedBatch = Pick<Batch, 'partition' | 'rowCount' | 'patchCount' | 'lastOffset'>

type At = Pick<Position, 'partition' | 'offset'>

/**
 * The position for dirty buckets of changes that are no batch of the log: past everything committed, so that no recompute
 * that is under way covers them. Read after the rows are in: an earlier answer may be covered by then.
 */
export type NextPosition = () => Promise<At>

export type CallMaterializer = Omit<Materializer, 'afterInsert'> & {
  /** @param isJoined whether its calls of projects with log records hold those already */
  afterInsert(batch: AppliedBatch, isBySecond?: boolean, isJoined?: boolean): Promise<void>
  /** The same steps for rows that were applied before. */
  reapplied(next: NextPosition): Materializer
  /** Merges calls that large batches brought whole under two start times. */
  mergeNamed(next: NextPosition, calls: readonly { project_id: string; id: string }[]): Promise<void>
  /** Marks every minute of a range as dirty. */
  markRangeDirty(position: At, range: TimeRange): Promise<void>
}

/** Projects whose spans have log records that become part of their calls; null = not known yet, any may have some. */
export type LogJoins = {
  projects(): readonly string[] | null
  /** Those of them with evaluations that name the response of a call. */
  evaluated(): readonly string[] | null
  /** Those of them with records of coding agents that name no prompt. */
  turned(): readonly string[] | null
  /** A batch had spans of these projects. */
  onSpans(): void
  /** Whether this process made the row of a span and its log records: no more of them wait for it. */
  isJoined(project: string, id: string, clock: string): boolean
}

/** What a batch without patches needs besides its rows. */
type Probed = { hasPartsElsewhere: boolean; wasStored: boolean; mayJoin: boolean }

/** As parameters of a statement. */
const among = (projects: readonly string[] | null) => ({ any: projects === null ? 1 : 0, projects: projects ?? [] })

const noLogJoins: LogJoins = {
  projects: () => [],
  evaluated: () => [],
  turned: () => [],
  onSpans: () => {},
  isJoined: () => false,
}

type State = {
  store: Store
  logJoins: LogJoins
  /** Scratch tables that may hold rows of the previous batch; all of them after a start. */
  filled: Set<Scratch>
}

async function emptyScratch({ store, filled }: State): Promise<void> {
  for (const table of filled) {
    await store.command(statement('truncate', {}, { table }))
    filled.delete(table)
  }
}

/** Merges the affected calls into `calls_folded`, and hides them in threads that they left. */
async function mergeAffected({ store, filled }: State): Promise<void> {
  filled.add('calls_folded')
  await store.command(statement('calls-merge-fragments'))
  await store.command(statement('calls-hide-merged-turns'))
}

/** Copies the merged calls into the table: at once, or a few months at a time when they lie in many. */
async function insertMerged({ store }: State): Promise<void> {
  const copy = (from: number, before: number) => store.command(statement('calls-insert-merged', { from, before }))
  try {
    await copy(-maxUs, maxUs)
  } catch (error) {
    if (failureOf(error) !== 'too many months') throw error
    const months = await store.rows<{ us: number }>(statement('calls-merged-months'))
    for (let i = 0; i < months.length; i += monthsAtOnce)
      await copy(Number(months[i]?.us), Number(months[i + monthsAtOnce]?.us ?? maxUs))
  }
}

/** Asks in one statement whether a batch without patches needs more than its insert; usually it does not. */
async function probeAffected({ store }: State, lookUp: boolean, joined: readonly string[] | null): Promise<Probed> {
  const [row] = await store.rows<{ found: number }>(
    statement('calls-affected-probe', { look_up: lookUp ? 1 : 0, ...among(joined) }),
  )
  const found = Number(row?.found)
  return { hasPartsElsewhere: (found & 1) !== 0, wasStored: (found & 2) !== 0, mayJoin: (found & 4) !== 0 }
}

const markDirty = (
  { store }: State,
  marked: DirtyPositions,
  name: 'dirty-buckets' | 'dirty-buckets-to-deduplicate' = 'dirty-buckets',
): Promise<void> => store.command(statement(name, marked))

async function dirtyAtNext(next: NextPosition): Promise<DirtyPositions> {
  const { partition, offset: lastOffset } = await next()
  return dirtyAt([{ partition, lastOffset }])
}

async function beforeInsert(state: State): Promise<void> {
  await emptyScratch(state)
  // The insert fills it, also one that fails halfway.
  state.filled.add('calls_batch')
}

/** Makes joins of the calls with log records due again. @param isJoined whether they hold those already */
async function joinAgain(
  { store, logJoins }: State,
  projects: readonly string[] | null,
  isJoined: boolean,
): Promise<void> {
  const evaluation = evaluationEvent
  const events = [...joinedEventNames, evaluation]
  if (!isJoined) await store.command(statement('log-joins-again', { ...among(projects), events, evaluation }))
  // The response of a call may be known from its records alone.
  const evaluated = logJoins.evaluated()
  if (evaluated?.length !== 0)
    await store.command(statement('log-joins-again-responses', { ...among(evaluated), evaluation }))
  const turned = logJoins.turned()
  if (turned?.length !== 0) await store.command(statement('log-turns-again', among(turned)))
  if (!isJoined || evaluated?.length !== 0 || turned?.length !== 0) logJoins.onSpans()
}

/** @param marked returns the positions of dirty buckets; called each time some are written */
async function finish(
  state: State,
  batch: AppliedBatch,
  marked: () => Promise<DirtyPositions>,
  isJoined = false,
): Promise<void> {
  const { store, logJoins, filled } = state
  const lookUp = batch.rowCount > batch.patchCount && batch.rowCount <= lookupRows
  const mark = async () => markDirty(state, await marked())
  if (batch.rowCount > batch.patchCount && !lookUp)
    await markDirty(state, await marked(), 'dirty-buckets-to-deduplicate')
  const hasPatches = batch.patchCount > 0
  // The dirty buckets of a batch without patches are complete unless calls have to be merged, which is rare.
  const projects = logJoins.projects()
  const [{ hasPartsElsewhere, wasStored, mayJoin }] = hasPatches
    ? [{ hasPartsElsewhere: true, wasStored: lookUp, mayJoin: projects?.length !== 0 }]
    : await Promise.all([probeAffected(state, lookUp, projects), mark()])
  if (wasStored) await store.command(statement('calls-hide-turns'))
  if (hasPartsElsewhere) {
    filled.add('calls_touched')
    await store.command(statement('calls-affected'))
    if (lookUp) await store.command(statement('calls-affected-by-start'))
    await mergeAffected(state)
    await insertMerged(state)
    await mark()
  }
  if (mayJoin) await joinAgain(state, projects, isJoined)
}

async function mergeNamed(
  state: State,
  next: NextPosition,
  calls: readonly { project_id: string; id: string }[],
): Promise<void> {
  await emptyScratch(state)
  state.filled.add('calls_touched')
  const [projects, ids] = [calls.map((call) => call.project_id), calls.map(({ id }) => id)]
  await state.store.command(statement('calls-affected-named', { projects, ids }))
  await mergeAffected(state)
  // Dirty buckets first: no later deduplication finds rows that were stored without them. And once more: where other
  // workers apply the log too, the first ones may be covered by now.
  await markDirty(state, await dirtyAtNext(next))
  await insertMerged(state)
  await markDirty(state, await dirtyAtNext(next))
}

export function createCallMaterializer(store: Store, logJoins = noLogJoins): CallMaterializer {
  const state: State = { store, logJoins, filled: new Set(['calls_batch', 'calls_touched', 'calls_folded']) }
  return {
    topic: 'calls',
    beforeInsert: () => beforeInsert(state),
    afterInsert(batch, isBySecond, isJoined) {
      const marked = dirtyPositionsOf(batch, isBySecond)
      return finish(state, batch, async () => marked, isJoined)
    },
    reapplied: (next) => ({
      topic: 'calls',
      beforeInsert: () => beforeInsert(state),
      afterInsert: (batch) => finish(state, batch, () => dirtyAtNext(next)),
    }),
    mergeNamed: (next, calls) => mergeNamed(state, next, calls),
    markRangeDirty: ({ partition, offset }, { fromUs: from, beforeExclusiveUs: before }) =>
      store.command(statement('dirty-buckets-of-range', { partition, position: offset, from, before })),
  }
}
