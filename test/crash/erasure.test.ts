// tier: deep crash
// An erasure that is killed wherever it is goes on after each start, and in the end nothing of the calls is in any file or
// table of the data folder, while everything of the others is.
import { appendFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { erasedTables } from '../../services/removal/places.ts'
import { basicAuth, type ChildServer, post, startChildServer } from '../fixtures/child-server.ts'
import { placesInFolder, runOnStore } from '../fixtures/data-folder.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { runs } from '../fixtures/runs.ts'
import { copyMigratedStore } from '../fixtures/setup.ts'

const [erased, other] = ['erased/app', 'erased/other']
const gone = 'canary-gone'
const stays = 'canary-stays'
const calls = 40
let folder: string
let server: ChildServer

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'callhouse-erasure-'))
  await copyMigratedStore(folder)
  // Files that are replaced stay for minutes otherwise.
  const settings = 'old_parts_lifetime = 1, cleanup_delay_period = 1, max_cleanup_delay_period = 1'
  const statements = erasedTables.map(
    (table) => `ALTER TABLE callhouse.${table} MODIFY SETTING ${settings}, cleanup_delay_period_random_add = 0`,
  )
  const name = `{ name: 'test', params: {} }`
  runOnStore(folder, `for (const sql of ${JSON.stringify(statements)}) await store.command({ ...${name}, sql })`)
  server = await startChildServer(folder, { CALLHOUSE_ERASE_HOURS: '0' })
})
afterAll(async () => {
  await server?.stop()
  await rm(folder, { recursive: true, force: true })
})

const idOf = (n: number): string => `0199a0c8-0000-7000-8000-${String(n).padStart(12, '0')}`

async function send(path: string, body: unknown): Promise<Record<string, unknown>> {
  const { status, text } = await post(server.url, path, body)
  expect([path, status < 300 ? '' : text]).toEqual([path, ''])
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
}

/** A file that holds a word many times; a large one lies in a file of its own. @returns its digest */
async function upload(project_id: string, word: string, bytes: number): Promise<string> {
  const body = new FormData()
  body.set('project_id', project_id)
  body.set('file', new Blob([`${word} `.repeat(bytes / word.length)]), 'note')
  const answer = await fetch(`${server.url}/file/create`, {
    method: 'POST',
    headers: { authorization: basicAuth() },
    body,
  })
  return ((await answer.json()) as { digest: string }).digest
}

async function fill(project_id: string, word: string): Promise<void> {
  const files = [await upload(project_id, word, 2_000), await upload(project_id, word, 400_000)]
  const at = (n: number) => new Date(Date.now() - 3_600_000 + n * 1_000).toISOString()
  for (let n = 0; n < calls; n++) {
    const of = { project_id, id: idOf(n) }
    const start = {
      ...of,
      trace_id: idOf(n % 5),
      op_name: `op ${word}`,
      started_at: at(n),
      thread_id: word,
      turn_id: idOf(n),
      attributes: { of: word },
      inputs: { text: word, n, files },
      display_name: word,
    }
    const end = { ...of, ended_at: at(n), output: [word], exception: word, summary: { note: word } }
    if (n % 2 === 0) await send(`/v2/${project_id}/calls/complete`, { batch: [{ ...start, ...end }] })
    else {
      await send('/call/start', { start })
      await send('/call/end', { end })
    }
    if (n % 4 === 0)
      await send('/feedback/create', {
        project_id,
        weave_ref: `weave:///${project_id}/call/${idOf(n)}`,
        feedback_type: 'note',
        payload: { note: word },
      })
  }
  const row = { kind: 'start', project_id, id: idOf(1), clock: 5, inputs: { text: word } }
  const letter = { id: word, topic: 'calls', partition: 0, offset: 10 ** 6, rowIndex: 0, reason: 'refused' }
  const line = JSON.stringify({ ...letter, at: new Date().toISOString(), row: JSON.stringify(row) })
  await appendFile(join(folder, 'deadletters.jsonl'), `${line}\n`)
}

async function restart(): Promise<void> {
  await server.kill()
  server = await startChildServer(folder, { CALLHOUSE_ERASE_HOURS: '0' })
}

it('a kill at any status of an erasure loses nothing of it, and nothing of others', async () => {
  await fill(erased, gone)
  await fill(other, stays)
  await restart()
  const { erasure_id } = await send('/erasures', { project_id: erased, thread_ids: [gone], reason: 'test' })
  const statusOf = async (): Promise<string> => {
    const url = `${server.url}/v2/${erased}/erasures/${erasure_id}`
    const answer = await fetch(url, { headers: { authorization: basicAuth() } })
    return ((await answer.json()) as { status: string }).status
  }
  const killedAt = new Set<string>()
  let kills = 0
  await expectSoon(
    async () => {
      const status = await statusOf()
      // At the first sight of each status, and some times more at any moment.
      if (status !== 'done' && (!killedAt.has(status) || kills++ < runs(3, 20))) {
        killedAt.add(status)
        await restart()
      }
      return status
    },
    { withinMs: 400_000, everyMs: 300 },
  ).toBe('done')
  expect([...killedAt]).toEqual(expect.arrayContaining(['removing', 'verifying']))
  const left = await send('/calls/query_stats', { project_id: other })
  expect(left.count).toBe(calls)
  await server.stop()
  expect(await placesInFolder(folder, gone, calls * 3)).toEqual([])
  const others = await placesInFolder(folder, stays, calls * 3)
  for (const place of [
    'deadletters.jsonl',
    'FOUND payloads',
    'FOUND calls ',
    'FOUND feedback ',
    'FOUND files ',
    '/blobs/',
    '/log/calls/',
  ])
    expect(others.filter((one) => one.includes(place)).length, place).toBeGreaterThan(0)
}, 600_000)
