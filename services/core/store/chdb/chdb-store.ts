// The embedded driver of the store port: one ClickHouse engine in this process, on the folder `<dir>/clickhouse`.
import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { drainPending, Session } from 'chdb'
import { createSerialQueue, type SerialQueue } from '../../concurrency/serial-queue.ts'
import { ofEngine } from '../../memory/engine-bytes.ts'
import { endAtOnce } from '../../process/end-at-once.ts'
import { toStoreError } from '../errors.ts'
import { applyMigrations } from '../migrate.ts'
import { controlTimeoutMs, graceMs, partsEveryMs, type StoreOptions, withDefaults, writeTimeoutMs } from '../options.ts'
import { parseRows } from '../rows.ts'
import {
  bind,
  type Limits,
  lowPriority,
  readSettings,
  readStatement,
  type Settings,
  writeSettings,
} from '../statement.ts'
import { type Query, type QueryOptions, type Store, StoreError, type StoreHealth, type StoreLogger } from '../store.ts'
import { timedWith } from '../timed.ts'
import { countingStatements, insertStatement } from './insert.ts'
import { quote } from './literals.ts'
import { createPartsWatch } from './parts-watch.ts'
import { createPool, type EngineResult, type Pool } from './pool.ts'
import { createSegmentPaths } from './segment-path.ts'

export type EmbeddedStoreOptions = StoreOptions & {
  /** The data folder; the engine's files are in `<dir>/clickhouse`. */
  dir: string
  /** Memory of the whole engine, caches and merges included. */
  memoryCapBytes: number
}

/** Longest statement text: lists of ids travel in it. */
const maxQuerySizeBytes = 64 * 2 ** 20

const args = (settings: Settings): string[] => Object.entries(settings).map(([name, value]) => `--${name}=${value}`)

/** Settings of the whole engine, given with its first connection. */
const serverSettings = (options: EmbeddedStoreOptions, dir: string): Settings => {
  const cache = (share: number, most: number) => Math.floor(Math.min(options.memoryCapBytes * share, most * 2 ** 20))
  return {
    // A broken part must be known before the first read.
    async_load_databases: 0,
    max_server_memory_usage: options.memoryCapBytes,
    // The cap is about this process; a container's figure would count its neighbours.
    memory_worker_use_cgroup: 0,
    mark_cache_size: cache(1 / 16, 256),
    index_mark_cache_size: cache(1 / 64, 64),
    primary_index_cache_size: cache(1 / 16, 256),
    uncompressed_cache_size: 0,
    text_index_tokens_cache_size: cache(1 / 64, 64),
    text_index_header_cache_size: cache(1 / 64, 64),
    text_index_postings_cache_size: cache(1 / 32, 128),
    query_condition_cache_size: cache(1 / 64, 64),
    compiled_expression_cache_size: cache(1 / 64, 32),
    // Merging gives way to requests.
    os_threads_nice_value_merge_mutate: 10,
    background_pool_size: 2,
    background_common_pool_size: 1,
    background_schedule_pool_size: 2,
    background_move_pool_size: 1,
    background_fetches_pool_size: 1,
    max_io_thread_pool_size: 16,
    tmp_path: join(dir, 'tmp/'),
  }
}

const sessionSettings: Settings = { max_query_size: maxQuerySizeBytes }
/** 2 = may choose limits, must not write. */
const readerSettings: Settings = { ...sessionSettings, readonly: 2 }

type EmbeddedState = ReturnType<typeof withDefaults> & {
  dir: string
  pools: ReturnType<typeof openPools>
  writeLimits: Limits
  timed: ReturnType<typeof timedWith>
  paths: ReturnType<typeof createSegmentPaths>
  /** Landing tables whose inserts are counted. */
  counted: Set<string>
  /** Commands and inserts take effect in the order of their calls. */
  writes: SerialQueue
  isClosed: boolean
}

const refuseClosed = () => new StoreError('outage', 0, 'the store is closed')

/**
 * Opens the engine and the database `callhouse`. One engine per process; one process per folder.
 * @throws StoreError when another process holds the folder, or this process has an engine on another one
 */
export async function createEmbeddedStore(options: EmbeddedStoreOptions): Promise<Store> {
  const defaults = withDefaults(options)
  const { logger, metrics, migrationsDir, baseline } = defaults
  const { interactiveConnections: interactive = 5, exportConnections: exports = 2 } = options
  warnOfFewThreads(interactive + exports + 4, logger)

  mkdirSync(resolve(options.dir, 'clickhouse'), { recursive: true })
  const dir = realpathSync(resolve(options.dir, 'clickhouse'))
  const control = await openControl(dir, options)
  const writeLimits: Limits = { timeoutMs: writeTimeoutMs, memoryBytes: Math.floor(options.memoryCapBytes / 2) }
  const state: EmbeddedState = {
    ...defaults,
    dir,
    pools: openPools(dir, { interactive, exports, writeLimits, control }),
    writeLimits,
    timed: timedWith(metrics),
    paths: createSegmentPaths(join(dir, 'incoming')),
    counted: new Set(),
    writes: createSerialQueue(refuseClosed),
    isClosed: false,
  }
  /**
   * The engine's own end waits for ever, or crashes, while a statement runs. A process that ends without closing the
   * store has nothing to lose: it is killed then.
   */
  const onExit = (): void => {
    if (Object.values(state.pools).some((pool) => pool.isBusy())) endAtOnce()
  }
  // before the engine's own handler
  process.prependListener('exit', onExit)
  const watch = createPartsWatch({
    database: 'callhouse',
    rows: (query) => askControl(state, query),
    everyMs: partsEveryMs,
    onBroken: (parts) => logger.error({ parts: parts.slice(0, 20) }, 'the engine set broken parts aside'),
  })
  await watch.check()
  const store: Store = {
    async rows<T>(query: Query, queryOptions?: QueryOptions) {
      return rowsOf<T>(await read(state, query, 'JSONEachRow', queryOptions))
    },
    async bytes(query, format, queryOptions) {
      return bytesOf(await read(state, query, format, queryOptions))
    },
    command: (query, how) => command(state, query, how),
    insert: (topic, source) =>
      state.writes.run(() =>
        state.timed(`insert.${topic.name}`, 'write', 'insert', () => insert(state, topic, source)),
      ),
    async migrate() {
      const result = await applyMigrations(store, { dir: migrationsDir, baseline, isAlone: true })
      if (result.applied.length > 0) logger.info(result, 'migrations applied')
      return result
    },
    health: () => healthOf(state, watch),
    async close() {
      if (state.isClosed) return
      state.isClosed = true
      watch.stop()
      await state.writes.close()
      for (const pool of Object.values(state.pools)) await pool.close()
      await drainPending()
      process.off('exit', onExit)
      await state.paths.close()
    },
  }
  return store
}

type PoolDeps = { interactive: number; exports: number; writeLimits: Limits; control: Pool }

function openPools(dir: string, { interactive, exports, writeLimits, control }: PoolDeps) {
  const pool = (name: string, size: number, settings: Settings) =>
    createPool({ name, size, open: () => openSession(dir, settings) })
  const writerSettings = { ...sessionSettings, ...writeSettings(writeLimits) }
  return {
    write: pool('write', 1, writerSettings),
    beside: pool('beside', 1, writerSettings),
    background: pool('background', 1, { ...writerSettings, ...lowPriority }),
    interactive: pool('interactive', interactive, readerSettings),
    export: pool('export', exports, { ...readerSettings, ...lowPriority }),
    control,
  }
}

const bytesOf = (result: EngineResult): Buffer => ofEngine(result.bytes())

const rowsOf = <T>(result: EngineResult): T[] => parseRows<T>(bytesOf(result))

const kill =
  ({ pools }: EmbeddedState, tag: string) =>
  async () => {
    await pools.control.run({
      sql: `KILL QUERY WHERE Settings['log_comment'] = ${quote(tag)} ASYNC`,
      format: 'Null',
      timeoutMs: controlTimeoutMs,
    })
  }

function read(state: EmbeddedState, query: Query, format: string, given: QueryOptions = {}): Promise<EngineResult> {
  const { pool = 'interactive', timeoutMs = state.queryTimeoutMs, signal, maxRows } = given
  return state.timed(query.name, pool, 'read', () => {
    const tag = randomUUID()
    const limits = {
      timeoutMs,
      memoryBytes: given.memoryBytes ?? state.queryMemoryBytes,
      resultBytes: state.maxResultBytes,
      rows: maxRows ?? (query.projectId === undefined ? 0 : state.queryRows),
    }
    return state.pools[pool].run({
      sql: readStatement(query, format, readSettings(limits), tag),
      format,
      projectId: query.projectId,
      timeoutMs: timeoutMs + graceMs,
      ...(signal === undefined ? {} : { signal }),
      kill: kill(state, tag),
    })
  })
}

/** Asks beside everything else that runs, for a short answer. */
async function askControl<T>({ pools, queryMemoryBytes, maxResultBytes }: EmbeddedState, query: Query): Promise<T[]> {
  const settings = readSettings({
    timeoutMs: controlTimeoutMs,
    memoryBytes: queryMemoryBytes,
    resultBytes: maxResultBytes,
  })
  const sql = readStatement(query, 'JSONEachRow', settings, 'control')
  return rowsOf<T>(await pools.control.run({ sql, format: 'JSONEachRow', timeoutMs: controlTimeoutMs + graceMs }))
}

const write = ({ pools }: EmbeddedState, sql: string): Promise<EngineResult> =>
  pools.write.run({ sql, format: 'JSONEachRow' })

async function command(state: EmbeddedState, query: Query, how: Parameters<Store['command']>[1] = {}): Promise<void> {
  const { background = false, beside = false } = how
  const sql = bind(query)
  if (background || beside) {
    if (state.isClosed) throw refuseClosed()
    const pool = background ? 'background' : 'beside'
    await state.timed(query.name, pool, 'command', () => state.pools[pool].run({ sql, format: 'JSONEachRow' }))
    return
  }
  await state.writes.run(() => state.timed(query.name, 'write', 'command', () => write(state, sql)))
}

async function insert(
  state: EmbeddedState,
  topic: Parameters<Store['insert']>[0],
  source: Parameters<Store['insert']>[1],
): Promise<{ rowsRead: number }> {
  const { counted, paths, writeLimits } = state
  if (!counted.has(topic.landing)) {
    for (const sql of countingStatements(topic)) await write(state, sql)
    counted.add(topic.landing)
  }
  const tag = randomUUID()
  const { path, release } = 'file' in source ? await paths.ofFile(source.file) : await paths.ofBytes(source.bytes)
  try {
    await write(state, insertStatement(topic, path, writeSettings(writeLimits), tag))
  } finally {
    await release()
  }
  // One row per block: a sum in the engine costs more than the reading.
  const sql = `SELECT toUInt32(rows) AS n FROM callhouse.landed WHERE tag = ${quote(tag)} SETTINGS max_threads = 1`
  const blocks = rowsOf<{ n: number }>(await write(state, sql))
  return { rowsRead: blocks.reduce((sum, { n }) => sum + n, 0) }
}

async function healthOf(state: EmbeddedState, watch: ReturnType<typeof createPartsWatch>): Promise<StoreHealth> {
  if (state.isClosed) return { status: 'down', reason: 'the store is closed' }
  try {
    await askControl(state, { name: 'health', sql: 'SELECT 1 AS n', params: {} })
  } catch (error) {
    return { status: 'down', reason: toStoreError(error, 'read').message }
  }
  // A repaired part shows at once.
  if (watch.health().status !== 'ok') await watch.check().catch(() => undefined)
  return watch.health()
}

function openSession(dir: string, settings: Settings): Session {
  const session = new Session(dir, { connectionArgs: args(settings) })
  // In the database `default` the name of a missing table would be read as the path of a file.
  session.query('USE callhouse')
  return session
}

async function openControl(dir: string, options: EmbeddedStoreOptions): Promise<Pool> {
  const settings = { ...sessionSettings, ...serverSettings(options, dir) }
  let first: Session | undefined
  try {
    // Opened here and kept: it carries the settings of the engine, which lives as long as a connection does.
    first = new Session(dir, { connectionArgs: args(settings) })
    await first.queryAsync('CREATE DATABASE IF NOT EXISTS callhouse ENGINE = Atomic')
  } catch (error) {
    first?.close()
    throw new StoreError(
      'outage',
      0,
      `cannot open ${dir}${holderOf(dir)}: ${error instanceof Error ? error.message : error}`,
    )
  }
  const anchor = first
  const pool = createPool({
    name: 'control',
    size: 1,
    open: () => openSession(dir, sessionSettings),
  })
  return {
    ...pool,
    async close() {
      await pool.close()
      anchor.close()
    },
  }
}

/** The engine writes who opened the folder into its status file. */
function holderOf(dir: string): string {
  try {
    const pid = /PID: (\d+)/.exec(readFileSync(join(dir, 'status'), 'utf8'))?.[1]
    return pid === undefined || Number(pid) === process.pid ? '' : ` (opened by process ${pid})`
  } catch {
    return ''
  }
}

/** Each busy connection occupies one thread of Node's pool, which file access needs too. */
function warnOfFewThreads(connections: number, logger: StoreLogger): void {
  const threads = Number(process.env.UV_THREADPOOL_SIZE ?? 4)
  const needed = connections + Math.max(4, availableParallelism())
  if (threads < needed)
    logger.warn({ threads, needed }, 'UV_THREADPOOL_SIZE is too small: file access waits for queries')
}
