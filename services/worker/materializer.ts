// Steps of a topic around the insert of a batch into its landing table.
import type { Batch } from '../core/log/log.ts'

/** Each step may run again for the same batch and must then change nothing. */
export type Materializer = {
  topic: string
  beforeInsert(batch: Batch): Promise<void>
  afterInsert(batch: Batch): Promise<void>
}
