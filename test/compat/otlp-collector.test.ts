// tier: deep compat
// An OpenTelemetry Collector with the configuration of docs/otlp.md, while the server is killed and started again: what
// the Collector took is in the tables once, over gRPC and over HTTP, and each service in its own project.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ChildServer, postLines, startChildServer } from '../fixtures/child-server.ts'
import { eventually } from '../fixtures/eventually.ts'
import { onFixedPorts } from '../fixtures/fixed-ports.ts'
import { startOtlpClient } from '../fixtures/otlp-client.ts'
import { processEnv } from '../fixtures/process-env.ts'
import { goPrograms, nodeClient } from '../fixtures/programs.ts'

const here = import.meta.dirname
const dir = mkdtempSync(join(tmpdir(), 'callhouse-collector-'))
const perSender = 1_000

/** The block of the page, with the addresses of this test; every other word of it is what a reader copies. */
function configuration(ports: { receiver: number; grpc: number }): string {
  const page = readFileSync(join(here, '../../docs/otlp.md'), 'utf8')
  const block = /^## The Collector\n[\s\S]*?```yaml\n([\s\S]*?)```/m.exec(page)?.[1]
  if (block === undefined) throw new Error('docs/otlp.md has no configuration of a Collector')
  const replaced = (text: string, from: string, to: string): string => {
    if (!text.includes(from)) throw new Error(`the configuration does not say ${from}`)
    return text.replaceAll(from, to)
  }
  let text = replaced(block, '0.0.0.0:4317', `127.0.0.1:${ports.receiver}`)
  text = replaced(text, '0.0.0.0:4318', '127.0.0.1:0')
  text = replaced(text, 'callhouse:4317', `127.0.0.1:${ports.grpc}`)
  return replaced(text, '/var/lib/otelcol', join(dir, 'queue'))
}

/**
 * Beside what the page says, a second way through the Collector: over HTTP and without a project, behind the processor
 * that makes batches in memory, and into a file too.
 */
function extended(text: string, http: number): string {
  const exporter = /^ {2}otlp_grpc:\n([\s\S]*?)(?=^\S)/m.exec(text)?.[1] as string
  const other = exporter
    .replace(/endpoint: \S+/, `endpoint: "http://127.0.0.1:${http}"`)
    .replace(/, project_id: acme\/demo/, '')
  const way = '{ receivers: [otlp], processors: [batch], exporters: [otlp_http, file] }'
  return text
    .replace(
      /^exporters:\n/m,
      () => `processors: { batch: { timeout: 200ms } }\nexporters:\n  file: { path: ${kept}, append: true }\n`,
    )
    .replace(/^service:\n/m, () => `  otlp_http:\n${other}service:\n  telemetry: { metrics: { level: none } }\n`)
    .replace(/^ {2}pipelines:\n/m, (line) => `${line}    traces/beside: ${way}\n    logs/beside: ${way}\n`)
}
const kept = join(dir, 'kept.json')
/** Ids of the spans that the Collector wrote into the file. */
function keptSpans(): string[] {
  type Spans = { resourceSpans?: { scopeSpans: { spans: { spanId: string }[] }[] }[] }
  const lines = readFileSync(kept, 'utf8').trim().split('\n')
  return lines
    .flatMap((line) => (JSON.parse(line) as Spans).resourceSpans ?? [])
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans.map(({ spanId }) => spanId)))
    .sort()
}

let programs: string
/** Ports of OTLP; a restarted server has the same ones. */
let ports: { grpc: number; http: number }
let receiver: number
let server: ChildServer
let collector: ChildProcess
let told = ''
const startServer = async (): Promise<void> => {
  server = await startChildServer(join(dir, 'data'), {
    CALLHOUSE_OTLP_GRPC_PORT: String(ports.grpc),
    CALLHOUSE_OTLP_HTTP_PORT: String(ports.http),
    CALLHOUSE_OTEL_PROJECT_ATTRIBUTE: 'service.name',
  })
}
async function startCollector(): Promise<void> {
  const from = told.length
  collector = spawn(join(programs, 'collector'), ['--config', `file:${join(dir, 'collector.yaml')}`], {
    env: { ...processEnv(), CALLHOUSE_KEY: 'test-key' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  collector.stderr?.on('data', (chunk: Buffer) => {
    told += chunk
  })
  // One that cannot start says why, as its last word.
  await eventually(() => expect(collector.exitCode !== null || told.includes('Everything is ready', from)).toBe(true), {
    withinMs: 60_000,
  })
  if (collector.exitCode !== null) throw new Error(told.slice(from))
}
const ended = (child: ChildProcess): Promise<void> => new Promise((resolve) => child.once('exit', () => resolve()))

beforeAll(async () => {
  programs = await goPrograms()
  mkdirSync(join(dir, 'data'))
  await onFixedPorts(2, (grpc, http) => {
    ports = { grpc: grpc as number, http: http as number }
    return startServer()
  })
  await onFixedPorts(1, (port) => {
    receiver = port as number
    writeFileSync(join(dir, 'collector.yaml'), extended(configuration({ receiver, grpc: ports.grpc }), ports.http))
    return startCollector()
  })
}, 1_200_000)
afterAll(async () => {
  if (collector?.exitCode === null) {
    collector.kill('SIGKILL')
    await ended(collector)
  }
  await server?.stop()
  rmSync(dir, { recursive: true, force: true })
})

/** Sends from a service with the published exporters of Node; the ids of its spans, all of which the Collector took. */
async function send(service: string): Promise<string[]> {
  const client = startOtlpClient([process.execPath, await nodeClient()], perSender, {
    ...processEnv(),
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${receiver}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_SERVICE_NAME: service,
  })
  client.go()
  const { errors, ids } = await client.report
  expect(errors).toEqual([])
  return ids
}
const columns = { start: '2020-01-01T00:00:00Z', end: '2100-01-01T00:00:00Z' }
const stored = async (project_id: string): Promise<string[]> =>
  (await postLines<{ id: string }>(server.url, '/calls/stream_query', { project_id, columns: ['id'] }))
    .map(({ id }) => id)
    .sort()
async function logCount(project_id: string): Promise<number> {
  let count = 0
  for (let after: string | undefined; ; ) {
    const page = await postLines<{ cursor: string }>(server.url, '/logs/query', {
      project_id,
      ...columns,
      limit: 1000,
      ...(after !== undefined && { after }),
    })
    count += page.length
    after = page.at(-1)?.cursor
    if (page.length < 1000 || after === undefined) return count
  }
}

describe('a Collector with the configuration of the page', () => {
  it('loses and doubles nothing while the server is killed and the Collector started again', async () => {
    const sent = new Map<string, string[]>([
      ['checkout', []],
      ['search', []],
    ])
    let sends = 0
    let isEnough = false
    const sending = (async () => {
      while (!isEnough)
        for (const [service, ids] of sent) {
          ids.push(...(await send(service)))
          sends++
        }
    })()
    for (let kill = 0; kill < 2; kill++) {
      const before = (await stored('acme/demo')).length
      // While it gets more.
      await eventually(async () => expect((await stored('acme/demo')).length).toBeGreaterThan(before), {
        withinMs: 120_000,
      })
      await server.kill()
      const sentBefore = sends
      // The Collector takes a whole send while the server is away.
      await eventually(() => expect(sends).toBeGreaterThan(sentBefore + 1), { withinMs: 120_000 })
      await startServer()
    }
    isEnough = true
    await sending
    // The next collector sends the data on disk, the server being away when the first one ends.
    await server.kill()
    for (const [service, ids] of sent) ids.push(...(await send(service)))
    sends += sent.size
    collector.kill('SIGTERM')
    await ended(collector)
    await startServer()
    await startCollector()

    const all = [...sent.values()].flat().sort()
    expect(all).toHaveLength(sends * perSender)
    await eventually(async () => expect((await stored('acme/demo')).length).toBe(all.length), {
      withinMs: 120_000,
      everyMs: 1_000,
    })
    expect(await stored('acme/demo')).toEqual(all)
    for (const [service, ids] of sent) {
      const project = `tester/${service}`
      await eventually(async () => expect(await stored(project)).toEqual(ids.toSorted()), {
        withinMs: 120_000,
        everyMs: 1_000,
      })
      await eventually(async () => expect(await logCount(project)).toBe(ids.length), {
        withinMs: 120_000,
        everyMs: 1_000,
      })
    }
    expect(await logCount('acme/demo')).toBe(all.length)
    // The Collector's exporter into files may lose what it has in memory when it ends: the last that each service sent.
    const inFile = new Set(keptSpans())
    expect(inFile.size).toBe(keptSpans().length)
    const early = [...sent.values()].flatMap((ids) => ids.slice(0, -perSender))
    expect(all).toEqual(expect.arrayContaining([...inFile]))
    expect(early.filter((id) => !inFile.has(id))).toEqual([])
  })
})
