// The interface of each kind of rebuild.
import type { Log } from '../../core/log/log.ts'
import type { StoredRecord } from '../../core/log/segments/read.ts'
import type { Store } from '../../core/store/store.ts'
import type { Rollups } from '../../derived/rollups/group.ts'
import type { Applier } from '../../worker/apply-batch.ts'
import type { ShadowTables, SharedServer } from './shadow-tables.ts'

export type KindDeps = {
  store: Store
  log: Pick<Log, 'end' | 'committed' | 'identity'>
  worker: RebuildingWorker
  /** Records of a topic's partition that the log still holds, `toOffset` included. */
  records(topic: string, partition: number, fromOffset: number, toOffset: number): AsyncIterable<StoredRecord>
  /** Other processes insert too: their rows are mirrored meanwhile, and reapplied after the exchange. */
  server?: SharedServer
}

/** The applier of this process, and what recomputes its rollups; nothing has to wait where a rebuild is all that runs. */
type RebuildingWorker = Pick<Applier, 'exclusive' | 'deduplicateAll' | 'reapply'> & {
  rollups: Pick<Rollups, 'exclusive'>
  fieldIndexRollups: Pick<Rollups, 'exclusive'>
}

/** Progress of one rebuild, kept while it works. */
export type RebuildTask = {
  /**
   * Its progress: by partition the last record of the log, or the time (us) before which everything is done. Survives a
   * kill; empty at the beginning.
   */
  cursor: number[]
  /** Records a batch that is done and durable, and pauses. */
  onProgress(batch: { cursor: number[]; rows: number; tookMs: number; done: number; of: number }): Promise<void>
  note(text: string): void
  /** Doubles the rate: what comes in meanwhile must not outrun the next pass. */
  raiseRate(): void
  /** Pauses no more: others wait. */
  unthrottle(): void
  signal: AbortSignal
}

export type RebuildKind = {
  shadow: ShadowTables
  /** Runs once after the tables were created. */
  begin(signal: AbortSignal): Promise<void>
  /** Fills the shadow tables as far as possible while everything else continues. */
  fill(task: RebuildTask): Promise<void>
  /** Fills in the rest and calls `exchange` while nothing writes to the tables. */
  finish(task: RebuildTask, exchange: (options?: { background: boolean }) => Promise<void>): Promise<void>
  /** Runs after the exchange. */
  after(): Promise<void>
}
