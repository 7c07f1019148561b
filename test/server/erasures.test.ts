// What is deleted is also removed: from every table and the kept log; what others have stays.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { basicAuth, post } from '../fixtures/child-server.ts'
import {
  derive,
  erase,
  erasedId,
  hasOwnLog,
  placesOf,
  readErasure,
  removed,
  sendCall,
  startErasingServer,
} from '../fixtures/erasing-server.ts'
import type { LiveServer } from '../fixtures/live-server.ts'

let server: LiveServer
beforeAll(async () => {
  server = await startErasingServer()
})
afterAll(() => server.remove())

const project = 'ent/erased'
const other = 'ent/other'

it('removes calls with their descendants from every place, and what others have stays', async () => {
  await sendCall(server, project, 1, 'canary-one')
  await sendCall(server, project, 2, 'canary-two', 1)
  await sendCall(server, project, 3, 'stays-here')
  await sendCall(server, other, 1, 'stays-there')
  await derive(server)
  const before = await placesOf(server, 'stays-here')
  expect(before).toEqual(
    expect.arrayContaining(['call_patches', 'calls', 'feedback', 'payload_leaves', 'payloads', 'turns']),
  )
  if (hasOwnLog(server)) expect(before).toEqual(expect.arrayContaining(['log/calls', 'log/feedback']))
  expect(await placesOf(server, 'canary-two')).toEqual(before)
  const asked = { project_id: project, call_ids: [erasedId(1), erasedId(99)], reason: 'asked for' }
  const { status, body } = await erase(server, asked)
  expect([status, body]).toMatchObject([202, { status: 'accepted', calls: 2, missing: 1 }])
  await removed(server, project, body.erasure_id)
  await derive(server)
  for (const word of ['canary-one', 'canary-two']) expect(await placesOf(server, word)).toEqual([])
  expect(await placesOf(server, 'stays-here')).toEqual(before)
  expect(await placesOf(server, 'stays-there')).toEqual(before)
  expect(await readErasure(server, project, body.erasure_id)).toMatchObject({
    ...{ project_id: project, reason: 'asked for' },
    counts: {
      calls: 2,
      missing: 1,
      payload_rows: 4,
      feedback: 2,
      log_rows: hasOwnLog(server) ? 6 : 0,
      dead_letters: 0,
    },
  })
})

/** Uploads a file, whose digest it answers. */
async function upload(text: string | Buffer, project_id = project): Promise<string> {
  const body = new FormData()
  body.set('project_id', project_id)
  body.set('file', new Blob([new Uint8Array(Buffer.from(text))]), 'note')
  const answer = await fetch(`${server.now().url}/file/create`, {
    ...{ method: 'POST', headers: { authorization: basicAuth() }, body },
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
    ...{ project_id: project, id: erasedId(n), trace_id: erasedId(n), op_name: 'op', started_at: at, ended_at: at },
    ...{ attributes: {}, inputs, output: null, summary: {} },
  })
  const apart = `data:image/png;base64,${image(word)}`
  const kept = `data:image/png;base64,${image('stays-image')}`
  const files = [alone, large, shared, inObject, inRow, inNote, again]
  await server.send(`/v2/${project}/calls/complete`, {
    batch: [call(50, { files, apart, kept }), call(51, { ref: `x\u0009${shared}`, kept })],
  })
  await server.send('/obj/create', { obj: { ...{ project_id: project, object_id: 'names' }, val: { of: inObject } } })
  await server.send('/table/create', { table: { project_id: project, rows: [{ of: inRow }] } })
  await server.send('/feedback/create', {
    ...{ project_id: project, weave_ref: `weave:///${project}/call/${erasedId(51)}`, feedback_type: 'note' },
    payload: { note: inNote },
  })
  const [stored] = await server.list<{ inputs: { apart: string; kept: string } }>('/calls/stream_query', {
    ...{ project_id: project, filter: { call_ids: [erasedId(50)] } },
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

it('refuses what names nothing, or two things', async () => {
  const refused = [
    { project_id: project, reason: 'none' },
    { project_id: project, call_ids: [erasedId(1)], trace_ids: [erasedId(1)], reason: 'two' },
    { project_id: project, call_ids: [], reason: 'empty' },
    { project_id: project, call_ids: [erasedId(1)] },
    { project_id: project, call_ids: [erasedId(1)], descendants: false, reason: 'not without them' },
  ]
  for (const asked of refused) expect((await erase(server, asked)).status).toBe(422)
  expect(JSON.stringify(await readErasure(server, project, 'none'))).toContain('There is no erasure none')
})
