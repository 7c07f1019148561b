// Statements over ClickHouse's HTTP interface: bounded connections, deadlines, and an end in the server when one is cut short.
import type { Readable } from 'node:stream'
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client'
import { type FairQueue, slotIn } from '../../concurrency/fair-queue.ts'
import { quote } from '../chdb/literals.ts'
import { createConnectionQueue } from '../connection-queue.ts'
import type { Settings } from '../statement.ts'
import { StoreError } from '../store.ts'

export type PoolName = 'interactive' | 'export' | 'write' | 'background' | 'control'

export type Job = {
  /** Begins the statement's id in the server's process list. */
  name: string
  pool: PoolName
  sql: string
  settings: Settings
  /** `{name:Type}` values that travel beside the text. */
  params?: Record<string, unknown>
  /** Rows of an insert. */
  body?: Readable
  /** Gives up after this time, waiting for a connection included. */
  timeoutMs: number
  signal?: AbortSignal
  /** The project whose turn the statement takes. */
  projectId?: string | undefined
}

export type ServerClient = {
  /** @throws ClickHouse's own error, an error of the connection, or StoreError when it was cut short here */
  send(job: Job): Promise<Buffer>
  /** Ends what is in flight and refuses what comes. */
  abort(): void
  /** Waits for what is in flight. */
  close(): Promise<void>
}

const killEveryMs = 100
/** Least and most attempts: the statement may not have begun yet. */
const killAttempts = [3, 100] as const
const controlTimeoutMs = 5_000
/** Sockets are given up before the server's own limit, 3 s in old versions: one that it has just closed is not used. */
const idleSocketMs = 2_500

/** The end of an answer that a server cannot finish: a marker around the error, or in old versions the error. */
const markedError = /\r\n__exception__\r\n[^\r\n]*\r\n([\s\S]*?)\r?\n?[^\r\n]*\r\n__exception__\r\n$/
const bareError = /(?:^|\n)(Code: \d+\. DB::Exception: [^\n]*)\n?$/
const tailBytes = 2 ** 16

/** @throws Error with the server's text when the answer ends with an error instead of its last row */
function refuseTail(bytes: Buffer, headers: Record<string, unknown>): void {
  const tail = bytes.subarray(Math.max(0, bytes.length - tailBytes)).toString('utf8')
  const error =
    markedError.exec(tail)?.[1] ??
    // Only where a row cannot look like it.
    (/^JSON/.test(String(headers['x-clickhouse-format'] ?? '')) ? bareError.exec(tail)?.[1] : undefined)
  if (error !== undefined) throw new Error(error)
}

async function read(stream: Readable, stop: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = []
  const end = (): void => void stream.destroy(stop.reason)
  stop.addEventListener('abort', end, { once: true })
  try {
    for await (const chunk of stream) chunks.push(chunk as Buffer)
    return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
  } finally {
    stop.removeEventListener('abort', end)
  }
}

export function createServerClient(options: {
  url: string
  user: string
  password: string
  database?: string
  cluster?: string
  connections: Record<PoolName, number>
  compression: boolean
}): ServerClient {
  const { connections, cluster } = options
  const client: ClickHouseClient = createClient({
    url: options.url,
    username: options.user,
    password: options.password,
    application: 'callhouse',
    ...(options.database === undefined ? {} : { database: options.database }),
    // The deadline of each statement decides.
    request_timeout: 2 ** 31 - 1,
    max_open_connections: Object.values(connections).reduce((sum, one) => sum + one),
    keep_alive: { enabled: true, idle_socket_ttl: idleSocketMs, eagerly_destroy_stale_sockets: true },
    compression: options.compression
      ? { response: { codec: 'zstd' }, request: { codec: 'zstd', level: 1 } }
      : { response: false, request: false },
    log: { level: ClickHouseLogLevel.OFF },
  })
  const lines = Object.fromEntries(
    Object.entries(connections).map(([name, size]) => [name, createConnectionQueue(name, size)]),
  ) as Record<PoolName, FairQueue<string>>
  const running = new Set<Promise<unknown>>()
  const ended = new AbortController()

  const tracked = <T>(work: Promise<T>): Promise<T> => {
    const settled = work.then(
      () => {},
      () => {},
    )
    running.add(settled)
    void settled.then(() => running.delete(settled))
    return work
  }

  async function exchange(job: Job, queryId: string, stop: AbortSignal): Promise<Buffer> {
    const leave = await slotIn(lines[job.pool], job.projectId, { signal: stop, request: job.signal })
    try {
      const { stream, response_headers } = await client.exec({
        query: job.sql,
        query_id: queryId,
        clickhouse_settings: job.settings,
        abort_signal: stop,
        ...(job.params === undefined ? {} : { query_params: job.params }),
        ...(job.body === undefined ? {} : { values: job.body }),
      } as Parameters<ClickHouseClient['exec']>[0])
      const bytes = await read(stream as Readable, stop)
      refuseTail(bytes, response_headers)
      return bytes
    } finally {
      job.body?.destroy()
      leave()
    }
  }

  /** Repeated until the server knows no such statement; its own time limit ends it in any case. */
  async function kill(queryId: string): Promise<void> {
    const everywhere = cluster === undefined ? '' : ` ON CLUSTER ${cluster}`
    const sql = `KILL QUERY${everywhere} WHERE query_id = ${quote(queryId)} ASYNC FORMAT JSONEachRow`
    for (let attempt = 1; attempt <= killAttempts[1]; attempt++) {
      const found = await send({ name: 'kill', pool: 'control', sql, settings: {}, timeoutMs: controlTimeoutMs }).then(
        (bytes) => bytes.length > 0,
        () => true,
      )
      if (ended.signal.aborted || (!found && attempt >= killAttempts[0])) return
      await new Promise((resolve) => setTimeout(resolve, killEveryMs))
    }
  }

  async function send(job: Job): Promise<Buffer> {
    const { signal, timeoutMs } = job
    if (signal?.aborted) throw new StoreError('cancelled', 394, 'the query was cancelled')
    ended.signal.throwIfAborted()
    const queryId = `${job.name}.${crypto.randomUUID()}`
    const stop = new AbortController()
    const timer = setTimeout(
      () => stop.abort(new StoreError('timeout', 159, `no answer within ${timeoutMs} ms`)),
      timeoutMs,
    )
    const onAbort = (): void => stop.abort(new StoreError('cancelled', 394, 'the query was cancelled'))
    const onEnd = (): void => stop.abort(ended.signal.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
    ended.signal.addEventListener('abort', onEnd, { once: true })
    try {
      return await tracked(exchange(job, queryId, stop.signal))
    } catch (error) {
      if (!stop.signal.aborted) throw error
      if (job.name !== 'kill') void tracked(kill(queryId))
      throw stop.signal.reason
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      ended.signal.removeEventListener('abort', onEnd)
    }
  }

  return {
    send,
    abort: () => ended.abort(new StoreError('outage', 0, 'the store is closed')),
    async close() {
      while (running.size > 0) await Promise.all(running)
      await client.close()
    },
  }
}
