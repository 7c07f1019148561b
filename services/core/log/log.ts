// The log port: what every driver MUST and MAY do. The contract suite in test/engine runs against each driver.

import type { Refusal } from '../errors.ts'

/**
 * A point in a topic: number of the last record, counted from 1 per topic and partition. 0 = nothing. The embedded log
 * has one partition, 0.
 */
export type Position = { topic: string; partition: number; offset: number }

/** Limits for splitting the rows of one append into records. */
export type RecordSplit = { partitions?: number; maxRecordBytes?: number }

/** An append of the edge: one request's rows of one topic, already serialized. */
export type RecordInput = {
  /**
   * Rows as JSON Lines: each row `{"project_id":…}` ended by \n; the first byte of each is `{`. The bytes may change
   * after `append` has resolved.
   */
  rows: Buffer
  rowCount: number
  /** Number of rows that are patches (topic calls only). */
  patchCount: number
  /** Greatest accept timestamp among the rows. */
  clock: bigint
  /** Bytes of the rows by project; absent: not known. */
  projects?: ReadonlyMap<string, number>
  /** Calls that the rows begin, by project (topic calls only). */
  begun?: ReadonlyMap<string, number>
  /** Partition key: hash of project and call id; rows of one record share it on a partitioned log. */
  key: string
}

/** Header of a stored record, in `_record` of its first row. */
export type RecordHeader = {
  offset: number
  /** Row structure version of the topic (topic.ts). */
  version: number
  rowCount: number
  patchCount: number
  clock: bigint
  sizeBytes: number
}

/** The rows of a record after some were exchanged, as many as before, and how many of them are patches; null = none was. */
export type ChangeRows = (rows: Buffer, header: RecordHeader) => { rows: Buffer; patchCount: number } | null

/** Consecutive records of one topic and partition, to be applied as one insert. */
export type Batch = {
  topic: string
  partition: number
  firstOffset: number
  lastOffset: number
  records: RecordHeader[]
  rowCount: number
  patchCount: number
  /** Rows of all records: a file that the engine can read by itself (embedded), or bytes to send (server). */
  source: { file: string } | { bytes: Buffer[] }
  /** Milliseconds since 1970 at which the oldest record was appended. */
  oldestMs: number
}

export type LogHealth = {
  status: 'ok' | 'degraded' | 'down'
  reason?: string
  /** Records that were durable and are gone, found when the log was opened; names no paths. */
  lost?: string
  /** Bytes that are appended and not applied. */
  unappliedBytes: number
  /** Age of the oldest unapplied record in milliseconds, 0 if there is none. */
  lagMs: number
}

/** Records that are appended to a partition and not applied; an estimate where other processes append and apply too. */
export type Lag = {
  topic: string
  partition: number
  records: number
  bytes: number
  /** Age of the oldest record, 0 if there is none. */
  ageMs: number
  /** Whether this process applies the partition. */
  isOwn: boolean
}

/** Records of a partition that the log holds; `first` is `end + 1` when there are none. */
export type KeptRange = { partition: number; first: number; end: number }

/** The identity of a topic among all topics of all logs, and its contents. */
export type TopicIdentity = {
  topic: string
  /** Random, made with the topic; empty when the topic is gone. */
  id: string
  kept: KeptRange[]
}

/**
 * MUST: `append` resolves only after the record is durable, and keeps the order of appends to one topic and partition;
 * one whose rows go to blob storage first may be passed by others.
 * MUST: a record that was acknowledged is delivered to `consume` until its position is committed, also after a crash.
 * MUST: records come whole and intact; a torn tail that was never acknowledged disappears, other damage stops the start.
 * MUST: refuse with 429 (too many unapplied bytes) or 503 (disk, closed) and never drop or grow without bound.
 * MAY: deliver a record again after a crash, with other batch boundaries.
 */
export type Log = {
  /** Names of the topics that it was opened with. */
  topics: readonly string[]
  append(topic: string, records: RecordInput[]): Promise<Position>
  /**
   * The reason why an append of so many bytes by project would be refused at this moment; null when it may be taken.
   * For an edge that knows the project before it makes the rows: what is refused then costs it little.
   */
  refusal(projects: ReadonlyMap<string, number>): Refusal | null
  /** Position of the last durable record of each topic, at this moment. */
  end(topic: string): Promise<Position[]>
  /**
   * A position at or before the end behind which nothing lies that was acknowledged for these projects. Absent where
   * other processes append too.
   */
  endOf?(topic: string, projects: readonly string[]): Position[]
  /**
   * Delivers batches of a topic in order, one at a time per partition; the next comes after `commit` of the last.
   * Ends when the signal aborts.
   */
  consume(topic: string, signal: AbortSignal): AsyncIterable<Batch>
  /**
   * Takes batches that wait in other partitions of the topic, to be applied together with the batch that `consume`
   * delivered last: about `bytes` of it at most, one batch of each partition that has none under way. Each is committed
   * on its own.
   */
  takeMore(topic: string, bytes: number): Batch[]
  /** Makes the position durable: everything up to it is applied and will not be delivered again. */
  commit(position: Position): Promise<void>
  /** Last committed position of each partition. */
  committed(topic: string): Promise<Position[]>
  /** Identities of all topics at this moment. */
  identity(): Promise<TopicIdentity[]>
  /** Gives every topic a new id, where the log makes them itself: whatever knew the old ones has no part in it any more. */
  renew(): Promise<void>
  /**
   * Called before `consume`: what is delivered of a partition begins after its committed position, or after the one
   * that `applied` tells, whichever is less. Where partitions go from process to process it is asked whenever some come.
   */
  beginAfter(applied: () => Promise<Position[]>): Promise<void>
  /**
   * Calls back when this process comes to the workers of the log, again too: the brokers may not be those that it knew.
   * Absent where the log is this process's own.
   */
  onRebalance?(callback: () => void): void
  /** The tables are known to hold everything up to these positions: only that may be removed by age. */
  remembered(positions: readonly Position[]): void
  /** A reader waits: seal what is there now, so that the next batch comes at once. */
  flush(topic: string): void
  /**
   * Whether this process applies the partition of the topic. For a moment it may be two, or none. The worker with
   * partition 0 does the hourly housekeeping.
   */
  owns(topic: string, partition: number): boolean
  /** Partitions of a topic; rows of calls are split by them (`createCallWriter`). */
  partitions(topic: string): number
  /** A record above this costs more: rows of calls are split before it, and a single row goes to blob storage first. */
  limits: { recordBytes: number }
  /** Greatest accept timestamp in the log when it was opened. */
  lastClock(): bigint
  health(): LogHealth
  /** Every partition of every topic. */
  lag(): Lag[]
  /**
   * Exchanges rows of all that is kept of a topic: as many rows, under the same numbers. Rows that are not applied yet
   * stay, and so does a damaged segment. Absent where records cannot be written again.
   * @returns where it is damaged
   */
  rewrite?(topic: string, change: ChangeRows): Promise<string[]>
  /** Finishes appends in flight, syncs and releases the lock. */
  close(): Promise<void>
}

/** The log as routes write to it; what it would refuse is not known in threads of requests. */
export type EdgeLog = Pick<Log, 'append' | 'flush'> & Partial<Pick<Log, 'refusal'>>
