// What one way of making a table anew has and does.
import type { Log } from '../../core/log/log.ts'
import type { StoredRecord } from '../../core/log/segments/read.ts'
import type { Store } from '../../core/store/store.ts'
import type { Rollups } from '../../worker/rollups/rollups.ts'
import type { Worker } from '../../worker/run.ts'
import type { ShadowTables, SharedServer } from './shadow-tables.ts'

export type KindDeps = {
  store: Store
  log: Pick<Log, 'end' | 'committed' | 'identity'>
  worker: RebuildingWorker
  /** Records of a topic's partition that the log still holds, `toOffset` included. */
  records(topic: string, partition: number, fromOffset: number, toOffset: number): AsyncIterable<StoredRecord>
  /** Other processes insert too: what must not be missed meanwhile is mirrored, and done once more after the exchange. */
  server?: SharedServer
}

/** What of the worker a rebuild needs; where it is alone in its process, nothing has to wait for it. */
export type RebuildingWorker = Pick<Worker, 'exclusive' | 'deduplicateAll' | 'reapply'> & {
  rollups: Pick<Rollups, 'exclusive'>
  fieldIndexRollups: Pick<Rollups, 'exclusive'>
}

/** What one rebuild tells and keeps while it works. */
export type RebuildTask = {
  /**
   * How far it got: by partition the last record of the log, or the time (us) before which everything is done. Kept
   * over a kill; empty at the beginning.
   */
  cursor: number[]
  /** A portion is done and durable; rests. */
  onProgress(portion: { cursor: number[]; rows: number; tookMs: number; done: number; of: number }): Promise<void>
  note(text: string): void
  /** Later passes are faster: what comes in meanwhile must not outrun them. */
  raiseRate(): void
  /** Rests no more: others wait. */
  unthrottle(): void
  signal: AbortSignal
}

export type RebuildKind = {
  shadow: ShadowTables
  /** Steps after the tables were made, once. */
  begin(signal: AbortSignal): Promise<void>
  /** Fills the shadow as far as it can while everything goes on. */
  fill(task: RebuildTask): Promise<void>
  /** Fills in the rest and calls `exchange` while nothing writes to the tables. */
  finish(task: RebuildTask, exchange: (options?: { background: boolean }) => Promise<void>): Promise<void>
  /** Steps after the exchange. */
  after(): Promise<void>
}
