// The server driver of the store port: ClickHouse over HTTP or HTTPS, one server or a cluster, shared by any number of processes.
import { createReadStream } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { createSerialQueue, type SerialQueue } from '../../concurrency/serial-queue.ts'
import { landingsOf, type Topic, type Topics, topicIn } from '../../log/topic.ts'
import { blockSettings, readingSettings } from '../chdb/insert.ts'
import { createPartsWatch } from '../chdb/parts-watch.ts'
import { toStoreError } from '../errors.ts'
import { applyMigrations } from '../migrate.ts'
import { controlTimeoutMs, graceMs, partsEveryMs, type StoreOptions, withDefaults, writeTimeoutMs } from '../options.ts'
import { parseRows } from '../rows.ts'
import { bind, formatName, type Limits, lowPriority, readSettings, type Settings, writeSettings } from '../statement.ts'
import { type Query, type QueryOptions, type Store, StoreError, type StoreHealth, type StoreLogger } from '../store.ts'
import { timedWith } from '../timed.ts'
import { bindForServer } from './bind.ts'
import { createServerClient, type Job } from './client.ts'
import { serverStatements, spreadTables } from './ddl.ts'
import { createServerNames, ownerSuffix, stageOf } from './names.ts'
import { createScratch } from './scratch.ts'
import { openDatabase } from './start.ts'

export type ServerStoreOptions = StoreOptions & {
  topics: Topics
  /** Tables and views of the migrations that each worker has of its own, tables first. */
  scratch: readonly string[]
  /** `http://host:8123` or `https://host:8443`. A worker in a cluster names one node, the replica that it writes to. */
  url: string
  user: string
  password: string
  /** The installation's database; made if it is not there. Default callhouse. */
  database?: string
  /** Name of a cluster in the server's configuration: tables are replicated, and reads see every shard. */
  cluster?: string
  /** Name of the worker that applies batches here; the scratch tables have it. Default the host's name. */
  worker?: string
  /** Rows and answers travel compressed. Default: unless the server is on this machine. */
  compression?: boolean
  /** Longest wait of the start for a server that does not answer. */
  startTimeoutMs?: number
  /** A worker whose tables were not touched for so long is gone; one that only slept makes its tables again. */
  workerGoneAfterMs?: number
}

/** A server that hangs does not keep a process from ending. */
const closeTimeoutMs = 50_000
/** Longest statement text: lists of ids travel in it. */
const textSettings: Settings = { max_query_size: 2 ** 28 }
/** Answers come whole or as an error with its status: nothing is sent before the last row is known. */
const answerSettings: Settings = {
  wait_end_of_query: 1,
  http_response_buffer_size: 2 ** 24,
  cancel_http_readonly_queries_on_client_close: 1,
}
/** Pauses before a read that met an outage is tried again. */
const retryReadAfterMs = [20, 200]
/** DDL of several processes that start together: one of them was in the way, or the coordination was busy. */
const ddlConflicts = new Set([57, 253, 342, 517, 529, 999])
const ddlAttempts = 10

const isLocal = (url: string): boolean => ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname)
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

type ServerState = ReturnType<typeof withDefaults> & {
  options: ServerStoreOptions
  database: string
  cluster: string | undefined
  /** End of the names of this worker's own tables. */
  suffix: string
  client: ReturnType<typeof createServerClient>
  names: ReturnType<typeof createServerNames>
  scratch: ReturnType<typeof createScratch>
  timed: ReturnType<typeof timedWith>
  /** Settings of statements that write. */
  writing: Settings
  landings: readonly string[]
  /** Stages that may hold rows of an earlier batch. */
  filled: Set<string>
  /** Commands and inserts take effect in the order of their calls. */
  writes: SerialQueue
  isClosed: boolean
}

const refuseClosed = () => new StoreError('outage', 0, 'the store is closed')

/**
 * Waits for the server and makes the database. Nothing is held: any number of processes may open the same one.
 * @throws StoreError when the server does not answer in time, or refuses the user
 */
export async function createServerStore(options: ServerStoreOptions): Promise<Store> {
  const state = await openServer(options)
  const { logger, migrationsDir, baseline, database, writes, scratch, client } = state
  const watch = createPartsWatch({
    database,
    rows: (query) => store.rows(query),
    everyMs: partsEveryMs,
    onBroken: (parts) => logger.error({ parts: parts.slice(0, 20) }, 'the server set broken parts aside'),
  })
  const store: Store = {
    async rows<T>(query: Query, queryOptions?: QueryOptions) {
      return parseRows<T>(await read(state, query, 'JSONEachRow', queryOptions))
    },
    bytes: (query, format, queryOptions) => read(state, query, format, queryOptions),
    command: (query, how) => command(state, query, how),
    insert: (topic, source) => insert(state, topic, source),
    async migrate() {
      const steps = { command: (query: Query) => define(state, query), rows: store.rows }
      const result = await applyMigrations(steps, { dir: migrationsDir, baseline, isAlone: false })
      if (result.applied.length > 0) logger.info(result, 'migrations applied')
      return result
    },
    health: () => healthOf(state, watch),
    async close() {
      if (state.isClosed) return
      watch.stop()
      const giveUp = setTimeout(() => client.abort(), closeTimeoutMs)
      await writes.idle()
      // A server that does not answer keeps them until another worker removes them.
      await scratch.close().catch((error) => logger.warn({ error: String(error) }, 'scratch tables stay behind'))
      state.isClosed = true
      await client.close()
      clearTimeout(giveUp)
    },
  }
  await watch.check().catch((error) => logger.warn({ error: String(error) }, 'broken parts cannot be looked for'))
  return store
}

async function openServer(options: ServerStoreOptions): Promise<ServerState> {
  const defaults = withDefaults(options)
  const { logger, metrics, migrationsDir } = defaults
  const { cluster, database = 'callhouse', scratch: own, topics } = options
  for (const name of [database, cluster ?? ''])
    if (!/^\w*$/.test(name)) throw new StoreError('query', 0, `${name} is not a plain name`)
  const migrations = await migrationTexts(migrationsDir)
  const suffix = ownerSuffix(options.worker ?? hostname())
  const spread = cluster === undefined ? new Set<string>() : spreadTables(migrations, own).add('migrations')
  const names = createServerNames({ database, suffix, spread, scratch: own })
  const landings = Object.values(topics).flatMap(landingsOf)
  const client = await connect(options, database, logger)
  const scratch = createScratch({
    database,
    suffix,
    tables: { landings, scratch: own },
    migrations,
    goneAfterMs: options.workerGoneAfterMs ?? 3 * 3_600_000,
    command: async (name, sql) => void (await write(state, name, sql)),
    rows: async <T>(query: Query) => parseRows<T>(await read(state, query, 'JSONEachRow')),
    onError: (error) => logger.warn({ error: String(error) }, 'scratch tables of other workers'),
  })
  const state: ServerState = {
    ...defaults,
    options,
    database,
    cluster,
    suffix,
    client,
    names,
    scratch,
    timed: timedWith(metrics, (failure) => {
      if (failure.code !== 60 || !failure.message.includes(suffix)) return failure
      // Its tables were removed while this worker was asleep; the batch is tried again with new ones.
      scratch.forget()
      return new StoreError('outage', failure.code, failure.message)
    }),
    writing: writingSettings(cluster),
    landings,
    filled: new Set(),
    writes: createSerialQueue(),
    isClosed: false,
  }
  return state
}

/** Waits for the server and makes the database. @returns a client of the database */
async function connect(options: ServerStoreOptions, database: string, logger: StoreLogger) {
  const { url, user, password, cluster } = options
  const shared = {
    url,
    user,
    password,
    connections: {
      interactive: options.interactiveConnections ?? 16,
      export: options.exportConnections ?? 4,
      write: 2,
      background: 2,
      control: 2,
    },
    compression: options.compression ?? !isLocal(url),
  }
  const inCluster = cluster === undefined ? {} : { cluster }
  const first = createServerClient(shared)
  try {
    const timeoutMs = options.startTimeoutMs ?? 60_000
    await openDatabase({ ...inCluster, client: first, url, database, timeoutMs, logger })
  } finally {
    await first.close()
  }
  return createServerClient({ ...shared, ...inCluster, database })
}

const writingSettings = (cluster: string | undefined): Settings => ({
  ...writeSettings({ timeoutMs: writeTimeoutMs, memoryBytes: 4 * 2 ** 30 }),
  ...textSettings,
  ...(cluster === undefined
    ? {}
    : { insert_quorum: 'auto', insert_quorum_parallel: 0, distributed_ddl_task_timeout: 180 }),
})

const readingSettingsOf = (
  { cluster, maxResultBytes: resultBytes }: ServerState,
  limits: Limits & { rows?: number },
): Settings => ({
  ...readSettings({ ...limits, resultBytes }),
  ...textSettings,
  ...answerSettings,
  readonly: 2,
  ...(cluster === undefined ? {} : { select_sequential_consistency: 1, distributed_product_mode: 'global' }),
})

async function read(state: ServerState, query: Query, format: string, given: QueryOptions = {}): Promise<Buffer> {
  const { pool = 'interactive', timeoutMs = state.queryTimeoutMs, signal, maxRows } = given
  const { memoryBytes = state.queryMemoryBytes } = given
  if (state.isClosed) throw refuseClosed()
  return state.timed(query.name, pool, 'read', async () => {
    const { names, scratch, client } = state
    const { sql, params } = bindForServer(query, names.reading)
    if (names.usesScratch(query.sql)) await scratch.ensure()
    const until = Date.now() + timeoutMs + graceMs
    const rows = maxRows ?? (query.projectId === undefined ? 0 : state.queryRows)
    const job = (): Job => ({
      name: query.name,
      pool,
      sql: `${sql}\nFORMAT ${formatName(format)}`,
      params,
      settings: {
        ...readingSettingsOf(state, { timeoutMs, memoryBytes, rows }),
        ...(pool === 'export' ? lowPriority : {}),
      },
      projectId: query.projectId,
      timeoutMs: Math.max(1, until - Date.now()),
      ...(signal === undefined ? {} : { signal }),
    })
    for (const waitMs of retryReadAfterMs) {
      try {
        return await client.send(job())
      } catch (error) {
        if (toStoreError(error, 'read').kind !== 'outage' || Date.now() + waitMs > until) throw error
        await pause(waitMs)
      }
    }
    return client.send(job())
  })
}

function write(
  { client, writing }: ServerState,
  name: string,
  sql: string,
  more: Pick<Job, 'body' | 'params'> & { settings?: Settings } = {},
): Promise<Buffer> {
  const settings = { ...writing, wait_end_of_query: 1, ...more.settings }
  return client.send({ ...more, name, pool: 'write', sql, settings, timeoutMs: writeTimeoutMs + graceMs })
}

async function command(state: ServerState, query: Query, how: Parameters<Store['command']>[1] = {}): Promise<void> {
  const { background = false, beside = false } = how
  const { names, scratch, client, writing, writes } = state
  const { sql, params } = bindForServer(query, names.own)
  const run = async (): Promise<void> => {
    if (names.usesScratch(query.sql)) await scratch.ensure()
    const pool = background ? 'background' : 'write'
    const timeoutMs = writeTimeoutMs + graceMs
    const settings = { ...writing, wait_end_of_query: 1 }
    await state.timed(query.name, pool, 'command', () =>
      client.send({ name: query.name, pool, sql, params, settings, timeoutMs }),
    )
  }
  if (state.isClosed) throw refuseClosed()
  await (background || beside ? run() : writes.run(run))
}

type InsertSource = Parameters<Store['insert']>[1]

const isEmptySource = async (source: InsertSource): Promise<boolean> =>
  'file' in source ? (await stat(source.file)).size === 0 : source.bytes.every((bytes) => bytes.length === 0)

const rowsStream = (source: InsertSource): Readable =>
  'file' in source
    ? createReadStream(source.file, { highWaterMark: 2 ** 20 })
    : Readable.from(source.bytes, { objectMode: false })

async function insert(state: ServerState, topic: Topic, source: InsertSource): Promise<{ rowsRead: number }> {
  const { scratch, writes, timed } = state
  if (state.isClosed) throw refuseClosed()
  const run = async (): Promise<{ rowsRead: number }> => {
    if (await isEmptySource(source)) return { rowsRead: 0 }
    await scratch.ensure()
    return insertRows(state, topic, rowsStream(source))
  }
  const inserted = writes.run(() => timed(`insert.${topic.name}`, 'write', 'insert', run))
  // Only the next batch waits for it; a stage that stays full is emptied then.
  void writes.run(() => inserted.then(() => emptyStage(state, topic)).catch(() => {}))
  return inserted
}

/** A rebuild lands the rows of a topic elsewhere; they wait in the topic's own stage all the same. */
function stageFor({ landings, options, database, suffix }: ServerState, { name, landing }: Topic): string {
  const own = landings.includes(landing) ? landing : topicIn(options.topics, name).landing
  return `${database}.${stageOf(own)}${suffix}`
}

async function emptyStage(state: ServerState, topic: Topic): Promise<void> {
  const stage = stageFor(state, topic)
  if (!state.filled.has(stage)) return
  await write(state, `insert.${topic.name}.empty`, `TRUNCATE TABLE ${stage}`)
  state.filled.delete(stage)
}

/**
 * The rows go into a table of this worker first: there they are counted, and nothing of a batch that does not parse
 * reaches the tables. The server's own figures count the rows of views too.
 */
async function insertRows(state: ServerState, topic: Topic, body: Readable): Promise<{ rowsRead: number }> {
  const name = `insert.${topic.name}`
  const stage = stageFor(state, topic)
  await emptyStage(state, topic)
  state.filled.add(stage)
  await write(state, name, `INSERT INTO ${stage} FORMAT JSONEachRow`, {
    body,
    settings: { ...readingSettings, input_format_parallel_parsing: 0 },
  })
  // Columns by name: a later version of the process may have added columns to the landing table.
  const columns = ['_record', ...Object.keys(topic.columns)].join(', ')
  const land = `INSERT INTO ${state.database}.${topic.landing} (${columns}) SELECT ${columns} FROM ${stage}`
  const [counted] = await Promise.all([
    write(state, `${name}.count`, `SELECT toUInt32(count()) AS n FROM ${stage} FORMAT JSONEachRow`),
    write(state, `${name}.land`, land, { settings: blockSettings }),
  ])
  return { rowsRead: parseRows<{ n: number }>(counted)[0]?.n ?? 0 }
}

/** Statements of migrations, of which several processes may run the same one at the same time. */
async function define(state: ServerState, query: Query): Promise<void> {
  const { database, cluster, options } = state
  const inCluster = cluster === undefined ? {} : { cluster }
  for (const sql of serverStatements(query.sql, { database, ...inCluster, scratch: options.scratch }))
    for (let attempt = 1; ; attempt++) {
      try {
        await state.timed(query.name, 'write', 'command', () => write(state, query.name, bind({ ...query, sql })))
        break
      } catch (error) {
        if (!ddlConflicts.has((error as StoreError).code) || attempt === ddlAttempts) throw error
        await pause(attempt * 50)
      }
    }
}

async function healthOf(state: ServerState, watch: ReturnType<typeof createPartsWatch>): Promise<StoreHealth> {
  if (state.isClosed) return { status: 'down', reason: 'the store is closed' }
  const readOnly: Query = {
    name: 'health',
    sql: 'SELECT toUInt32(count()) AS n FROM system.replicas WHERE database = {database:String} AND is_readonly',
    params: { database: state.database },
  }
  try {
    const [row] = parseRows<{ n: number }>(await read(state, readOnly, 'JSONEachRow', { timeoutMs: controlTimeoutMs }))
    if ((row?.n ?? 0) > 0) return { status: 'degraded', reason: `${row?.n} tables are read-only` }
  } catch (error) {
    return { status: 'down', reason: toStoreError(error, 'read').message }
  }
  return watch.health()
}

async function migrationTexts(dir: string): Promise<string[]> {
  const files = (await readdir(dir)).filter((file) => file.endsWith('.sql')).sort()
  return Promise.all(files.map((file) => readFile(join(dir, file), 'utf8')))
}
