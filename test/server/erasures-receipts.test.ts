// tier: deep slow
// Erasures to their end: by other ways in, after a start in the middle, held and released, and with receipts in a chain.
import { createHash } from 'node:crypto'
import { appendFile, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { canonicalJson } from '../../services/core/json/canonical.ts'
import { basicAuth, post } from '../fixtures/child-server.ts'
import {
  derive,
  erase,
  erasedId,
  hasOwnLog,
  placesOf,
  reaches,
  readErasure,
  receiptsOf,
  removed,
  sendCall,
  startErasingServer,
} from '../fixtures/erasing-server.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import type { LiveServer } from '../fixtures/live-server.ts'

let server: LiveServer
beforeAll(async () => {
  server = await startErasingServer()
})
afterAll(() => server.remove())

const project = 'ent/erased'
const other = 'ent/other'

it('calls deleted by /calls/delete are removed, too, and data that comes again goes with the next', async () => {
  await sendCall(server, project, 4, 'canary-four')
  const deleted = await post(server.now().url, '/calls/delete', { project_id: project, call_ids: [erasedId(4)] })
  expect(JSON.parse(deleted.text)).toEqual({ num_deleted: 1 })
  await removed(server, project, deleted.headers.get('x-callhouse-erasure') as string)
  expect(await placesOf(server, 'canary-four')).toEqual([])
  await sendCall(server, project, 4, 'canary-again')
  expect(
    await server.list('/calls/stream_query', { project_id: project, filter: { call_ids: [erasedId(4)] } }),
  ).toEqual([])
  await sendCall(server, project, 5, 'canary-five')
  const { body } = await erase(server, { project_id: project, thread_ids: ['thread-canary-five'], reason: 'a thread' })
  expect(body).toMatchObject({ calls: 1, missing: 0 })
  await removed(server, project, body.erasure_id)
  await derive(server)
  for (const word of ['canary-again', 'canary-five']) expect(await placesOf(server, word)).toEqual([])
})

it('a start in the middle goes on with it, and dead letters go, too', async () => {
  const row = `{"kind":"start","project_id":"${project}","id":"${erasedId(6)}","clock":7,"inputs":{"text":"refused canary-six"}}`
  const place = { topic: 'calls', partition: 0, rowIndex: 0, reason: 'refused', at: new Date().toISOString() }
  const letters = join(server.dataDir, 'deadletters.jsonl')
  const others = JSON.stringify({ ...place, id: 'other', offset: 1_000_001, row: row.replace(erasedId(6), 'other') })
  await appendFile(letters, `${JSON.stringify({ ...place, id: 'own', offset: 1_000_000, row })}\n${others}\n`)
  await server.restart()
  await sendCall(server, project, 6, 'canary-six')
  await derive(server)
  const query = { $expr: { $eq: [{ $getField: 'inputs.text' }, { $literal: 'in canary-six' }] } }
  const { body } = await erase(server, { project_id: project, query, reason: 'a query' })
  expect(body).toMatchObject({ calls: 1 })
  await server.restart()
  await removed(server, project, body.erasure_id)
  expect(await placesOf(server, 'canary-six')).toEqual([])
  expect(await readFile(letters, 'utf8')).toBe(`${others}\n`)
  expect(await readErasure(server, project, body.erasure_id)).toMatchObject({ counts: { dead_letters: 1 } })
})

it('an erasure waits while something of the project is held, and goes on when it is released', async () => {
  const held = 'ent/held'
  await sendCall(server, held, 1, 'canary-held')
  const hold = await server.send<{ id: string }>(`/v2/${held}/holds`, { all: true, reason: 'a case' })
  const { body } = await erase(server, { project_id: held, call_ids: [erasedId(1)], reason: 'asked for' })
  await reaches(server, held, body.erasure_id, 'held')
  // It is hidden all the same.
  expect(await server.list('/calls/stream_query', { project_id: held })).toEqual([])
  expect(await placesOf(server, 'canary-held')).toContain('payloads')
  const headers = { authorization: basicAuth() }
  await fetch(`${server.now().url}/v2/${held}/holds/${hold.id}`, { method: 'DELETE', headers })
  await removed(server, held, body.erasure_id)
  expect(await placesOf(server, 'canary-held')).toEqual([])
})

it('a receipt names backups since the first of its calls, and objects and rows with refs to them', async () => {
  const backup = async (at: string, target: string): Promise<void> => {
    const sql = `INSERT INTO callhouse.audit_events (scope, at, chain, seq, action, target)
      VALUES ('*', '${at.replace(/[TZ]/g, ' ').trim()}', '${target}', 1, 'backup.ended', '${target}')`
    await server.now().store.command({ name: 'test.backup', sql, params: {} })
  }
  const [before, after] = [new Date(Date.now() - 3_600_000).toISOString(), new Date(Date.now() + 60_000).toISOString()]
  await sendCall(server, project, 8, 'canary-named')
  await backup(before, '/backups/before')
  await backup(after, '/backups/after')
  const ref = (n: number, of = project) => `weave:///${of}/call/${erasedId(n)}`
  const object = (object_id: string, of: unknown) =>
    server.send<{ digest: string }>('/obj/create', { obj: { project_id: project, object_id, val: { of } } })
  const named = await object('names', [ref(8)])
  await object('other', `${ref(80)} and ${ref(8, other)}`)
  const table = await server.send<{ row_digests: string[] }>('/table/create', {
    table: { project_id: project, rows: [{ of: `see ${ref(8)}?x` }, { of: ref(81) }] },
  })
  const { body } = await erase(server, { project_id: project, call_ids: [erasedId(8)], reason: 'named' })
  await removed(server, project, body.erasure_id)
  await reaches(server, project, body.erasure_id, 'done')
  const receipt = await readErasure(server, project, body.erasure_id)
  expect(receipt.remaining).toEqual([
    { place: `backup of ${after}`, until: null },
    ...(hasOwnLog(server)
      ? []
      : ['log', 'large records of the log'].map((place) => ({ place, until: expect.any(String) }))),
    { place: `object names:${named.digest}`, until: null },
    { place: `row ${table.row_digests[0]}`, until: null },
    { place: 'objects and tables, and files that something else names', until: null },
    { place: 'files that nothing named, such as images of requests without a call', until: null },
    { place: 'backups and exports', until: null },
  ])
  const hmac = hasOwnLog(server) ? expect.stringMatching(/^[0-9a-f]{64}$/) : null
  expect(receipt).toMatchObject({ held: 0, selector_hmac: hmac })
  const [asked, hidden, done] = [receipt.requested_at, receipt.hidden_at, receipt.done_at].map((at) =>
    Date.parse(at as string),
  ) as [number, number, number]
  expect([hidden >= asked, hidden <= done, hidden - asked < 60_000]).toEqual([true, true, true])
}, 180_000)

it('an erasure is done once the files that were replaced are gone, with receipts in a chain', async () => {
  await expectSoon(async () => (await receiptsOf(server, project)).map(({ status }) => status), {
    withinMs: 120_000,
    everyMs: 500,
  }).toEqual(['done', 'done', 'done', 'done'])
  const receipts = (await receiptsOf(server, project)).sort((a, b) =>
    String(a.done_at).localeCompare(String(b.done_at)),
  )
  const hashes = receipts.map(({ hash }) => hash)
  expect(new Set(hashes).size).toBe(4)
  const previous = receipts.map((receipt) => receipt.previous)
  expect(previous.filter((one) => one === '')).toHaveLength(1)
  for (const one of previous) if (one !== '') expect(hashes).toContain(one)
  for (const { hash, ...rest } of receipts)
    expect(
      createHash('sha256')
        .update(canonicalJson(JSON.stringify(rest)))
        .digest('hex'),
    ).toBe(hash)
})

/** Uploads a file, whose digest it answers. */
async function upload(text: string | Buffer, project_id = project): Promise<string> {
  const body = new FormData()
  body.set('project_id', project_id)
  body.set('file', new Blob([new Uint8Array(Buffer.from(text))]), 'note')
  const answer = await fetch(`${server.now().url}/file/create`, {
    method: 'POST',
    headers: { authorization: basicAuth() },
    body,
  })
  return ((await answer.json()) as { digest: string }).digest
}
const hasFile = async (digest: string, project_id = project): Promise<boolean> =>
  (await post(server.now().url, '/file/content', { project_id, digest })).status === 200
const blobNames = async (): Promise<string[]> => readdir(join(server.dataDir, 'blobs'), { recursive: true })

it('files go with the calls that alone name them, and long texts that were stored apart', async () => {
  const text = (word: string) => `file ${word} `.repeat(1_000)
  const alone = await upload(text('canary-alone'))
  const large = await upload(Buffer.alloc(400_000, 'canary-large'))
  const shared = await upload(text('stays-shared'))
  const inObject = await upload(text('stays-object'))
  const inRow = await upload(text('stays-row'))
  const inNote = await upload(text('stays-note'))
  const unnamed = await upload(text('stays-unnamed'))
  const again = await upload(text('stays-again'))
  const otherOnes = await upload(text('canary-alone'), other)
  const image = (word: string) =>
    Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from(word.repeat(1_000))]).toString('base64')
  const word = 'canary-image'
  const at = new Date(Date.now() - 60_000).toISOString()
  const call = (n: number, inputs: object) => ({
    project_id: project,
    id: erasedId(n),
    trace_id: erasedId(n),
    op_name: 'op',
    started_at: at,
    ended_at: at,
    attributes: {},
    inputs,
    output: null,
    summary: {},
  })
  const apart = `data:image/png;base64,${image(word)}`
  const kept = `data:image/png;base64,${image('stays-image')}`
  const files = [alone, large, shared, inObject, inRow, inNote, again]
  await server.send(`/v2/${project}/calls/complete`, {
    batch: [call(50, { files, apart, kept }), call(51, { ref: `x\u0009${shared}`, kept })],
  })
  await server.send('/obj/create', { obj: { project_id: project, object_id: 'names', val: { of: inObject } } })
  await server.send('/table/create', { table: { project_id: project, rows: [{ of: inRow }] } })
  await server.send('/feedback/create', {
    project_id: project,
    weave_ref: `weave:///${project}/call/${erasedId(51)}`,
    feedback_type: 'note',
    payload: { note: inNote },
  })
  const [stored] = await server.list<{ inputs: { apart: string; kept: string } }>('/calls/stream_query', {
    project_id: project,
    filter: { call_ids: [erasedId(50)] },
  })
  const objectOf = (ref = '') => ref.slice(ref.lastIndexOf('/') + 1).split(':')
  const apartName = objectOf(stored?.inputs.apart)
  expect(apartName).toHaveLength(2)
  const objectStatus = async ([object_id, digest]: string[]) =>
    (await post(server.now().url, '/obj/read', { project_id: project, object_id, digest })).status
  await derive(server)
  expect([await objectStatus(apartName), (await blobNames()).some((name) => name.endsWith(large))]).toEqual([200, true])
  // Uploaded again after the request: whoever did so is about to name it.
  const { body } = await erase(server, { project_id: project, call_ids: [erasedId(50)], files: true, reason: 'files' })
  await upload(text('stays-again'))
  await removed(server, project, body.erasure_id)
  for (const digest of [shared, inObject, inRow, inNote, again, unnamed])
    expect([digest, await hasFile(digest)]).toEqual([digest, true])
  expect(await hasFile(otherOnes, other)).toBe(true)
  for (const digest of [alone, large]) expect(await hasFile(digest)).toBe(false)
  const { counts } = (await readErasure(server, project, body.erasure_id)) as unknown as { counts: { bytes: number } }
  // Those two, and the image with what is told about it.
  expect(counts).toMatchObject({ files: 4 })
  expect(counts.bytes).toBeGreaterThan(400_000 + text('canary-alone').length)
  expect((await blobNames()).filter((name) => name.endsWith(large))).toEqual([])
  expect(await objectStatus(apartName)).toBe(404)
  expect(await objectStatus(objectOf(stored?.inputs.kept))).toBe(200)
  for (const gone of [alone, apartName[1] as string]) {
    const rows = await server.now().store.rows<{ n: string }>({
      name: 'test.left',
      sql: `SELECT toString(count()) AS n FROM (SELECT project_id, digest FROM callhouse.files
        UNION ALL SELECT project_id, digest FROM callhouse.objects) WHERE project_id = {project:String} AND digest = {gone:String}`,
      params: { project, gone },
    })
    expect(rows).toEqual([{ n: '0' }])
  }
  // In the log as well: what it is read again for would bring them back.
  if (hasOwnLog(server))
    expect(await placesOf(server, Buffer.from(`${word}${word}`).toString('base64').slice(4, 20))).toEqual([])
  expect(await upload(text('canary-alone'))).toBe(alone)
  expect(await hasFile(alone)).toBe(true)
})
