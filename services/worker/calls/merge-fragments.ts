// Materializes the topic calls: rows in, fold of the touched calls, marks of the touched minutes.

import type { Batch, Position } from '../../core/log/log.ts'
import type { Store } from '../../core/store/store.ts'
import { joinedEventNames } from '../../events/gen-ai-events.ts'
import { type DirtyPositions, dirtyAt, dirtyPositionsOf } from '../combined-batch.ts'
import type { Materializer } from '../materializer.ts'
import { monthsAtOnce, type TimeRange, touchesTooManyMonths } from '../split/months.ts'
import { statement } from '../statements.ts'

/** Above this many finished rows the look for other start times is left to the sweep: it costs a read per id. */
export const lookupRows = 2_000

/** Beyond every time of a call. */
const maxUs = Number.MAX_SAFE_INTEGER

type Scratch = 'calls_batch' | 'calls_touched' | 'calls_folded'

type AppliedBatch = Pick<Batch, 'partition' | 'rowCount' | 'patchCount' | 'lastOffset'>

type At = Pick<Position, 'partition' | 'offset'>

/**
 * Where marks of what is no batch of the log go: past everything that is committed, so that no recompute covers them
 * that had begun before. Asked when its rows are there: what was asked before may be covered by then.
 */
export type NextPosition = () => Promise<At>

export type CallMaterializer = Materializer & {
  afterInsert(batch: AppliedBatch): Promise<void>
  /** For rows that were applied before, as they are applied once more. */
  reapplied(next: NextPosition): Materializer
  /** Folds calls that arrived whole under two start times in large segments. */
  mergeNamed(next: NextPosition, calls: readonly { project_id: string; id: string }[]): Promise<void>
  /** Makes every count and copy of a range due again. */
  markRangeDirty(position: At, range: TimeRange): Promise<void>
}

/** @param joined projects whose spans have log records that become part of them; none when absent */
export function createCallMaterializer(store: Store, joined: () => readonly string[] = () => []): CallMaterializer {
  /** Scratch tables that may hold rows of the previous batch; after a start that is all of them. */
  const filled = new Set<Scratch>(['calls_batch', 'calls_touched', 'calls_folded'])

  const empty = async (): Promise<void> => {
    for (const table of filled) {
      await store.command({ name: `truncate.${table}`, sql: `TRUNCATE TABLE callhouse.${table}`, params: {} })
      filled.delete(table)
    }
  }

  /** Joins the touched calls into `calls_folded`, and hides turns that they were. */
  const mergeAffected = async (): Promise<void> => {
    filled.add('calls_folded')
    await store.command(statement('calls-fold'))
    await store.command(statement('calls-fold-turns'))
  }

  /** Copies what was folded into the table: at once, or a few months at a time when it lies in many. */
  const insertMerged = async (): Promise<void> => {
    const copy = (from: number, before: number) => store.command(statement('calls-apply-fold', { from, before }))
    try {
      await copy(-maxUs, maxUs)
    } catch (error) {
      if (!touchesTooManyMonths(error)) throw error
      const months = await store.rows<{ us: number }>({
        name: 'calls-folded-months',
        sql: `SELECT DISTINCT toFloat64(toUnixTimestamp(toStartOfMonth(started_at))) * 1000000 AS us
          FROM callhouse.calls_folded ORDER BY us`,
        params: {},
      })
      for (let i = 0; i < months.length; i += monthsAtOnce)
        await copy(Number(months[i]?.us), Number(months[i + monthsAtOnce]?.us ?? maxUs))
    }
  }

  /** For segments without patches: usually nothing else has to be done, and one statement says so. */
  const probeAffected = async (lookUp: boolean): Promise<{ hasPartsElsewhere: boolean; wasStored: boolean }> => {
    const [row] = await store.rows<{ found: number }>(statement('calls-touched-probe', { look_up: lookUp ? 1 : 0 }))
    const found = Number(row?.found)
    return { hasPartsElsewhere: (found & 1) !== 0, wasStored: (found & 2) !== 0 }
  }

  const markDirty = (marked: DirtyPositions, name: 'call-marks' | 'call-unswept' = 'call-marks'): Promise<void> =>
    store.command(statement(name, marked))

  const dirtyAtNext = async (next: NextPosition): Promise<DirtyPositions> => {
    const { partition, offset: lastOffset } = await next()
    return dirtyAt([{ partition, lastOffset }])
  }

  const before = async (): Promise<void> => {
    await empty()
    // from here on the insert fills it, also one that fails halfway
    filled.add('calls_batch')
  }

  /** @param marked where the marks go, asked whenever some are written */
  const finish = async (batch: AppliedBatch, marked: () => Promise<DirtyPositions>): Promise<void> => {
    const lookUp = batch.rowCount > batch.patchCount && batch.rowCount <= lookupRows
    const mark = async () => markDirty(await marked())
    if (batch.rowCount > batch.patchCount && !lookUp) await markDirty(await marked(), 'call-unswept')
    const hasPatches = batch.patchCount > 0
    // The marks of a segment without patches are complete unless something has to be folded, which is seldom.
    const [{ hasPartsElsewhere, wasStored }] = hasPatches
      ? [{ hasPartsElsewhere: true, wasStored: lookUp }]
      : await Promise.all([probeAffected(lookUp), mark()])
    if (wasStored) await store.command(statement('calls-turns-again'))
    if (hasPartsElsewhere) {
      filled.add('calls_touched')
      await store.command(statement('calls-touched'))
      if (lookUp) await store.command(statement('calls-touched-again'))
      await mergeAffected()
      await insertMerged()
      await mark()
    }
    const projects = joined()
    if (projects.length > 0) await store.command(statement('log-joins-again', { projects, events: joinedEventNames }))
  }

  return {
    topic: 'calls',
    beforeInsert: before,
    afterInsert(batch) {
      const marked = dirtyPositionsOf(batch)
      return finish(batch, async () => marked)
    },
    reapplied: (next) => ({
      topic: 'calls',
      beforeInsert: before,
      afterInsert: (batch) => finish(batch, () => dirtyAtNext(next)),
    }),
    async mergeNamed(next, calls) {
      await empty()
      filled.add('calls_touched')
      const [projects, ids] = [calls.map((call) => call.project_id), calls.map(({ id }) => id)]
      await store.command(statement('calls-touched-named', { projects, ids }))
      await mergeAffected()
      // Marks first: no later sweep would find rows that were stored without their marks. And again: where others apply
      // the log too, the first ones may be covered by now.
      await markDirty(await dirtyAtNext(next))
      await insertMerged()
      await markDirty(await dirtyAtNext(next))
    },
    markRangeDirty: ({ partition, offset }, { fromUs: from, beforeExclusiveUs: before }) =>
      store.command(statement('call-marks-again', { partition, position: offset, from, before })),
  }
}
