// What turns the batches of a topic into the rows of its tables, beyond the insert into the landing table.
import type { Batch } from '../core/log/log.ts'

/** Steps around the insert of a batch. Every step may run again for the same batch and must then change nothing. */
export type Materializer = {
  topic: string
  beforeInsert(batch: Batch): Promise<void>
  afterInsert(batch: Batch): Promise<void>
}
