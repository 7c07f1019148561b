// tier: deep kafka
// The command rebuild beside several workers: one at a time, killed in the middle, gone on with by another process.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ChildServer, post, postLines } from '../fixtures/child-server.ts'
import { eventually } from '../fixtures/eventually.ts'
import { createInstallation, type Installation } from '../fixtures/installation.ts'
import { kafkaBrokers } from '../fixtures/kafka.ts'
import { processEnv } from '../fixtures/process-env.ts'

const main = fileURLToPath(new URL('../../services/main.ts', import.meta.url))
const project_id = 'roles/rebuild'
const perBatch = 100
let installation: Installation
let server: ChildServer
let dir: string

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'callhouse-rebuild-'))
  installation = await createInstallation(await kafkaBrokers(), { CALLHOUSE_CLICKHOUSE_DATABASE: 'elsewhere' })
  server = await installation.start('serve')
  await installation.start('worker')
})
afterAll(async () => {
  await installation?.remove()
  await rm(dir, { recursive: true, force: true })
})

let written = 0
/** Calls in two parts, and new names of calls of the last round. */
async function write(): Promise<void> {
  const numbers = Array.from({ length: perBatch }, (_, n) => written + n)
  const idOf = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`
  const timeOf = (n: number) => new Date(Date.UTC(2026, n % 2, 5, 12, 0, n % 60, n % 1000)).toISOString()
  const send = async (path: string, body: unknown) => expect((await post(server.url, path, body)).status).toBe(200)
  await send('/call/upsert_batch', {
    batch: numbers.map((n) => {
      const of = { project_id, id: idOf(n), trace_id: idOf(n), op_name: 'op', started_at: timeOf(n) }
      return { mode: 'start', req: { start: { ...of, attributes: {}, inputs: { n } } } }
    }),
  })
  await send('/call/upsert_batch', {
    batch: numbers.map((n) => ({
      mode: 'end',
      req: { end: { project_id, id: idOf(n), ended_at: timeOf(n + 5), output: { n }, summary: {} } },
    })),
  })
  await send('/call/update', { project_id, call_id: idOf(Math.max(0, written - 1)), display_name: `name ${written}` })
  written += perBatch
}

const answers = async () => ({
  calls: await postLines(server.url, '/calls/stream_query', {
    project_id,
    sort_by: [
      { field: 'started_at', direction: 'asc' },
      { field: 'id', direction: 'asc' },
    ],
  }),
  count: JSON.parse((await post(server.url, '/calls/query_stats', { project_id })).text) as unknown,
})

function command(...args: string[]): { child: ChildProcess; text(): string; ended: Promise<number | null> } {
  const env = { ...processEnv(), CALLHOUSE_DATA_DIR: dir, ...installation.env }
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env })
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => (text += chunk))
  child.stderr.on('data', (chunk: Buffer) => (text += chunk))
  return { child, text: () => text, ended: new Promise((resolve) => child.once('exit', resolve)) }
}
const rowsOf = (text: string): number =>
  Math.max(0, ...[...text.matchAll(/(\d+) rows,/g)].map((match) => Number(match[1])))

it('a rebuild goes on after a kill, while two workers write, and changes no answer', { timeout: 300_000 }, async () => {
  for (let n = 0; n < 2; n++) await write()
  await answers()
  // So slow that it rests after its first batch until it is killed.
  const first = command('rebuild', 'calls', '--rows-per-second', '1')
  await eventually(() => expect([rowsOf(first.text()) > 0, first.text()]).toEqual([true, expect.any(String)]), {
    withinMs: 60_000,
  })
  const second = command('rebuild', 'calls')
  expect([await second.ended, second.text()]).toEqual([
    1,
    expect.stringContaining('another process works at a rebuild'),
  ])
  first.child.kill('SIGKILL')
  await first.ended
  await write()
  const before = await answers()
  expect(before.calls).toHaveLength(written)
  let isDone = false
  const writing = (async () => {
    do {
      await write()
      expect((await answers()).calls).toHaveLength(written)
    } while (!isDone)
  })()
  const again = command('rebuild', 'calls', '--rows-per-second', '100000')
  const code = await again.ended
  isDone = true
  await writing
  expect([code, again.text()]).toEqual([0, expect.stringContaining('rebuild calls: goes on from')])
  expect(again.text()).toContain('rebuild calls: done, 100 %')
  const after = await answers()
  expect(after.calls).toHaveLength(written)
  // All of it once more, from the log alone.
  const whole = command('rebuild', 'calls', '--rows-per-second', '100000')
  expect([await whole.ended, whole.text()]).toEqual([0, expect.stringContaining('rebuild calls: done, 100 %')])
  expect(await answers()).toEqual(after)
  const replay = command('replay', '--from', '1', '--rows-per-second', '100000')
  expect([await replay.ended, replay.text()]).toEqual([0, expect.stringContaining('replay: done, 100 %')])
  expect(rowsOf(replay.text())).toBeGreaterThanOrEqual(2 * written)
  expect(await answers()).toEqual(after)
})
