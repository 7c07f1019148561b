// Applies a batch at once or, when that is too much for the store, in portions: any boundaries give the same answer.

import type { SerialQueue } from '../../core/concurrency/serial-queue.ts'
import type { Batch } from '../../core/log/log.ts'
import { type Store, StoreError } from '../../core/store/store.ts'
import { topicNamed } from '../../events/registry.ts'
import type { DeadLetters } from '../dead-letters/dead-letters.ts'
import type { Materializer } from '../materializer.ts'
import { insertWithoutRefused, isDataError } from './bisect.ts'
import type { ControlInsert } from './control.ts'
import { byMonths, touchesTooManyMonths } from './months.ts'
import { isPatch, type SegmentRow, segmentRows } from './segment-rows.ts'

const isTooMuch = ({ kind }: StoreError): boolean => kind === 'memory' || kind === 'timeout'

/** Smaller portions that may succeed where the whole failed; null when there are none. */
function smaller(error: unknown, rows: SegmentRow[]): SegmentRow[][] | null {
  if (!(error instanceof StoreError) || rows.length < 2) return null
  const half = rows.length >> 1
  const halves = [rows.slice(0, half), rows.slice(half)]
  if (isTooMuch(error)) return halves
  if (!touchesTooManyMonths(error)) return null
  const portions = byMonths(rows)
  return portions.length > 1 ? portions : halves
}

/** The part of a batch that holds these rows. */
export const portionOf = (batch: Batch, rows: SegmentRow[]): Batch => ({
  ...batch,
  rowCount: rows.length,
  patchCount: batch.patchCount === 0 ? 0 : rows.filter(isPatch).length,
})

/**
 * @param deps.queue one portion at a time: the scratch tables belong to it; others' work goes in between
 * @returns a function that applies a batch, or those of its rows that are sound, and tells how many became dead letters
 */
export function createPortions(deps: {
  store: Pick<Store, 'insert'>
  deadLetters: Pick<DeadLetters, 'add'>
  queue: SerialQueue
  /** Whether it is the tables that are at fault; absent: never asked. */
  control?: ControlInsert
}) {
  const { store, deadLetters, queue, control } = deps

  const insert = async (batch: Batch, rows: SegmentRow[] | undefined): Promise<number> => {
    if (!rows) {
      try {
        const { rowsRead } = await store.insert(topicNamed(batch.topic), batch.source)
        if (rowsRead === batch.rowCount) return 0
      } catch (error) {
        if (!isDataError(error)) throw error
      }
    }
    return insertWithoutRefused(batch.topic, rows ?? (await segmentRows(batch)), {
      ...{ store, deadLetters },
      ...(control && { control: () => control(batch) }),
    })
  }

  const once = async (materializer: Materializer, batch: Batch, rows: SegmentRow[] | undefined): Promise<number> => {
    await materializer.beforeInsert(batch)
    const dead = await insert(batch, rows)
    await materializer.afterInsert(batch)
    return dead
  }

  return async function apply(
    materializer: Materializer,
    batch: Batch,
    rows: SegmentRow[] | undefined,
  ): Promise<number> {
    try {
      return await queue.run(() => once(materializer, batch, rows))
    } catch (error) {
      const portions = smaller(error, rows ?? (error instanceof StoreError ? await segmentRows(batch) : []))
      if (portions === null) throw error
      let dead = 0
      for (const portion of portions) dead += await apply(materializer, portionOf(batch, portion), portion)
      return dead
    }
  }
}
