// The query log: what each read took, what it gave, how many rows it went through, and which path served it.
import type { Registry } from 'prom-client'
import type { Logger } from '../process/logger.ts'
import { metricsIn } from '../process/metrics-in.ts'
import type { ReadTimes } from './read-times.ts'
import type { Query, QueryOptions, Store } from './store.ts'

/**
 * The way in which a read finds its rows:
 * - `rollup`: counters and statistics of minutes and hours, with what those do not cover
 * - `text`: a text index over documents
 * - `side columns`: values that were taken out of documents
 * - `index`: a table of keys (of calls, turns, feedback of a call)
 * - `keys`: single rows by their keys
 * - `window`: calls or documents of a range of time
 * - `scan`: all calls or documents of a project
 * - `table`: any other table
 */
type ReadPath = 'rollup' | 'text' | 'side columns' | 'index' | 'keys' | 'window' | 'scan' | 'table'

/** Patterns of the program's own SQL, in which values are parameters. The first that fits. */
const paths: readonly (readonly [path: ReadPath, fits: RegExp])[] = [
  ['rollup', /\bcallhouse\.call_(stats|counts)/],
  ['text', /\bhas(All|Any)Tokens\(/],
  ['side columns', /\bcallhouse\.payload_(leaves|chunks)\b/],
  ['index', /\bcallhouse\.(call_keys|turns|feedback_by_ref)\b/],
  ['table', /^(?![\s\S]*\bcallhouse\.(calls|payloads)\b)/],
  ['keys', /\b(started_at|at) IN \(SELECT fromUnixTimestamp64Micro\(/],
  ['window', /\b(started_at|at) (>=|<) fromUnixTimestamp64Micro\(/],
]

const readPathOf = (sql: string): ReadPath => paths.find(([, fits]) => fits.test(sql))?.[0] ?? 'scan'

/** A read that takes longer is told to the operator. */
const slowMs = 1_000

const countLines = (bytes: Buffer): number => {
  let lines = 0
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) lines++
  return lines
}

/**
 * The same store with a line per read: at level debug, with the estimate of rows read at level trace. Slow reads are
 * told at level info, with the estimate unless another one is under way. Takes: milliseconds, waiting for a connection included.
 */
export function withReadLog(
  store: Store,
  deps: { logger: Logger; registry: Registry; times?: Pick<ReadTimes, 'add'> },
): Store {
  const { logger, registry, times } = deps
  const { counter, histogram } = metricsIn(registry)
  const seconds = histogram(
    'callhouse_read_seconds',
    'Time of reads from the store, by how they find their rows',
    [0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1, 5, 30],
    ...(['path', 'outcome'] as const),
  )
  const answered = counter('callhouse_read_bytes_total', 'Bytes of the answers of reads', 'path')

  let estimates = 0

  /**
   * Rows that the engine has to go through, by its index; of the tables that the read is about. It stands in no
   * project's line: where reads are slow because many wait, it would keep requests from waiting there.
   */
  async function estimate({ projectId: _, ...query }: Query, options: QueryOptions): Promise<number | undefined> {
    const { signal: __, ...rest } = options
    const explained = { ...query, name: 'read-log.estimate', sql: `EXPLAIN ESTIMATE ${query.sql}` }
    estimates++
    const tables = await store.rows<{ rows: string | number }>(explained, rest).catch(() => [])
    estimates--
    return tables.length === 0 ? undefined : tables.reduce((sum, table) => sum + Number(table.rows), 0)
  }

  async function log(query: Query, options: QueryOptions, fields: { ms: number; rows?: number; bytes?: number }) {
    const { ms, ...sizes } = fields
    const isSlow = ms >= slowMs
    if (!isSlow && !logger.isLevelEnabled('debug')) return
    // One of many slow reads at a time is estimated: the others are slow for the same reason.
    const isEstimated = (isSlow && estimates === 0) || logger.isLevelEnabled('trace')
    const rowsRead = isEstimated ? await estimate(query, options) : undefined
    const { pool = 'interactive' } = options
    const line = {
      read: query.name,
      path: readPathOf(query.sql),
      ms: Math.round(ms * 10) / 10,
      rowsRead,
      ...sizes,
      pool,
    }
    if (isSlow) logger.info(line, 'slow read')
    else logger.debug(line, 'read')
  }

  async function timed<T>(
    query: Query,
    options: QueryOptions,
    read: () => Promise<T>,
    sizesOf: (answer: T) => { rows?: number; bytes?: number },
  ): Promise<T> {
    const startedMs = performance.now()
    const path = readPathOf(query.sql)
    let outcome = 'failed'
    try {
      const answer = await read()
      outcome = 'ok'
      const ms = performance.now() - startedMs
      const sizes = sizesOf(answer)
      if (sizes.bytes) answered.labels(path).inc(sizes.bytes)
      void log(query, options, { ms, ...sizes })
      return answer
    } finally {
      const tookMs = performance.now() - startedMs
      seconds.labels(path, outcome).observe(tookMs / 1000)
      times?.add(query.name, path, tookMs)
    }
  }

  return {
    ...store,
    rows: <T>(query: Query, options: QueryOptions = {}) =>
      timed(
        query,
        options,
        () => store.rows<T>(query, options),
        (rows) => ({ rows: rows.length }),
      ),
    bytes: (query, format, options = {}) =>
      timed(
        query,
        options,
        () => store.bytes(query, format, options),
        (answer) => ({
          bytes: answer.length,
          ...(format.startsWith('JSON') && logger.isLevelEnabled('debug') ? { rows: countLines(answer) } : {}),
        }),
      ),
  }
}
