// The published Python exporter over gRPC, compressed and with TLS: what it was told was taken is there once, else not.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Certificates, makeCertificates } from '../fixtures/certificates.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { pythonEnvironment, runProgram } from '../fixtures/python.ts'

const version = '1.45.2'
const { python, install } = pythonEnvironment(`otlp-grpc-${version}`, [
  ...[`opentelemetry-exporter-otlp-proto-grpc==${version}`, `opentelemetry-sdk==${version}`, 'grpcio==1.85.1'],
])
const inflightBytes = 2 * 2 ** 20
const dir = mkdtempSync(join(tmpdir(), 'callhouse-python-grpc-'))
let made: Certificates
let server: LiveServer
beforeAll(async () => {
  await install()
  made = makeCertificates(dir)
  const bounds = ['--max-body-bytes', String(inflightBytes / 2), '--max-inflight-bytes', String(inflightBytes)]
  const secure = ['--tls-cert', made.cert, '--tls-key', made.key, '--otlp-grpc-port', '0']
  server = await startLiveServer([...bounds, ...secure])
}, 300_000)
afterAll(async () => {
  await server?.remove()
  rmSync(dir, { recursive: true, force: true })
})

type Report = { results: string[]; ids: string[] }
const send = (project: string, batches: number, size: number, seconds: number): Promise<Report> => {
  const numbers = [batches, size, seconds].map(String)
  const env = { HOME: dir, OTEL_EXPORTER_OTLP_CERTIFICATE: made.ca }
  return runProgram<Report>(python, 'otlp_grpc.py', [server.now().otlp?.grpc as string, project, ...numbers], env)
}
/** Of all rows, so that one that came twice would show. */
async function stored(project: string): Promise<string[]> {
  const { store, worker } = server.now()
  await worker?.caughtUp()
  const rows = await store.rows<{ id: string }>({
    name: 'test.stored',
    sql: 'SELECT id FROM callhouse.calls FINAL WHERE project_id = {project:String} ORDER BY id',
    params: { project },
  })
  return rows.map(({ id }) => id)
}
/** How calls ended, by the lines of the log. */
const ended = (status: number) => server.lines.filter((line) => line.includes(`"grpc":${status},`)).length

describe(`the Python exporter ${version} over gRPC`, () => {
  it('sends compressed spans over TLS, each of which is stored', async () => {
    const { results, ids } = await send('python/plain', 4, 250, 10)
    expect(results).toEqual(['SUCCESS', 'SUCCESS', 'SUCCESS', 'SUCCESS'])
    expect(await stored('python/plain')).toEqual(ids.sort())
    expect(ids).toHaveLength(1000)
  })

  it('sends metrics, which are not stored, without a word of complaint', async () => {
    const env = { HOME: dir, OTEL_EXPORTER_OTLP_CERTIFICATE: made.ca }
    const address = server.now().otlp?.grpc as string
    const report = await runProgram<object>(python, 'otlp_metrics.py', [address, 'python/metrics'], env)
    expect(report).toEqual({ flushed: true, lines: [] })
    expect(server.lines.filter((line) => /MetricsService\/Export","grpc":0,/.test(line)).length).toBeGreaterThan(0)
  })

  it('sends again what back pressure refused, after the time that it is told', async () => {
    const lease = server.now().http.shared.budget.lease({})
    lease.take(inflightBytes)
    try {
      const sending = send('python/pressed', 1, 100, 30)
      await vi.waitFor(() => expect(ended(14)).toBeGreaterThan(0), 20_000)
      expect(await stored('python/pressed')).toEqual([])
      lease.release()
      const { results, ids } = await sending
      expect(results).toEqual(['SUCCESS'])
      expect(await stored('python/pressed')).toEqual(ids.sort())
    } finally {
      lease.release()
    }
  })

  it('gives up at its deadline, and nothing of that is stored', async () => {
    const lease = server.now().http.shared.budget.lease({})
    lease.take(inflightBytes)
    try {
      // Before the two seconds after which the server refuses.
      expect((await send('python/late', 1, 100, 1)).results).toEqual(['FAILURE'])
    } finally {
      lease.release()
    }
    const { results, ids } = await send('python/late', 1, 10, 10)
    expect(results).toEqual(['SUCCESS'])
    expect(await stored('python/late')).toEqual(ids.sort())
  })
})
