// tier: deep compat
// telemetrygen, the load generator of OpenTelemetry, over gRPC and HTTP: as many spans and records are there as it sent.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { processEnv } from '../fixtures/process-env.ts'
import { goPrograms } from '../fixtures/programs.ts'

const run = promisify(execFile)
let programs: string
let server: LiveServer
beforeAll(async () => {
  programs = await goPrograms()
  server = await startLiveServer(['--otlp-grpc-port', '0', '--otlp-http-port', '0'])
}, 1_200_000)
afterAll(() => server?.remove())

type Kind = 'grpc' | 'http'
async function generate(signal: 'traces' | 'logs', kind: Kind, project: string, ...more: string[]): Promise<void> {
  const address = server.now().otlp?.[kind] as string
  const to = ['--otlp-insecure', '--otlp-endpoint', address, ...(kind === 'http' ? ['--otlp-http'] : [])]
  const headers = ['--otlp-header', 'authorization="Bearer test-key"', '--otlp-header', `project_id="${project}"`]
  await run(join(programs, 'telemetrygen'), [signal, ...to, ...headers, '--rate', '0', ...more], { env: processEnv() })
}
/** Rows of the table, not counting those that a later one replaces. */
async function rowsOf(table: 'calls' | 'logs', project: string): Promise<number> {
  const { store, worker } = server.now()
  await worker?.caughtUp()
  const [row] = await store.rows<{ count: string }>({
    name: 'test.stored',
    sql: `SELECT count() AS count FROM callhouse.${table} FINAL WHERE project_id = {project:String}`,
    params: { project },
  })
  return Number(row?.count)
}

describe.each(['grpc', 'http'] as const)('telemetrygen over %s', (kind) => {
  it('sends traces of two spans by two workers at once', async () => {
    await generate('traces', kind, `generated/${kind}`, '--workers', '2', '--traces', '50')
    expect(await rowsOf('calls', `generated/${kind}`)).toBe(2 * 50 * 2)
  })

  it('sends records, which differ by their times alone', async () => {
    await generate('logs', kind, `generated/${kind}`, '--logs', '100')
    expect(await rowsOf('logs', `generated/${kind}`)).toBe(100)
  })
})
