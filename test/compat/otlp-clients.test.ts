// tier: deep compat
// The published exporters of Go, Java, Node, Python and Rust with nothing but the variables of OpenTelemetry, over gRPC
// and HTTP: compressed, held back, refused and taken later, given up by themselves, over TLS. What they sent is there once.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { unavailable } from '../../services/core/errors.ts'
import type { Log } from '../../services/core/log/log.ts'
import { makeCertificates } from '../fixtures/certificates.ts'
import { post } from '../fixtures/child-server.ts'
import { eventually } from '../fixtures/eventually.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { type ClientReport, startOtlpClient } from '../fixtures/otlp-client.ts'
import { processEnv } from '../fixtures/process-env.ts'
import { goPrograms, javaArguments, nodeClient, pythonClient, rustClient } from '../fixtures/programs.ts'
import { runProgram } from '../fixtures/python.ts'

const here = import.meta.dirname
const protocols = ['grpc', 'http/protobuf'] as const
type Protocol = (typeof protocols)[number]

type Command = [program: string, ...args: string[]]
type Client = {
  /** Builds it, and says what to run. */
  build(): Promise<Command>
  /** Over what it sends again what was refused for a while, as the specification says. */
  retries: readonly Protocol[]
  /** Over what it is told of an authority by OTEL_EXPORTER_OTLP_CERTIFICATE. */
  tls: readonly Protocol[]
  /** Sends again a few times alone, and within seconds. */
  isHasty?: boolean
  /** Fails quietly, but for a log of its own that nobody asked for. */
  isQuiet?: boolean
  /** Unit of OTEL_EXPORTER_OTLP_TIMEOUT: milliseconds, says the specification. */
  timeoutsPerSecond?: number
}
const clients: Record<string, Client> = {
  Go: { build: async () => [join(await goPrograms(), 'client')], retries: protocols, tls: protocols },
  Java: { build: async () => ['java', ...(await javaArguments()), 'Client'], retries: protocols, tls: protocols },
  Node: {
    build: async () => [process.execPath, await nodeClient()],
    retries: ['http/protobuf'],
    tls: protocols,
    isHasty: true,
  },
  Python: {
    build: async () => [await pythonClient(), join(here, 'otlp_defaults.py')],
    retries: protocols,
    tls: protocols,
    timeoutsPerSecond: 1,
  },
  Rust: { build: async () => [await rustClient()], retries: protocols, tls: ['grpc'], isHasty: true, isQuiet: true },
}
const commands = new Map<Client, Command>()

/** A client over a protocol, with a key of its own, by which the lines of the server are told apart. */
type Sender = { language: string; client: Client; protocol: Protocol; user: string }
const senders: Sender[] = Object.entries(clients).flatMap(([language, client]) =>
  protocols.map((protocol) => {
    return { language, client, protocol, user: `${language.toLowerCase()}-${protocol.slice(0, 4)}` }
  }),
)
const keyOf = (user: string): string => `key-of-${user}`
const count = 600
const textBytes = 100

const dir = mkdtempSync(join(tmpdir(), 'callhouse-otlp-clients-'))
const certificates = makeCertificates(dir)
let server: LiveServer
/** An engine holds one folder at a time in a process: one server after the other. */
const start = async (...flags: string[]): Promise<void> => {
  const keys = ['tester:test-key', ...senders.map(({ user }) => `${user}:${keyOf(user)}`)]
  server = await startLiveServer(['--otlp-grpc-port', '0', '--otlp-http-port', '0', '--keys', keys.join(','), ...flags])
}
const remove = () => server?.remove()
beforeAll(async () => {
  // At the same time: each waits for its registry, and parts of each compile with one core.
  await Promise.all(Object.values(clients).map(async (client) => commands.set(client, await client.build())))
}, 1_200_000)
afterAll(() => rmSync(dir, { recursive: true, force: true }))

type Line = { grpc?: number; status?: number; in: number }
type Sent = ClientReport & { ms: number; project: string; lines(): Line[] }

const environmentOf = ({ protocol, user }: Sender, project: string, scheme: string) => ({
  ...processEnv(),
  OTEL_EXPORTER_OTLP_ENDPOINT: `${scheme}://${server.now().otlp?.[protocol === 'grpc' ? 'grpc' : 'http']}`,
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${keyOf(user)},project_id=${project}`,
  OTEL_METRICS_EXPORTER: 'none',
})

/** Hasty clients wait for `before`. */
type Send = (before?: Promise<unknown>) => Promise<unknown>
type Setting = { name: string; from?: readonly Sender[]; scheme?: string; env?(client: Client): Record<string, string> }

/**
 * Before the tests all senders send at the same time, each to a project of its own, since most of the time they wait.
 * @param around what happens meanwhile; default: nothing
 */
function whenAllSend(
  { name, from = senders, scheme = 'http', env = () => ({}) }: Setting,
  around: (send: Send) => Promise<unknown> = (send) => send(),
): (sender: Sender) => Sent {
  const all = new Map<Sender, Sent>()
  beforeAll(async () => {
    const first = server.lines.length
    const started = from.map((sender) => {
      const project = `clients/${sender.user}-${name}`
      const variables = { ...environmentOf(sender, project, scheme), ...env(sender.client) }
      const command = commands.get(sender.client) as Command
      return { sender, project, ...startOtlpClient(command, count, variables) }
    })
    await Promise.all(started.map(({ ready }) => ready))
    await around(async (before) => {
      const ending = started.map(async ({ sender, project, report, go }) => {
        if (sender.client.isHasty) await before
        const beganMs = performance.now()
        go()
        const reported = await report
        const lines = () => linesOf(sender, first)
        all.set(sender, { ...reported, ms: performance.now() - beganMs, project, lines })
      })
      await Promise.all(ending)
    })
  }, 240_000)
  afterAll(() => void vi.restoreAllMocks())
  return (sender) => all.get(sender) as Sent
}

/** Lines of the server about the calls of this sender, after the first ones. */
const linesOf = ({ user }: Sender, first: number): Line[] =>
  server.lines
    .slice(first)
    .filter((line) => line.includes(`"user":"${user}"`))
    .map((line) => JSON.parse(line) as Line)
const isRefused = ({ grpc, status = 0 }: Line): boolean => grpc === 14 || [429, 503].includes(status)
const isTaken = ({ grpc, status }: Line): boolean => grpc === 0 || status === 200

const storedSpans = async (project_id: string): Promise<string[]> =>
  (await server.list<{ id: string }>('/calls/stream_query', { project_id, columns: ['id'] })).map(({ id }) => id).sort()
async function storedLogs(project_id: string): Promise<number> {
  const times = { start: '2020-01-01T00:00:00Z', end: '2100-01-01T00:00:00Z' }
  return (await server.list('/logs/query', { project_id, ...times, limit: 1_000 })).length
}
async function expectAllStored({ project, errors, ids }: Sent): Promise<void> {
  expect(errors).toEqual([])
  expect(new Set(ids).size).toBe(count)
  expect(await storedSpans(project)).toEqual(ids.toSorted())
  expect(await storedLogs(project)).toBe(count)
}
/** Refused data was sent again; a client that does not do so was told, and its other data is there once. */
async function expectTakenLater({ client, protocol }: Sender, sent: Sent): Promise<void> {
  if (client.retries.includes(protocol)) return expectAllStored(sent)
  expect(sent.errors).not.toEqual([])
  const got = await storedSpans(sent.project)
  expect(got.length).toBeLessThan(count)
  expect(got).toEqual(sent.ids.filter((id) => got.includes(id)).sort())
}
const patient = ({ timeoutsPerSecond = 1_000 }: Client, seconds = 30) => ({
  OTEL_EXPORTER_OTLP_TIMEOUT: String(seconds * timeoutsPerSecond),
})
/** Sends while everything is refused, until each sender has been; then `release` ends that. */
async function sendRefused(send: Send, release: () => void): Promise<void> {
  const first = server.lines.length
  const refused = (isHasty: boolean) =>
    eventually(() => {
      for (const sender of senders.filter(({ client }) => (client.isHasty ?? false) === isHasty))
        expect([sender.user, linesOf(sender, first).some(isRefused)]).toContain(true)
    })
  const others = refused(false)
  await Promise.all([send(others), others.then(() => refused(true)).finally(release)])
}

/** Sends appends of spans and logs through a function from now on, which gets the log's own append. */
function onAppend(
  around: (append: () => ReturnType<Log['append']>, topic: string, rows: Row[]) => ReturnType<Log['append']>,
): void {
  const { log } = server.now()
  const append = log.append.bind(log)
  vi.spyOn(log, 'append').mockImplementation((...given: Parameters<Log['append']>) => {
    const [topic, records] = given
    if (topic !== 'calls' && topic !== 'logs') return append(...given)
    const rows = records.flatMap(({ rows }) => rows.toString().trim().split('\n'))
    return around(
      () => append(...given),
      topic,
      rows.map((row) => JSON.parse(row) as Row),
    )
  })
}
type Row = { project_id: string; id: string }

describe('published exporters', () => {
  beforeAll(() => start('--max-unapplied-bytes', String(32 * 2 ** 20)))
  afterAll(remove)

  describe('send spans and logs, compressed', () => {
    const sentBy = whenAllSend({ name: 'gzip', env: () => ({ OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip' }) })
    it.each(senders)('$language over $protocol', async (sender) => {
      const sent = sentBy(sender)
      await expectAllStored(sent)
      // Less than the texts alone.
      const bytes = sent.lines().reduce((sum, line) => sum + line.in, 0)
      expect(bytes).toBeLessThan(count * textBytes)
    })
  })

  describe('are held back by a full log', () => {
    const sentBy = whenAllSend({ name: 'full', env: patient }, async (send) => {
      const { store } = server.now()
      const { insert } = store
      const going = Promise.withResolvers<void>()
      vi.spyOn(store, 'insert').mockImplementation((...given) => going.promise.then(() => insert(...given)))
      for (const bytes of [2 ** 21, 2 ** 17, 2 ** 11]) await fill(bytes)
      await sendRefused(send, () => going.resolve())
    })
    let fillers = 0
    async function fill(bytes: number): Promise<void> {
      const at = '2026-03-05T12:00:00Z'
      const inputs = { text: 'x'.repeat(bytes) }
      const call = { op_name: 'fill', started_at: at, attributes: {}, inputs }
      // Projects that have nothing yet: none of them has more than its share.
      for (let status = 200; status === 200; fillers++) {
        const start = { ...call, project_id: `filler/${fillers}` }
        ;({ status } = await post(server.now().url, '/call/start', { start }))
      }
    }
    it.each(senders)('$language over $protocol', (sender) => expectTakenLater(sender, sentBy(sender)))
  })

  describe('are refused while the log is away, and send again', () => {
    const sentBy = whenAllSend({ name: 'away', env: patient }, (send) => {
      const seen = new Set<string>()
      onAppend(async (append, topic, rows) => {
        const first = `${topic} ${rows[0]?.project_id}`
        if (seen.has(first)) return append()
        seen.add(first)
        throw unavailable('The log is away')
      })
      return send()
    })
    it.each(senders)('$language over $protocol', async (sender) => {
      const sent = sentBy(sender)
      expect(sent.lines().filter(isRefused)).toHaveLength(2)
      await expectTakenLater(sender, sent)
    })
  })

  describe('give up at their deadline', () => {
    const gate = Promise.withResolvers<void>()
    const begun: Row[] = []
    // Go's exporter over HTTP may take its deadline for a fault that passes: the processors end that, by default after 30 s.
    const processors = { OTEL_BSP_EXPORT_TIMEOUT: '5000', OTEL_BLRP_EXPORT_TIMEOUT: '5000' }
    const env = (client: Client) => ({ ...patient(client, 2), ...processors })
    const sentBy = whenAllSend({ name: 'late', env }, async (send) => {
      onAppend(async (append, topic, rows) => {
        if (topic === 'calls') begun.push(...rows)
        await gate.promise
        return append()
      })
      await send()
    })
    it.each(senders)('$language over $protocol is told of no success', async (sender) => {
      const { errors, ms, lines, project } = sentBy(sender)
      expect(errors.length > 0).toBe(!sender.client.isQuiet)
      expect(ms).toBeGreaterThan(1_900)
      await eventually(() => expect(lines()).not.toEqual([]))
      expect(lines().filter(isTaken)).toEqual([])
      expect(await storedSpans(project)).toEqual([])
    })
    it.each(senders)('$language over $protocol: what had begun is there once', async (sender) => {
      gate.resolve()
      const { project, ids } = sentBy(sender)
      const wanted = new Set(begun.filter(({ project_id }) => project_id === project).map(({ id }) => id))
      expect(wanted.size).toBeGreaterThan(0)
      expect(ids).toEqual(expect.arrayContaining([...wanted]))
      await eventually(async () => expect(await storedSpans(project)).toEqual([...wanted].sort()))
    })
  })

  it('of Python send metrics, which are not stored, without a word of complaint', async () => {
    const sender = senders.find(({ user }) => user === 'python-grpc') as Sender
    const env = environmentOf(sender, 'clients/metrics', 'http') as Record<string, string>
    const report = await runProgram<object>(await pythonClient(), 'otlp_metrics.py', [], env)
    expect(report).toEqual({ flushed: true, lines: [] })
    expect(server.lines.filter((line) => /MetricsService\/Export","grpc":0,/.test(line)).length).toBeGreaterThan(0)
  })
})

describe('published exporters that are told of an authority', () => {
  beforeAll(() => start('--tls-cert', certificates.cert, '--tls-key', certificates.key))
  afterAll(remove)

  const from = senders.filter(({ client, protocol }) => client.tls.includes(protocol))
  const env = () => ({ OTEL_EXPORTER_OTLP_CERTIFICATE: certificates.ca })
  const sentBy = whenAllSend({ name: 'tls', scheme: 'https', from, env }, async (send) => {
    await send()
    // Those that read it trust no authority of a test.
    Object.assign(server.config, { tlsCert: undefined, tlsKey: undefined })
    await server.restart()
  })
  it.each(from)('$language sends over $protocol with TLS', async (sender) => {
    const sent = sentBy(sender)
    await expectAllStored(sent)
    // Not compressed: more than the texts alone.
    const bytes = sent.lines().reduce((sum, line) => sum + line.in, 0)
    expect(bytes).toBeGreaterThan(count * textBytes)
  })
})
