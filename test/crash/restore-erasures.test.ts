// tier: deep crash
// A backup from before an erasure brings nothing back: what was erased since is deleted again before anybody reads.
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { callhouse } from '../fixtures/callhouse.ts'
import { basicAuth, type ChildServer, post, postLines, startChildServer } from '../fixtures/child-server.ts'
import { runOnStore } from '../fixtures/data-folder.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { copyMigratedStore } from '../fixtures/setup.ts'

const project = 'restored/app'
const removed = 'restored/removed'
const word = 'canary-erased'
const [gone, goneToo, stays, all] = [1, 2, 3, 4].map((n) => `0199a0c8-0000-7000-8000-00000000000${n}`) as [
  string,
  string,
  string,
  string,
]
let folder: string
let server: ChildServer
const path = (name: string) => join(folder, name)
const dataOf = (name: string) => ({ CALLHOUSE_DATA_DIR: path(name) })

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'callhouse-restore-erasures-'))
  await copyMigratedStore(path('data'))
  server = await startChildServer(path('data'))
})
afterAll(async () => {
  await server?.stop()
  await rm(folder, { recursive: true, force: true })
})

const call = (project_id: string, id: string, text: string) => ({
  project_id,
  id,
  trace_id: id,
  op_name: 'op',
  started_at: new Date().toISOString(),
  attributes: {},
  inputs: { text },
  ended_at: new Date().toISOString(),
  output: text,
  summary: {},
})
async function send(way: string, body: unknown, method = 'POST'): Promise<void> {
  const headers = { authorization: basicAuth(), 'content-type': 'application/json', project_id: project }
  const answer = await fetch(`${server.url}${way}`, { method, headers, body: JSON.stringify(body) })
  expect([way, answer.status < 300 ? '' : await answer.text()]).toEqual([way, ''])
}
const atMs = Date.now() - 60_000
const hour = { start: new Date(atMs - 3_600_000).toISOString(), end: new Date(atMs + 3_600_000).toISOString() }
const logRecord = (body: string) => ({ timeUnixNano: `${atMs}000000`, body: { stringValue: body } })
const idsOf = async (project_id: string): Promise<string[]> =>
  (await postLines<{ id: string }>(server.url, '/calls/stream_query', { project_id })).map(({ id }) => id)

it('a restore deletes again what a file of erasures names, and keeps the rest', async () => {
  const batch = [call(project, gone, word), call(project, stays, 'text'), call(project, goneToo, word)]
  await send(`/v2/${project}/calls/complete`, { batch })
  await send(`/v2/${removed}/calls/complete`, { batch: [call(removed, all, word)] })
  await send('/otel/v1/logs', { resourceLogs: [{ scopeLogs: [{ logRecords: [word, 'text'].map(logRecord) }] }] })
  await callhouse(['backup', path('backup')], dataOf('data'))
  await send('/logs/delete', { project_id: project, ...hour, contains: word })
  await send('/erasures', { project_id: project, call_ids: [gone], reason: 'asked for' })
  await send('/calls/delete', { project_id: project, call_ids: [goneToo] })
  await send(`/v2/${removed}`, { confirm: removed }, 'DELETE')
  expect(await callhouse(['erasures', 'export', path('erased.jsonl')], dataOf('data'))).toBe(
    '2 deleted calls, 1 deleted log record, 1 removed project\n',
  )
  expect((await stat(path('erased.jsonl'))).mode & 0o077).toBe(0)
  expect(await callhouse(['erasures', 'list', project], dataOf('data'))).toMatch(/asked|1 call {2}hidden/)
  await server.stop()

  const said = await callhouse(['restore', path('backup'), '--erasures', path('erased.jsonl')], dataOf('restored'))
  expect(said).toContain('is deleted again')
  server = await startChildServer(path('restored'), { CALLHOUSE_ERASE_HOURS: '0' })
  expect(await idsOf(project)).toEqual([stays])
  const records = await postLines<{ body: string }>(server.url, '/logs/query', { project_id: project, ...hour })
  expect(records.map(({ body }) => body)).toEqual(['text'])
  expect((await post(server.url, '/calls/stream_query', { project_id: removed })).status).toBe(410)
  // And removed, though its erasure is not told of here: files that are replaced stay for minutes.
  const metrics = async () => (await fetch(`${server.url}/metrics`, { headers: { authorization: basicAuth() } })).text()
  await expectSoon(metrics, { withinMs: 60_000 }).toContain('erasure.rewrite')
  await server.stop()
  const count =
    "SELECT toUInt32(countIf(inputs LIKE '%canary%')) AS gone, groupUniqArray(id) AS ids FROM callhouse.payloads"
  const found = runOnStore(
    path('restored'),
    `console.log(JSON.stringify(await rows("${count} SETTINGS apply_deleted_mask = 0")))`,
  )
  expect(JSON.parse(found)).toEqual([{ gone: 0, ids: [stays] }])
})

it('a restore says what comes back, and makes no data folder with a file that cannot be used', async () => {
  expect(await callhouse(['restore', path('backup')], dataOf('without'))).toContain('are back: --erasures')
  expect(await callhouse(['restore', path('backup'), '--erasures', 'none'], dataOf('meant'))).not.toContain('are back')
  await writeFile(path('bad.jsonl'), '{"project_id":"a/b","id":"c","clock":"1"}\n{"project_id":"a/b"}\n')
  const failed = callhouse(['restore', path('backup'), '--erasures', path('bad.jsonl')], dataOf('bad'))
  await expect(failed).rejects.toThrow(/line 2: must have project_id/)
  await expect(stat(path('bad'))).rejects.toThrow('ENOENT')
})

it('holds are made, listed and released by command, and mistakes are said', async () => {
  const holds = (...words: string[]) => callhouse(['holds', ...words], dataOf('meant'))
  const id = /^hold (\S+):/.exec(await holds('add', project, '--traces', 'a,b', '--reason', 'a case'))?.[1] as string
  expect(await holds('list', project)).toMatch(new RegExp(`^${id} .*trace_ids=a,b .*command  a case\n$`))
  await expect(holds('add', project)).rejects.toThrow('reason')
  await expect(holds('add', 'entity', '--reason', 'r')).rejects.toThrow('is no <entity>/<project>')
  expect(await holds('release', id)).toContain('is released')
  await expect(holds('release', id)).rejects.toThrow(`Hold ${id} not found`)
  expect(await holds('list')).toBe('')
})
