// Steps of a topic around the insert of a batch into its landing table.
import type { Batch } from '../core/log/log.ts'
import type { SegmentRow } from './split/segment-rows.ts'

/** Each step may run again for the same batch and must then change nothing. */
export type Materializer = {
  topic: string
  /** Takes `some` or all rows of the batch in place of the insert and the other steps, where they need none; returns whether it did. */
  insertNew?(batch: Batch, some: SegmentRow[] | undefined, isBySecond: boolean): Promise<boolean>
  beforeInsert(batch: Batch): Promise<void>
  /** @param isBySecond whether seconds may be marked as dirty instead of minutes */
  afterInsert(batch: Batch, isBySecond?: boolean): Promise<void>
}
