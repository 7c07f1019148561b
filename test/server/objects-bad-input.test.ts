// Bad input to objects, tables, files and refs: a clear 4xx each time, nothing half stored, nothing unexpected in the log.
import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fileDigest, tableDigest, valueDigest } from '../../services/events/digest.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer(['--max-file-bytes', '3000000'])
})
afterAll(() => server.remove())

const project_id = 'e/p'
const key = { authorization: 'Bearer test-key' }
const ask = async (path: string, body: unknown, method = 'POST') => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await fetch(`${server.now().url}${path}`, { method, headers: key, body: text })
  const answer = await response.text()
  return { status: response.status, json: JSON.parse(answer) as Record<string, unknown> }
}
const refused = (status: number) => ({
  status,
  json:
    status === 422 ? expect.toSatisfy((json) => 'detail' in json || 'reason' in json) : { reason: expect.any(String) },
})
const digest = 'RBNvo1WzZ4oRRq0W9XhknpT7T8If536DEMBg9hyqY4o'
const names = [
  'a/b',
  'a b',
  '',
  '../x',
  '😀',
  'a\u0000b',
  'a\nb',
  "x'; DROP TABLE x --",
  '\ud800',
  'a:b',
  '%2e%2e',
  '*',
  '{x}',
]

describe('names with any character', () => {
  it.each(names)('%j is no name of an object', async (object_id) => {
    expect(await ask('/obj/create', { obj: { project_id, object_id, val: {} } })).toMatchObject(refused(422))
    expect(await ask('/obj/read', { project_id, object_id, digest: 'latest' })).toMatchObject(refused(404))
    expect(await ask('/obj/read', { project_id, object_id: 'x', digest: object_id })).toMatchObject(refused(404))
    expect(await ask('/obj/delete', { project_id, object_id })).toMatchObject(refused(404))
    expect(await ask('/obj/delete', { project_id, object_id: 'x', digests: [object_id] })).toMatchObject(refused(404))
    const filter = {
      object_ids: [object_id],
      tags: [object_id],
      aliases: [object_id],
      base_object_classes: [object_id],
    }
    expect(await ask('/objs/query', { project_id, filter })).toEqual({ status: 200, json: { objs: [] } })
    expect(await ask('/table/query', { project_id, digest: object_id })).toEqual({ status: 200, json: { rows: [] } })
    expect((await ask('/table/query_stats', { project_id, digest: object_id })).json).toEqual({ count: 0 })
    expect(await ask('/table/update', { project_id, base_digest: object_id, updates: [] })).toMatchObject(refused(404))
    expect(await ask('/file/content', { project_id, digest: object_id })).toMatchObject(refused(404))
    const path = `/objs/${encodeURIComponent(object_id.toWellFormed()) || '-'}/versions/latest/tags`
    expect(await ask(path, { project_id, tags: ['a'] }, 'PUT')).toMatchObject({ status: 404 })
  })

  it('in paths that are not well encoded are 400 or 404', async () => {
    for (const path of ['/objs/%zz/aliases', '/objs/%/versions/x/tags', '/objs/%ff/aliases'])
      expect((await ask(path, { project_id, digest: 'latest', aliases: ['a'], tags: ['a'] }, 'PUT')).status).toBe(400)
  })

  it('that are longer than 128 characters are 400', async () => {
    expect(await ask('/obj/create', { obj: { project_id, object_id: 'x'.repeat(129), val: {} } })).toMatchObject(
      refused(400),
    )
  })
})

describe('refs', () => {
  const object = `weave:///${project_id}/object/x:${digest}`
  it.each([
    '',
    'x',
    'weave:///',
    'weave:///e/p',
    'weave:///e/p/object',
    'weave:///e/p/object/x',
    'weave:///e/p/object/x:',
    'weave:///e/p/object/:y',
    'weave:///e/p/object/a:b:c',
    'weave:///e/p/object/x:latest',
    `${object}/attr`,
    `${object}/index/one`,
    `${object}/index/1.5`,
    `${object}/nothing/a`,
    `${object}/key/%zz`,
    'weave:///e/p/thing/x:y',
    'weave:///e/p/call/x',
    `weave:///e/p/table/${digest}`,
    'weave:///e/p/agent_turn/x',
    'wandb-artifact:///e/p/x',
    'weave-trace-internal:///e/p/object/x:y',
    'weave-private://///object/x',
    'WEAVE:///e/p/object/x:y',
    '\u0000',
  ])('%j cannot be read: 400', async (ref) => {
    expect(await ask('/refs/read_batch', { refs: [ref] })).toMatchObject(refused(400))
  })
  it('to nothing are 404, foreign ones as well', async () => {
    const refs = [
      `${object}/index/99999999999999999999`,
      `weave:///other/project/op/x:${digest}`,
      'weave:///e/p/object/x:v3',
    ]
    expect(await ask('/refs/read_batch', { refs })).toMatchObject({
      status: 404,
      json: { missing_object_digests: [digest, 'v3'].sort() },
    })
  })
  it.each([
    [{}],
    [{ refs: null }],
    [{ refs: 'x' }],
    [{ refs: [1] }],
    [{ refs: [null] }],
    [[]],
    [null],
    ['{"refs":['],
    [''],
  ])('%j is no batch: 4xx', async (body) => {
    const { status } = await ask('/refs/read_batch', body)
    expect([400, 422]).toContain(status)
  })
  it('are a thousand at most', async () => {
    expect(await ask('/refs/read_batch', { refs: Array(1001).fill(object) })).toMatchObject(refused(400))
  })
})

describe('tables', () => {
  let table = ''
  beforeAll(async () => {
    table = (await ask('/table/create', { table: { project_id, rows: [{ a: 1 }, { a: 2 }] } })).json.digest as string
  })
  it.each([
    [{ pop: { index: 3 } }, 400],
    [{ pop: { index: -1 } }, 400],
    [{ insert: { index: 4, row: {} } }, 400],
    [{ insert: { index: -1, row: {} } }, 400],
    [{ pop: { index: 9007199254740991 } }, 400],
    [{ pop: { index: 1.5 } }, 422],
    [{ pop: { index: 'x' } }, 422],
    [{ pop: { index: true } }, 422],
    [{ pop: { index: 1e300 } }, 400],
    [{ append: { row: [] } }, 422],
    [{ append: {} }, 422],
    [{}, 422],
    [{ drop: 1 }, 422],
    [{ pop: { index: 0 }, append: { row: {} } }, 422],
  ])('an update %j is %i, and nothing is stored', async (update, status) => {
    const sent = { project_id, base_digest: table, updates: [{ append: { row: { bad: true } } }, update] }
    expect(await ask('/table/update', sent)).toMatchObject(refused(status))
    const extended = tableDigest(['{"a":1}', '{"a":2}', '{"bad":true}'].map(valueDigest))
    expect((await ask('/table/query_stats', { project_id, digest: extended })).json).toEqual({ count: 0 })
  })
  it.each([
    [{ limit: -1 }, 400],
    [{ offset: -1 }, 400],
    [{ limit: 1.5 }, 422],
    [{ sort_by: [{ field: 'a..b', direction: 'asc' }] }, 400],
    [{ sort_by: [{ field: '', direction: 'asc' }] }, 400],
    [{ sort_by: [{ field: 'a', direction: 'up' }] }, 422],
    [{ filter: { row_digests: [1] } }, 422],
    [{ filter: [] }, 422],
  ])('a query with %j is %i', async (more, status) => {
    expect(await ask('/table/query', { project_id, digest: table, ...more })).toMatchObject(refused(status))
  })
  it('pages beyond the end of a table, or of no rows, are empty', async () => {
    for (const more of [
      { offset: 2 },
      { offset: 9007199254740991 },
      { offset: 9007199254740991, limit: 5 },
      { limit: 0 },
    ])
      expect(await ask('/table/query', { project_id, digest: table, ...more })).toEqual({
        status: 200,
        json: { rows: [] },
      })
    const many = await ask('/table/query', { project_id, digest: table, limit: 9007199254740991, offset: 1 })
    expect(many.json.rows).toMatchObject([{ val: { a: 2 }, original_index: 1 }])
    expect(await ask('/table/query', { project_id, digest: table, filter: { row_digests: names } })).toEqual({
      status: 200,
      json: { rows: [] },
    })
  })
  it('of digests that are none are stored, and give no rows', async () => {
    const { json } = await ask('/table/create_from_digests', { project_id, row_digests: names })
    expect((await ask('/table/query', { project_id, digest: json.digest })).json).toEqual({ rows: [] })
    expect((await ask('/table/query_stats', { project_id, digest: json.digest })).json).toEqual({ count: names.length })
  })
})

describe('files', () => {
  const upload = async (parts: [string, string | Blob, string?][]) => {
    const body = new FormData()
    for (const [name, value, filename] of parts)
      if (typeof value === 'string') body.set(name, value)
      else body.set(name, value, filename)
    const response = await fetch(`${server.now().url}/file/create`, { method: 'POST', headers: key, body })
    return { status: response.status, json: (await response.json()) as Record<string, unknown> }
  }
  const total = async () => (await ask('/files/query_stats', { project_id: 'e/files' })).json.total_size_bytes
  const waiting = () => readdir(join(server.dataDir, 'blobs', 'tmp'))
  const content = new Blob(['hello'])

  it.each(['../../etc/passwd', '/etc/passwd', 'a\u0000b', '', '..', 'x'.repeat(5000), '"; rm -rf "', 'é😀'])(
    'the name %j says nothing about where a file lies',
    async (filename) => {
      const { status, json } = await upload([
        ['project_id', 'e/names'],
        ['file', content, filename],
      ])
      expect([200, 400]).toContain(status)
      if (status === 200) expect(json).toEqual({ digest: fileDigest(Buffer.from('hello')) })
    },
  )
  it('of other digests, without parts or too large leave nothing', async () => {
    const large = new Blob([new Uint8Array(3_000_001)])
    const project: [string, string] = ['project_id', 'e/files']
    expect(await upload([project, ['expected_digest', digest], ['file', content, 'x']])).toMatchObject(refused(409))
    expect(await upload([project, ['file', large, 'x']])).toMatchObject(refused(413))
    expect((await upload([project])).status).toBe(422)
    expect((await upload([['file', content, 'x']])).status).toBe(422)
    expect(
      await upload([
        ['project_id', 'nope'],
        ['file', content, 'x'],
      ]),
    ).toMatchObject(refused(400))
    expect([await total(), await waiting()]).toEqual([0, []])
  })
  it.each([10, 300, 200_000, 1_900_000])('cut off after %i bytes leave nothing', async (sent) => {
    const boundary = 'cut'
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="project_id"\r\n\r\ne/files\r\n--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n`
    const body = Buffer.concat([
      Buffer.from(head),
      Buffer.alloc(2_000_000, 'x'),
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ])
    const { port } = new URL(server.now().url)
    const lines = server.lines.length
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(
      `POST /file/create HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer test-key\r\nContent-Type: multipart/form-data; boundary=${boundary}\r\nContent-Length: ${body.length}\r\n\r\n`,
    )
    socket.write(body.subarray(0, sent), () => socket.destroy())
    await expectSoon(() => server.lines.slice(lines).some((line) => line.includes('"files.create"')), {
      withinMs: 60_000,
    }).toBe(true)
    await expectSoon(waiting, { withinMs: 60_000 }).toEqual([])
    expect(await total()).toBe(0)
  })
  it('whose body ends early in a whole request are 400', async () => {
    const response = await fetch(`${server.now().url}/file/create`, {
      method: 'POST',
      headers: { ...key, 'content-type': 'multipart/form-data; boundary=b' },
      body: '--b\r\nContent-Disposition: form-data; name="project_id"\r\n\r\ne/files\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nhal',
    })
    expect(response.status).toBe(400)
    expect(await total()).toBe(0)
  })
})

it('bad input left nothing unexpected in the server’s log lines', () => {
  expect(server.lines.filter((line) => /"level":50/.test(line))).toEqual([])
})
