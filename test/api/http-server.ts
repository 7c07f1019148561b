// A server with tiny routes for the tests of the HTTP core, and clients that say exactly what goes over the wire.
import { mkdtempSync, rmSync } from 'node:fs'
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Config, loadConfig } from '../../services/app/config.ts'
import { createApp, type HttpServer } from '../../services/core/http/app.ts'
import { type Keys, openKeys } from '../../services/core/http/keys.ts'
import type { Route } from '../../services/core/http/route.ts'
import { createLogger } from '../../services/core/process/logger.ts'
import { createMetrics } from '../../services/core/process/metrics.ts'

type LogLine = Record<string, unknown> & { msg: string }

export type TestServer = HttpServer & {
  port: number
  url: string
  keys: Keys
  config: Config
  /** Every log line so far. */
  lines: LogLine[]
  dataDir: string
  shuttingDown(): void
  stop(): Promise<void>
}

/** `Authorization` of the key `secret` of user `ann`, who is admin of everything. */
export const annAuth = `Basic ${Buffer.from('api:secret').toString('base64')}`

export function testConfig(flags: string[] = []): Config {
  const loaded = loadConfig({
    env: {},
    argv: ['--port', '0', '--keys', 'ann:secret', '--log-level', 'debug', ...flags],
  })
  if (!loaded.ok) throw new Error(loaded.lines.join('\n'))
  return loaded.config
}

export async function startServer(routes: Route[], flags: string[] = []): Promise<TestServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'callhouse-http-'))
  const config = { ...testConfig(flags), dataDir }
  const lines: LogLine[] = []
  const { log } = createLogger({
    level: config.logLevel,
    out: { write: (line: string) => void lines.push(JSON.parse(line)) },
  })
  const keys = openKeys({ dataDir, configured: config.keys })
  let closing = false
  const metrics = createMetrics({ withProcess: false })
  const isShuttingDown = () => closing
  const app = createApp({ routes, config, keys, log, metrics, version: '1.2.3', isShuttingDown })
  const port = await app.listen()
  return {
    ...app,
    port,
    url: `http://127.0.0.1:${port}`,
    keys,
    config,
    lines,
    dataDir,
    shuttingDown: () => {
      closing = true
    },
    async stop() {
      await app.close(1000)
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

export type Answer = { status: number; headers: IncomingHttpHeaders; bytes: Buffer; text: string }
export type Sent = {
  method?: string
  headers?: Record<string, string>
  /** Sent in pieces without Content-Length when it is an array. */
  body?: Buffer | string | (Buffer | string)[]
  /** Without it the request is ann's. */
  anonymous?: boolean
}

/** One request over its own connection; rejects when the answer breaks off. */
export function send(port: number, path: string, { method, headers, body, anonymous }: Sent = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      {
        port,
        host: '127.0.0.1',
        path,
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        agent: false,
        headers: { ...(anonymous ? {} : { authorization: annAuth }), ...headers },
      },
      (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('error', reject)
        incoming.on('end', () => {
          const bytes = Buffer.concat(chunks)
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, bytes, text: bytes.toString() })
        })
      },
    )
    outgoing.on('error', reject)
    if (Array.isArray(body)) {
      for (const piece of body) outgoing.write(piece)
      outgoing.end()
    } else outgoing.end(body)
  })
}

export const json = (answer: Answer): unknown => JSON.parse(answer.text)

/** Sends bytes as they are and returns what came back until the server ended the connection. */
export function sendRaw(port: number, bytes: Buffer | string): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('error', () => {})
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')))
  })
}

/** A promise and its outside. */
export function deferred<T = void>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
