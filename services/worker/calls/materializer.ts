// Steps of a topic around the insert of a batch into its landing table.
import type { Batch } from '../../core/log/log.ts'
import type { SegmentRow } from '../../events/segment-rows.ts'

/** Ways to mark the minutes of a batch as dirty. */
export type Marking = {
  /** Nothing else is or will be marked under the batch's positions. */
  isAlone: boolean
  /** Seconds may be marked instead of minutes. */
  isBySecond: boolean
}

/** Each step may run again for the same batch and must then change nothing. */
export type Materializer = {
  topic: string
  /** Takes `some` or all rows of the batch in place of the insert and the other steps, where they need none; returns whether it did. */
  insertNew?(batch: Batch, some: SegmentRow[] | undefined, marking: Marking): Promise<boolean>
  beforeInsert(batch: Batch): Promise<void>
  afterInsert(batch: Batch, isBySecond?: boolean): Promise<void>
}
