// The published Go exporter and telemetrygen over gRPC and HTTP: what they were told was taken is there once.
import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { processEnv } from '../fixtures/process-env.ts'

const run = promisify(execFile)
const telemetrygen = 'github.com/open-telemetry/opentelemetry-collector-contrib/cmd/telemetrygen'
const version = 'v0.161.0'
const programs = join(import.meta.dirname, '../../node_modules/.cache/callhouse-compat/go')
const inflightBytes = 2 * 2 ** 20
const buildMs = 900_000

let server: LiveServer
beforeAll(async () => {
  mkdirSync(programs, { recursive: true })
  const env = { ...processEnv(), GOBIN: programs, GOFLAGS: '-mod=mod' }
  await run('go', ['build', '-o', join(programs, 'client'), '.'], { cwd: join(import.meta.dirname, 'otlp'), env })
  await run('go', ['install', `${telemetrygen}@${version}`], { env })
  const bounds = ['--max-body-bytes', String(inflightBytes / 2), '--max-inflight-bytes', String(inflightBytes)]
  server = await startLiveServer([...bounds, '--otlp-grpc-port', '0', '--otlp-http-port', '0'])
}, buildMs)
afterAll(() => server?.remove())

type Report = { results: string[]; ids: string[] }
const address = (kind: 'grpc' | 'http') => server.now().otlp?.[kind] as string
async function send(project: string, batches: number, size: number): Promise<Report> {
  const args = [address('grpc'), project, String(batches), String(size)]
  const { stdout } = await run(join(programs, 'client'), args, { env: processEnv() })
  return JSON.parse(stdout) as Report
}
/** Of all rows of a table, so that one that came twice would show. */
async function stored(project: string, table: 'calls' | 'logs' = 'calls'): Promise<string[]> {
  const { store, worker } = server.now()
  await worker?.caughtUp()
  const rows = await store.rows<{ id: string }>({
    name: 'test.stored',
    sql: `SELECT id FROM callhouse.${table} FINAL WHERE project_id = {project:String} ORDER BY id`,
    params: { project },
  })
  return rows.map(({ id }) => id)
}
const ended = (status: number) => server.lines.filter((line) => line.includes(`"grpc":${status},`)).length

describe('the Go exporter over gRPC', () => {
  it('sends compressed spans, each of which is stored', async () => {
    const { results, ids } = await send('go/plain', 4, 250)
    expect(results).toEqual(['SUCCESS', 'SUCCESS', 'SUCCESS', 'SUCCESS'])
    expect(ids).toHaveLength(1000)
    expect(await stored('go/plain')).toEqual(ids.sort())
  })

  it('sends again what back pressure refused, after the time that it is told', async () => {
    const lease = server.now().http.shared.budget.lease({})
    lease.take(inflightBytes)
    try {
      const sending = send('go/pressed', 1, 100)
      await vi.waitFor(() => expect(ended(14)).toBeGreaterThan(0), 20_000)
      expect(await stored('go/pressed')).toEqual([])
      lease.release()
      const { results, ids } = await sending
      expect(results).toEqual(['SUCCESS'])
      expect(await stored('go/pressed')).toEqual(ids.sort())
    } finally {
      lease.release()
    }
  })
})

describe(`telemetrygen ${version}`, () => {
  const generate = (signal: 'traces' | 'logs', kind: 'grpc' | 'http', project: string) =>
    run(
      join(programs, 'telemetrygen'),
      [
        ...[signal, '--otlp-insecure', '--otlp-endpoint', address(kind), ...(kind === 'http' ? ['--otlp-http'] : [])],
        ...['--otlp-header', 'authorization="Bearer test-key"', '--otlp-header', `project_id="${project}"`],
        ...['--workers', '2', `--${signal}`, '50', '--rate', '0'],
      ],
      { env: processEnv() },
    )
  it.each(['grpc', 'http'] as const)('sends traces and logs over %s', async (kind) => {
    await generate('traces', kind, `go/${kind}`)
    await generate('logs', kind, `go/${kind}`)
    // Two workers, two spans in each trace.
    expect(await stored(`go/${kind}`)).toHaveLength(2 * 50 * 2)
    expect((await stored(`go/${kind}`, 'logs')).length).toBeGreaterThan(0)
  })
})
