// The store port: ClickHouse, embedded or over HTTP. The contract suite in test/engine runs against each driver.
import type { ProjectId } from '../ids.ts'
import type { Topic } from '../log/topic.ts'

/** SQL text with `{name:Type}` parameters. Values never enter the text. */
export type Query = {
  /** Name in the query log and in metrics, e.g. `calls.page`. */
  name: string
  sql: string
  params: Record<string, unknown>
  /** The project whose rows it reads; absent = rows of no project, or of all of them. Reads take turns by it. */
  projectId?: ProjectId
}

export type QueryOptions = {
  /**
   * The connections that serve it: lists and single reads, long exports and scans, or work that no one waits for.
   * Default interactive.
   */
  pool?: 'interactive' | 'export' | 'background'
  timeoutMs?: number
  memoryBytes?: number
  /** It may go through so many rows at most; absent: the setting counts. */
  maxRows?: number
  /**
   * Kills the query in the engine when it aborts. Queries that share it are of one request: when one of them was let
   * in, the others are not refused because many wait.
   */
  signal?: AbortSignal
}

/**
 * A refusal of the store: `data` = the rows can never be inserted, `outage` = the same statement may succeed later,
 * `busy` = too many of its project wait, `rows` = it would go through more rows than a read may.
 */
export class StoreError extends Error {
  readonly kind: 'data' | 'outage' | 'busy' | 'rows' | 'timeout' | 'memory' | 'cancelled' | 'query'
  /** ClickHouse error code, 0 when unknown. */
  readonly code: number
  constructor(kind: StoreError['kind'], code: number, message: string) {
    super(message)
    this.kind = kind
    this.code = code
  }
}

/** Logger for messages of drivers to an operator. */
export type StoreLogger = {
  info(fields: Record<string, unknown>, message: string): void
  warn(fields: Record<string, unknown>, message: string): void
  error(fields: Record<string, unknown>, message: string): void
}

export type StoreMetrics = {
  statement(event: { name: string; pool: string; ms: number; outcome: 'ok' | StoreError['kind'] }): void
}

export type StoreHealth = { status: 'ok' | 'degraded' | 'down'; reason?: string }

/**
 * MUST: every statement carries its own settings; none leaks to the next one.
 * MUST: `insert` reports the rows that the engine read from the source, so that the worker can compare.
 * MUST: a statement that failed or was killed leaves nothing behind for the next one.
 * MUST: reads that wait for a connection take turns by project; one that waits too long or is aborted leaves the line.
 * MUST NOT: put bytes of a caller into SQL text.
 */
export type Store = {
  /** Rows as JSON objects (64-bit integers as strings unless the query casts them). */
  rows<T>(query: Query, options?: QueryOptions): Promise<T[]>
  /** Result bytes in a ClickHouse format, e.g. JSONCompactEachRow. The whole result is in memory: page by key. */
  bytes(query: Query, format: string, options?: QueryOptions): Promise<Buffer>
  /** A statement without a result, on the insert connection, in order with the inserts (merges of calls, dirty buckets, positions).
   *  `background`: beside the inserts instead, for recomputing that no batch waits for. `beside`: beside the insert that
   *  the caller waits for as well, as soon. */
  command(query: Query, options?: { background?: boolean; beside?: boolean }): Promise<void>
  /** Inserts the rows of a source into the topic's landing table; views fill the tables. Resolves when synced. */
  insert(topic: Topic, source: { file: string } | { bytes: Buffer[] }): Promise<{ rowsRead: number }>
  /** Runs the migrations that are not applied yet. */
  migrate(): Promise<{ applied: string[] }>
  health(): Promise<StoreHealth>
  /** Waits for statements in flight, then closes the engine. */
  close(): Promise<void>
}
