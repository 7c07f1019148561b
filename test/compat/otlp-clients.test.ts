// The published exporters of Python, Node, Java and Rust with nothing but the variables of OpenTelemetry: what they send
// over gRPC and HTTP is there once, over TLS and after back pressure too.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { unavailable } from '../../services/core/errors.ts'
import type { Log } from '../../services/core/log/log.ts'
import { makeCertificates } from '../fixtures/certificates.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { processEnv } from '../fixtures/process-env.ts'
import { pythonEnvironment } from '../fixtures/python.ts'

const run = promisify(execFile)
const here = import.meta.dirname
const cache = join(here, '../../node_modules/.cache/callhouse-compat')
const pythonVersion = '1.45.2'
const { python, install } = pythonEnvironment(`otlp-defaults-${pythonVersion}`, [
  ...[`opentelemetry-exporter-otlp==${pythonVersion}`, `opentelemetry-sdk==${pythonVersion}`],
])

const protocols = ['grpc', 'http/protobuf'] as const
type Protocol = (typeof protocols)[number]

type Client = {
  name: string
  build(): Promise<unknown>
  command: [program: string, ...args: string[]]
  /** Over what it sends again what was refused for a while, as the specification says. */
  retries: readonly Protocol[]
  /** Reads OTEL_EXPORTER_OTLP_CERTIFICATE. */
  readsCertificate: boolean
}
const clients: Client[] = [
  {
    name: 'Python',
    build: install,
    command: [python, join(here, 'otlp_defaults.py')],
    retries: protocols,
    readsCertificate: true,
  },
  {
    name: 'Node',
    build: async () => undefined,
    command: [process.execPath, join(here, 'otlp-defaults.mjs')],
    retries: ['http/protobuf'],
    readsCertificate: true,
  },
  {
    name: 'Java',
    build: () =>
      run('mvn', ['-q', '-B', 'dependency:copy-dependencies', `-DoutputDirectory=${join(cache, 'java')}`], {
        cwd: join(here, 'java'),
      }),
    command: ['java', '-cp', `${join(cache, 'java')}/*`, join(here, 'java/Client.java')],
    retries: protocols,
    readsCertificate: true,
  },
  {
    name: 'Rust',
    build: () =>
      run('cargo', ['build', '--quiet', '--locked', '--target-dir', join(cache, 'rust')], { cwd: join(here, 'rust') }),
    command: [join(cache, 'rust/debug/client')],
    retries: protocols,
    readsCertificate: false,
  },
]
const inflightBytes = 2 * 2 ** 20
const count = 600
const dir = mkdtempSync(join(tmpdir(), 'callhouse-otlp-clients-'))
const certificates = makeCertificates(dir)
let server: LiveServer
/** An engine holds one folder at a time in a process: one server after the other. */
const start = async (...flags: string[]): Promise<void> => {
  server = await startLiveServer(['--otlp-grpc-port', '0', '--otlp-http-port', '0', ...flags])
}
const remove = () => server?.remove()
beforeAll(async () => {
  mkdirSync(cache, { recursive: true })
  for (const { build } of clients) await build()
}, 1_200_000)
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const addressOf = (protocol: Protocol): string => server.now().otlp?.[protocol === 'grpc' ? 'grpc' : 'http'] as string
const projectOf = (client: Client, protocol: Protocol) => `clients/${client.name.toLowerCase()}-${protocol.slice(0, 4)}`

async function send(
  { command: [program, ...args] }: Client,
  protocol: Protocol,
  project: string,
  endpoint: string,
  env: Record<string, string> = {},
): Promise<{ errors: string[]; ids: string[] }> {
  const { stdout } = await run(program, [...args, String(count)], {
    env: {
      ...processEnv(),
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20test-key,project_id=${project}`,
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      ...env,
    },
    maxBuffer: 2 ** 26,
  })
  return JSON.parse(stdout.trim().split('\n').at(-1) as string)
}

/** Of all rows of a table, so that one that came twice would show. */
async function stored(project: string, table: 'calls' | 'logs'): Promise<string[]> {
  const { store, worker } = server.now()
  await worker?.caughtUp()
  const rows = await store.rows<{ id: string }>({
    name: 'test.stored',
    sql: `SELECT id FROM callhouse.${table} FINAL WHERE project_id = {project:String} ORDER BY id`,
    params: { project },
  })
  return rows.map(({ id }) => id)
}
const refusals = () => server.lines.filter((line) => /"grpc":14,|"status":(?:429|503),/.test(line)).length

/** From now on every append goes through this, which gets what the log would do. */
function onAppend(around: (append: () => ReturnType<Log['append']>) => ReturnType<Log['append']>): void {
  const { log } = server.now()
  const append = log.append.bind(log)
  vi.spyOn(log, 'append').mockImplementation((...given: Parameters<Log['append']>) =>
    given[0] === 'usage' ? append(...given) : around(() => append(...given)),
  )
}

const cases = clients.flatMap((client) => protocols.map((protocol) => [client.name, protocol, client] as const))

describe('exporters set up by the variables of OpenTelemetry', () => {
  beforeAll(() => start('--max-body-bytes', String(inflightBytes / 2), '--max-inflight-bytes', String(inflightBytes)))
  afterAll(remove)

  it.each(cases)('%s sends spans and logs over %s, compressed', async (_, protocol, client) => {
    const project = projectOf(client, protocol)
    const { errors, ids } = await send(client, protocol, project, `http://${addressOf(protocol)}`)
    expect(errors).toEqual([])
    expect(ids).toHaveLength(count)
    expect(await stored(project, 'calls')).toEqual(ids.sort())
    expect(await stored(project, 'logs')).toHaveLength(count)
  })

  it.each(cases)('%s is held back over %s, and told what became of it', async (_, protocol, client) => {
    const project = `${projectOf(client, protocol)}-pressed`
    const lease = server.now().http.shared.budget.lease({})
    const before = refusals()
    lease.take(inflightBytes)
    try {
      const sending = send(client, protocol, project, `http://${addressOf(protocol)}`)
      await vi.waitFor(() => expect(refusals()).toBeGreaterThan(before), 30_000)
      expect(await stored(project, 'calls')).toEqual([])
      lease.release()
      const { errors, ids } = await sending
      const got = await stored(project, 'calls')
      if (client.retries.includes(protocol)) {
        expect(errors).toEqual([])
        expect(got).toEqual(ids.sort())
      } else {
        // It is told that not all was taken, and what was taken is there once.
        expect(errors).not.toEqual([])
        expect(got).toEqual(ids.filter((id) => got.includes(id)).sort())
      }
    } finally {
      lease.release()
    }
  })
})

/** Those that a log which is away or slow was tried with. */
const tried = cases.filter(([name]) => name !== 'Rust')

describe('exporters of a server whose log is away or slow', () => {
  beforeAll(() => start())
  afterEach(() => vi.restoreAllMocks())
  afterAll(remove)

  it.each(tried.filter(([, protocol, { retries }]) => retries.includes(protocol)))(
    '%s sends again over %s what was refused while the log was away',
    async (_, protocol, client) => {
      const project = `${projectOf(client, protocol)}-away`
      let left = 2
      onAppend(async (append) => {
        if (left-- > 0) throw unavailable('The log is away')
        return append()
      })
      const before = refusals()
      const { errors, ids } = await send(client, protocol, project, `http://${addressOf(protocol)}`)
      expect(refusals() - before).toBe(2)
      expect(errors).toEqual([])
      expect(await stored(project, 'calls')).toEqual(ids.sort())
      expect(await stored(project, 'logs')).toHaveLength(count)
    },
  )

  it.each(tried)(
    '%s gives up at its deadline over %s, and what had begun is there once',
    async (_, protocol, client) => {
      const project = `${projectOf(client, protocol)}-late`
      const gate = Promise.withResolvers<void>()
      let begun = 0
      onAppend(async (append) => {
        begun++
        await gate.promise
        return append()
      })
      // The specification says milliseconds; Python reads seconds.
      const env = { OTEL_EXPORTER_OTLP_TIMEOUT: client.name === 'Python' ? '1' : '1000' }
      const { ids } = await send(client, protocol, project, `http://${addressOf(protocol)}`, env)
      // It has ended, and nothing was answered.
      expect(begun).toBeGreaterThan(0)
      expect(await stored(project, 'calls')).toEqual([])
      gate.resolve()
      await vi.waitFor(async () => expect(await stored(project, 'calls')).not.toEqual([]), 30_000)
      const got = await stored(project, 'calls')
      expect(got).toEqual(ids.filter((id) => got.includes(id)).sort())
    },
  )
})

describe('exporters that are told of an authority by a variable', () => {
  beforeAll(() => start('--tls-cert', certificates.cert, '--tls-key', certificates.key))
  afterAll(remove)

  it.each(cases.filter(([, , { readsCertificate }]) => readsCertificate))(
    '%s sends over %s with TLS',
    async (_, protocol, client) => {
      const project = projectOf(client, protocol)
      const env = { OTEL_EXPORTER_OTLP_CERTIFICATE: certificates.ca }
      const { errors, ids } = await send(client, protocol, project, `https://${addressOf(protocol)}`, env)
      expect(errors).toEqual([])
      expect(await stored(project, 'calls')).toEqual(ids.sort())
    },
  )
})
