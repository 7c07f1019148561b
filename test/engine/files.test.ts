// Uploading files and reading them back: inline and blob storage, limits, broken and hostile uploads.
// again: property

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { noMaskings } from '../../services/content/masking/maskings.ts'
import { type Blobs, createFolderBlobs } from '../../services/core/blobs/blobs.ts'
import { createClock } from '../../services/core/clock/clock.ts'
import { tooLarge, unavailable } from '../../services/core/errors.ts'
import type { Store } from '../../services/core/store/store.ts'
import { fileDigest } from '../../services/events/digest.ts'
import { inlineFileBytes } from '../../services/events/files.ts'
import { createFileWriteRoutes } from '../../services/ingest/files/routes.ts'
import { createFileReadRoutes } from '../../services/query/files/routes.ts'
import { createMemoryLog, type MemoryLog } from '../fixtures/memory-log.ts'
import { type Call, createCall, type RouteAnswer } from '../fixtures/route-call.ts'
import { runs } from '../fixtures/runs.ts'
import { createTestStore } from '../fixtures/store.ts'

const maxFileBytes = 3_000_000
const clock = createClock()

let store: Store
let removeStore: () => Promise<void>
let dir: string
let blobs: Blobs
let log: MemoryLog
let call: Call

beforeAll(async () => {
  const opened = await createTestStore()
  store = opened.store
  removeStore = opened.remove
  dir = await mkdtemp(join(tmpdir(), 'callhouse-blobs-'))
})
afterAll(async () => {
  await removeStore()
  await rm(dir, { recursive: true, force: true })
})
beforeEach(async () => {
  await rm(join(dir, 'blobs'), { recursive: true, force: true })
  blobs = await createFolderBlobs({ dir: join(dir, 'blobs'), minFreeBytes: 0 })
  log = createMemoryLog(store)
  call = createCall([
    ...createFileWriteRoutes({ maskings: noMaskings, log, clock, blobs, config: { maxFileBytes } }),
    ...createFileReadRoutes({ store, blobs, freshness: { wait: async () => ({}) } }),
  ])
})

type Part = [name: string, value: string | Buffer, filename?: string]

async function form(parts: Part[]): Promise<{ body: Buffer; contentType: string }> {
  const data = new FormData()
  for (const [name, value, filename] of parts)
    if (typeof value === 'string') data.append(name, value)
    else data.append(name, new Blob([new Uint8Array(value)]), filename ?? 'blob')
  const response = new Response(data)
  return {
    body: Buffer.from(await response.arrayBuffer()),
    contentType: response.headers.get('content-type') as string,
  }
}

const inPieces = (body: Buffer, size = 64 * 1024): Readable =>
  Readable.from(
    (function* () {
      for (let at = 0; at < body.length; at += size) yield body.subarray(at, at + size)
    })(),
    { objectMode: false },
  )

async function upload(parts: Part[], path = '/file/create'): Promise<RouteAnswer> {
  const { body, contentType } = await form(parts)
  return call(path, { stream: inPieces(body), contentType })
}

const read = (project_id: string, digest: string, path = '/file/content') =>
  call(path, { json: { project_id, digest } })

/** Files below the blob folder, the temporary ones under their folder's name. */
async function onDisk(): Promise<string[]> {
  const entries = await readdir(join(dir, 'blobs'), { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(dir, 'blobs').length + 1))
}

const bytesOf = (length: number): Buffer => Buffer.from(Array.from({ length }, (_, i) => (i * 31 + (i >> 8) * 7) & 255))

const nothingStored = async () => {
  expect(log.appends()).toBe(0)
  expect(await onDisk()).toEqual([])
}

describe('a file', () => {
  it.each([0, 1, 5, 99_999, 100_000, 100_001, 200_000, 262_144, 262_145, 1_048_577, maxFileBytes])(
    'of %i bytes is stored and read back',
    async (length) => {
      const bytes = bytesOf(length)
      const answer = await upload([
        ['project_id', 'e/p'],
        ['file', bytes, 'obj.py'],
      ])
      const digest = fileDigest(bytes)
      expect(answer).toMatchObject({ status: 200, json: { digest }, headers: { 'X-Callhouse-Position': 'files=1' } })
      const back = await read('e/p', digest)
      expect(back.status).toBe(200)
      expect(back.bytes.equals(bytes)).toBe(true)
      const rows = log.rows('files')
      const isBlob = length > inlineFileBytes
      expect(rows).toHaveLength(isBlob ? 1 : Math.max(1, Math.ceil(length / 100_000)))
      for (const [i, row] of rows.entries())
        expect(row).toMatchObject({
          ...(i > 0 ? { chunk_index: i } : {}),
          n_chunks: rows.length,
          size_bytes: length,
          name: 'obj.py',
          digest,
        })
      expect(await onDisk()).toHaveLength(isBlob ? 1 : 0)
    },
  )
  it('may have its parts in any order, and the older paths', async () => {
    const digest = 'LPJNulXwow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ'
    const parts: Part[] = [
      ['expected_digest', digest],
      ['file', Buffer.from('hello'), 'x'],
      ['project_id', 'e/order'],
    ]
    for (const order of [
      [0, 1, 2],
      [1, 2, 0],
      [2, 0, 1],
      [1, 0, 2],
    ])
      expect((await upload(order.map((i) => parts[i] as Part))).json).toEqual({ digest })
    expect((await upload(parts, '/files/create')).json).toEqual({ digest })
    expect((await read('e/order', digest, '/files/content')).bytes.toString()).toBe('hello')
  })
  it('sent again is the same file', async () => {
    const bytes = bytesOf(1_500_000)
    const parts: Part[] = [
      ['project_id', 'e/twice'],
      ['file', bytes],
    ]
    expect((await upload(parts)).json).toEqual((await upload(parts)).json)
    expect(await onDisk()).toHaveLength(1)
    expect((await read('e/twice', fileDigest(bytes))).bytes.equals(bytes)).toBe(true)
  })
  it('belongs to its project', async () => {
    await upload([
      ['project_id', 'e/mine'],
      ['file', Buffer.from('mine')],
    ])
    const digest = fileDigest(Buffer.from('mine'))
    expect((await read('e/mine', digest)).status).toBe(200)
    expect(await read('e/other', digest)).toMatchObject({ status: 404, json: { reason: expect.any(String) } })
    expect((await read('e', digest)).status).toBe(400)
    const { status } = await call('/file/content', { json: { project_id: 'e/mine', digest } }, { may: () => false })
    expect(status).toBe(403)
  })
  it('that is not whole is not found', async () => {
    const bytes = bytesOf(250_000)
    const digest = fileDigest(bytes)
    const whole = createMemoryLog()
    const [route] = createFileWriteRoutes({ maskings: noMaskings, log: whole, clock, blobs, config: { maxFileBytes } })
    const { body, contentType } = await form([
      ['project_id', 'e/part'],
      ['file', bytes],
    ])
    await createCall(route ? [route] : [])('/file/create', { stream: inPieces(body), contentType })
    const lines = whole.lines('files')
    for (const [i, line] of [lines[0], lines[2], lines[1]].entries()) {
      await log.append('files', [
        { rows: Buffer.from(`${line}\n`), rowCount: 1, patchCount: 0, clock: 1n, key: digest },
      ])
      expect((await read('e/part', digest)).status).toBe(i === 2 ? 200 : 404)
    }
  })
  it('whose blob is gone or cut is not found', async () => {
    const bytes = bytesOf(1_100_000)
    await upload([
      ['project_id', 'e/lost'],
      ['file', bytes],
    ])
    const path = join(dir, 'blobs', (await onDisk())[0] as string)
    await writeFile(path, bytes.subarray(1))
    expect((await read('e/lost', fileDigest(bytes))).status).toBe(404)
    await rm(path)
    expect((await read('e/lost', fileDigest(bytes))).status).toBe(404)
  })
})

describe('a refused upload leaves nothing behind', () => {
  it('409 for another digest; an empty one counts as absent', async () => {
    for (const length of [5, 1_200_000]) {
      const answer = await upload([
        ['project_id', 'e/p'],
        ['file', bytesOf(length)],
        ['expected_digest', 'x'.repeat(43)],
      ])
      expect(answer).toMatchObject({ status: 409, json: { reason: expect.any(String) } })
    }
    await nothingStored()
    const parts: Part[] = [
      ['project_id', 'e/p'],
      ['expected_digest', ''],
      ['file', bytesOf(5)],
    ]
    expect((await upload(parts)).status).toBe(200)
  })
  it('413 above the limit', async () => {
    const parts: Part[] = [
      ['project_id', 'e/p'],
      ['file', bytesOf(maxFileBytes + 1)],
    ]
    expect(await upload(parts)).toMatchObject({ status: 413, json: { reason: 'Request too large' } })
    await nothingStored()
  })
  it('422 without a file or a project, or with a part twice', async () => {
    const file: Part = ['file', bytesOf(1_200_000)]
    for (const parts of [
      [['project_id', 'e/p']],
      [file],
      [
        ['project_id', 'e/p'],
        ['file', 'text'],
      ],
      [['project_id', 'e/p'], ['project_id', 'e/q'], file],
    ] as Part[][])
      expect(await upload(parts)).toMatchObject({
        status: 422,
        json: { detail: [{ loc: ['body', expect.any(String)] }] },
      })
    await nothingStored()
  })
  it('400 and 403 for the project, before or after the file', async () => {
    const file: Part = ['file', bytesOf(1_200_000)]
    for (const parts of [
      [['project_id', 'nope'], file],
      [file, ['project_id', 'nope']],
    ] as Part[][]) {
      expect((await upload(parts)).status).toBe(400)
      const { body, contentType } = await form(parts.map(([n, v]) => (n === 'project_id' ? [n, 'e/p'] : [n, v])))
      const denied = await call('/file/create', { stream: inPieces(body), contentType }, { may: () => false })
      expect(denied.status).toBe(403)
    }
    await nothingStored()
  })
  it('415 and 400 for what is no multipart form', async () => {
    for (const [contentType, status] of [
      ['application/json', 415],
      ['', 415],
      ['multipart/form-data', 400],
      ['multipart/form-data; boundary=', 400],
      ['multipart/mixed; boundary=x', 415],
    ] as const)
      expect((await call('/file/create', { stream: inPieces(Buffer.from('{}')), contentType })).status).toBe(status)
    await nothingStored()
  })
  it.each([10, 1_200_000])('400 when a body with a file of %i bytes ends early, wherever', async (length) => {
    const { body, contentType } = await form([
      ['project_id', 'e/p'],
      ['file', bytesOf(length)],
    ])
    const ends = [0, 1, 60, 100, 170, 250, 300, body.length - 1_000, body.length - 60, body.length - 5]
    for (const end of ends.filter((at) => at >= 0 && at < body.length)) {
      const answer = await call('/file/create', { stream: inPieces(body.subarray(0, end), 1_000), contentType })
      expect([end, answer.status]).toEqual([end, 400])
    }
    await nothingStored()
  })
  it('400 when the client goes away', async () => {
    const { body, contentType } = await form([
      ['project_id', 'e/p'],
      ['file', bytesOf(1_200_000)],
    ])
    const stream = new Readable({ read() {} })
    stream.push(body.subarray(0, 1_150_000))
    setImmediate(() => stream.destroy())
    expect((await call('/file/create', { stream, contentType })).status).toBe(400)
    const failing = new Readable({ read() {} })
    failing.push(body.subarray(0, 500))
    setImmediate(() => failing.destroy(new Error('ECONNRESET')))
    expect((await call('/file/create', { stream: failing, contentType })).status).toBe(400)
    await nothingStored()
  })
  it('the fault of the stream itself, when it has one', async () => {
    const { contentType } = await form([['project_id', 'e/p']])
    const stream = new Readable({ read() {} })
    setImmediate(() => stream.destroy(tooLarge()))
    expect((await call('/file/create', { stream, contentType })).status).toBe(413)
  })
  it('503 when the log refuses', async () => {
    log.refuse(unavailable('closed'))
    const { status } = await upload([
      ['project_id', 'e/p'],
      ['file', bytesOf(10)],
    ])
    expect(status).toBe(503)
    await nothingStored()
  })
  it('and never fails otherwise, whatever the bytes are', async () => {
    const { body, contentType } = await form([
      ['project_id', 'e/p'],
      ['file', bytesOf(300), 'a.txt'],
    ])
    const edit = fc.record({ at: fc.nat(body.length), cut: fc.nat(40), put: fc.uint8Array({ maxLength: 12 }) })
    await fc.assert(
      fc.asyncProperty(
        fc.array(edit, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 400 }),
        async (edits, size) => {
          let bytes = body
          for (const { at, cut, put } of edits)
            bytes = Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + cut)])
          const { status } = await call('/file/create', { stream: inPieces(bytes, size), contentType })
          expect([200, 400, 413, 422]).toContain(status)
        },
      ),
      { numRuns: runs(150, 1500) },
    )
    expect(await onDisk()).toEqual([])
  })
})

describe('hostile names', () => {
  it.each(['../../etc/passwd', '/etc/passwd', '..\\..\\x', 'é名😀', '"; drop', 'x'.repeat(5_000), '.', ''])(
    '%j as a file name stays inside the row',
    async (name) => {
      const bytes = bytesOf(1_100_000)
      const answer = await upload([
        ['project_id', 'e/hostile'],
        ['file', bytes, name || 'blob'],
      ])
      expect(answer.status).toBe(200)
      const [path] = await onDisk()
      expect(path).toMatch(/^[0-9a-f]{2}\/[0-9a-f]{32}\/[A-Za-z0-9]{43}$/)
      expect((await readFile(join(dir, 'blobs', path as string))).equals(bytes)).toBe(true)
      expect(String(log.rows('files')[0]?.name).length).toBeLessThanOrEqual(1_000)
    },
  )
  it('with a NUL in a header are 400', async () => {
    const parts: Part[] = [
      ['project_id', 'e/p'],
      ['file', bytesOf(10), 'a\0b'],
    ]
    expect((await upload(parts)).status).toBe(400)
    await nothingStored()
  })
  it('as a project keep their text out of the path', async () => {
    const send = async (project: string) => {
      const { body, contentType } = await form([
        ['project_id', project],
        ['file', bytesOf(1_100_000)],
      ])
      return (await call('/file/create', { stream: inPieces(body), contentType })).status
    }
    for (const project of ['../..', '..\0/x', `a/${'x'.repeat(3_000)}`])
      expect([project, await send(project)]).toEqual([project, 400])
    for (const project of ['..a/..%2f..', 'a b/$(x)`y`', `e/${'..'.repeat(200)}x`])
      expect(await send(project)).toBe(200)
    expect((await onDisk()).length).toBeGreaterThan(0)
    for (const path of await onDisk()) expect(path).toMatch(/^[0-9a-f]{2}\/[0-9a-f]{32}\/[A-Za-z0-9]{43}$/)
  })
  it('as a digest find nothing', async () => {
    for (const digest of ['../../x', '', "' OR 1=1", '\0', 'x'.repeat(100_000)])
      expect((await read('e/p', digest)).status).toBe(404)
  })
})

describe('stats', () => {
  it.each(['/files/query_stats', '/files/stats'])('%s counts each content of the project once', async (path) => {
    const project_id = `e${path}`.replaceAll('/', '_').replace('_', '/')
    const total = async () => (await call(path, { json: { project_id } })).json
    expect(await total()).toEqual({ total_size_bytes: 0 })
    for (const size of [0, 10, 10, 250_000, 1_500_000, 250_000])
      expect(
        (
          await upload([
            ['project_id', project_id],
            ['file', Buffer.alloc(size, size % 251)],
          ])
        ).status,
      ).toBe(200)
    await upload([
      ['project_id', 'e/elsewhere'],
      ['file', Buffer.alloc(5)],
    ])
    expect(await total()).toEqual({ total_size_bytes: 1_750_010 })
  })
})
