// tier: deep crash
// One machine that lost its log, its tables, both, or its keys: no start answers wrongly, and each has a way back.
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Config, loadConfig } from '../../services/app/config.ts'
import { examineStore, findingsText } from '../../services/app/doctor.ts'
import { type Callhouse, startCallhouse } from '../../services/app/server.ts'
import { askOverSocket } from '../../services/core/process/control-socket.ts'
import { createLogger, type LogOutput } from '../../services/core/process/logger.ts'
import { callhouse } from '../fixtures/callhouse.ts'
import { basicAuth } from '../fixtures/child-server.ts'
import { checkCalls, writeCalls } from '../fixtures/known-calls.ts'
import { copyMigratedStore } from '../fixtures/setup.ts'

const old = 'lost/old'
const fresh = 'lost/new'
const half = 30

let folder: string
let template: string
let dataDir: string
let server: Callhouse | undefined

const start = async (...flags: string[]): Promise<string> => {
  server = await startCallhouse(...settingsOf(flags))
  return server.url
}
function settingsOf(flags: string[]): [Config, LogOutput] {
  const memory = ['--memory-cap-bytes', String(2 ** 30), '--min-free-bytes', '0', '--freshness-ms', '60000']
  const argv = ['--port', '0', '--data-dir', dataDir, ...memory, ...flags]
  const env = flags.includes('--keys') ? {} : { CALLHOUSE_KEYS: 'tester:test-key' }
  const loaded = loadConfig({ env, argv })
  if (!loaded.ok) throw new Error(loaded.lines.join())
  return [loaded.config, createLogger({ level: 'error', out: { write: () => undefined } })]
}
const stop = async (): Promise<void> => {
  const stopped = server
  server = undefined
  expect((await stopped?.shutdown.run('test')) ?? true).toBe(true)
}
const health = async (): Promise<{ status: string; reasons?: { storage?: string } }> =>
  (await fetch(`${server?.url}/health`)).json() as Promise<{ status: string; reasons?: { storage?: string } }>
const doctor = async (): Promise<string> =>
  findingsText(await examineStore(settingsOf([])[0], (server as Callhouse).store))

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'callhouse-lost-'))
  template = join(folder, 'template')
  dataDir = template
  await mkdir(template)
  await copyMigratedStore(template)
  const url = await start()
  // Two segments of calls: one can be lost and the other one kept.
  await writeCalls(url, old, 0, half)
  await checkCalls(url, old, half)
  await cp(join(template, 'log'), join(folder, 'older-log'), {
    recursive: true,
    filter: (path) => !path.includes('/lock-'),
  })
  await writeCalls(url, old, half, 2 * half)
  await checkCalls(url, old, 2 * half, [0, half])
  await stop()
})
afterAll(() => rm(folder, { recursive: true, force: true }))
beforeEach(async () => {
  dataDir = await mkdtemp(join(folder, 'data-'))
  await cp(template, dataDir, { recursive: true, verbatimSymlinks: true })
})
afterEach(stop)

const lose = (name: string): Promise<void> => rm(join(dataDir, name), { recursive: true })
/** As a start without tables would make them, which takes longer. */
const loseTables = async (): Promise<void> => {
  await lose('clickhouse')
  await copyMigratedStore(dataDir)
}
const segments = async (): Promise<string[]> =>
  (await readdir(join(dataDir, 'log/calls'))).filter((name) => /\.jsonl/.test(name)).sort()

/** Every answer about what was written before, and about a project that is new. */
async function checkAll(url: string, write: boolean): Promise<void> {
  await checkCalls(url, old, 2 * half, [0, half])
  if (write) await writeCalls(url, fresh, 0, half)
  await checkCalls(url, fresh, half)
}

it('a server does not start on tables whose log is gone, until an operator adopts them', async () => {
  await lose('log')
  await expect(start()).rejects.toThrow(/were filled from another log .*--adopt-log.*replay.*rebuild/)
  await expect(start()).rejects.toThrow(/were filled from another log/)
  await writeFile(
    join(dataDir, 'rebuild.json'),
    JSON.stringify({ table: 'calls', log: 'the old one', cursor: [9], notes: [] }),
  )
  await checkAll(await start('--adopt-log'), true)
  expect(await health()).toMatchObject({ status: 'ok' })
  const rebuild = (command: string) => askOverSocket(dataDir, { command, args: ['calls'] })
  expect(await rebuild('rebuild.start')).toMatchObject({ reason: expect.stringMatching(/begun with another log/) })
  expect(await rebuild('rebuild.abandon')).toMatchObject({ ok: true })
  await stop()
  await checkAll(await start(), false)
  expect(await health()).toMatchObject({ status: 'ok' })
})

it('replay and rebuild let a new log adopt the tables when asked to', async () => {
  await lose('log')
  const settings = { CALLHOUSE_DATA_DIR: dataDir }
  await expect(callhouse(['replay', '--from', '1'], settings)).rejects.toThrow(/were filled from another log/)
  expect(await callhouse(['rebuild', 'calls', '--adopt-log'], settings)).toContain('done, 100 %')
  await lose('log')
  expect(await callhouse(['replay', '--from', '1', '--adopt-log'], settings)).toContain('done, 100 %')
  await checkAll(await start(), true)
})

it('lost tables are filled from the log by themselves', async () => {
  await lose('clickhouse')
  await checkAll(await start(), true)
  expect(await health()).toMatchObject({ status: 'ok' })
})

it('missing records are reported, over restarts, until an operator acknowledges them', async () => {
  await loseTables()
  expect((await segments()).length).toBeGreaterThan(1)
  await rm(join(dataDir, 'log/calls', (await segments())[0] as string))
  const url = await start()
  const { count } = (await (await countOf(url)).json()) as { count: number }
  expect(count).toBeLessThan(2 * half)
  for (let round = 0; round < 2; round++) {
    const { status, reasons } = await health()
    expect([status, reasons?.storage]).toEqual([
      'degraded',
      expect.stringMatching(/^calls: records accepted before 20/),
    ])
    expect(reasons?.storage).not.toContain('/')
    expect(await doctor()).toMatch(/FAIL +records +calls: records accepted before 20/)
    await stop()
    await start()
  }
  await stop()
  await start('--adopt-log')
  expect(await health()).toMatchObject({ status: 'ok' })
  await stop()
  await writeCalls(await start(), fresh, 0, half)
  await checkCalls(server?.url as string, fresh, half)
  expect(await health()).toMatchObject({ status: 'ok' })
})

it('a server does not start on a log that ends before its tables, until an operator accepts it', async () => {
  await lose('log')
  await cp(join(folder, 'older-log'), join(dataDir, 'log'), { recursive: true })
  await expect(start()).rejects.toThrow(/ends at \d+, and the tables hold what it held up to \d+.*--adopt-log/)
  await checkAll(await start('--adopt-log'), true)
})

it('a server does not start on a log whose last segment is gone, until an operator accepts it', async () => {
  await rm(join(dataDir, 'log/calls', (await segments()).at(-1) as string))
  await expect(start()).rejects.toThrow(/records are missing; --adopt-log/)
  await checkAll(await start('--adopt-log'), true)
})

it('without log and tables a server starts empty', async () => {
  await lose('log')
  await loseTables()
  const url = await start()
  await writeCalls(url, old, 0, half)
  await checkCalls(url, old, half)
  expect(await health()).toMatchObject({ status: 'ok' })
})

it('when the keys are gone a start makes a new first key, which opens everything', async () => {
  await start('--keys', '')
  const first = server?.firstKey as string
  await stop()
  await lose('directory.jsonl')
  const url = await start('--keys', '')
  expect((await countOf(url, first)).status).toBe(401)
  expect(await (await countOf(url, server?.firstKey)).json()).toMatchObject({ count: 2 * half })
})

const countOf = (url: string, key?: string): Promise<Response> =>
  fetch(`${url}/calls/query_stats`, {
    method: 'POST',
    headers: { authorization: basicAuth(key), 'content-type': 'application/json' },
    body: JSON.stringify({ project_id: old }),
  })
