// tier: deep crash
// kill -9 in the middle of a rebuild: the old tables answer, and the command goes on where the rebuild was.
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { askOverSocket } from '../../services/core/process/control-socket.ts'
import { post, postLines, startChildServer } from '../fixtures/child-server.ts'
import { eventually } from '../fixtures/eventually.ts'
import { processEnv } from '../fixtures/process-env.ts'

const main = fileURLToPath(new URL('../../services/main.ts', import.meta.url))
const project_id = 'crash/rebuild'
const perBatch = 1_000
let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'callhouse-rebuild-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const batchOf = (from: number) =>
  Array.from({ length: perBatch }, (_, i) => {
    const id = `00000000-0000-7000-8000-${String(from + i).padStart(12, '0')}`
    const started_at = new Date(Date.UTC(2026, 3, 1, 12, 0, 0, from + i)).toISOString()
    const start = { project_id, id, trace_id: id, op_name: 'op', started_at, attributes: {}, inputs: { i } }
    return [
      { mode: 'start', req: { start } },
      { mode: 'end', req: { end: { project_id, id, ended_at: started_at, output: i, summary: {} } } },
    ]
  }).flat()

const answers = async (url: string) => ({
  calls: await postLines(url, '/calls/stream_query', {
    project_id,
    sort_by: [{ field: 'started_at', direction: 'asc' }],
  }),
  count: JSON.parse((await post(url, '/calls/query_stats', { project_id })).text) as unknown,
})

const command = (...args: string[]) =>
  promisify(execFile)(process.execPath, [main, ...args, '--data-dir', dir], {
    env: processEnv(),
  })

it.each([
  ['calls', 2 * perBatch],
  ['call_keys', 4 * perBatch],
])('%s', { timeout: 300_000 }, async (table, least) => {
  const first = await startChildServer(dir)
  for (let n = 0; n < 3 && table === 'calls'; n++)
    expect((await post(first.url, '/call/upsert_batch', { batch: batchOf(n * perBatch) })).status).toBe(200)
  // So slow that it rests after its first batch until it is killed.
  expect(await askOverSocket(dir, { command: 'rebuild.start', args: [table, '1'] })).toMatchObject({ ok: true })
  const state = join(dir, 'rebuild.json')
  await eventually(() => expect(existsSync(state), first.output()).toBe(true), { withinMs: 60_000 })
  await eventually(
    () => expect((JSON.parse(readFileSync(state, 'utf8')) as { rows: number }).rows).toBeGreaterThan(0),
    { withinMs: 60_000 },
  )
  const more = table === 'calls' ? 3 : 4
  expect((await post(first.url, '/call/upsert_batch', { batch: batchOf(more * perBatch) })).status).toBe(200)
  const before = await answers(first.url)
  await first.kill()
  const { rows: done } = JSON.parse(readFileSync(state, 'utf8')) as { rows: number }

  // No server runs: the command opens the folder itself.
  const { stdout } = await command('rebuild', table, '--rows-per-second', '1000000')
  expect(stdout).toContain(`rebuild ${table}: goes on from ${done} rows`)
  expect(stdout).toMatch(new RegExp(`rebuild ${table}: done, 100 %, \\d+ rows`))
  expect(Number(/done, 100 %, (\d+) rows/.exec(stdout)?.[1])).toBeGreaterThanOrEqual(least)
  expect(existsSync(state)).toBe(false)

  const second = await startChildServer(dir)
  expect(before.calls).toHaveLength((more + 1) * perBatch)
  expect(await answers(second.url)).toEqual(before)
  await second.stop()
})
