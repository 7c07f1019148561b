// Ranges of files over real connections, of small files in the rows and of large ones in blob storage.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noMaskings } from '../../services/content/masking/maskings.ts'
import { createFolderBlobs } from '../../services/core/blobs/blobs.ts'
import { createClock } from '../../services/core/clock/clock.ts'
import type { Store } from '../../services/core/store/store.ts'
import { inlineFileBytes } from '../../services/events/files.ts'
import { createFileWriteRoutes } from '../../services/ingest/files/routes.ts'
import { createFileReadRoutes } from '../../services/query/files/routes.ts'
import { send, startServer, type TestServer } from '../fixtures/http-server.ts'
import { createMemoryLog } from '../fixtures/memory-log.ts'

const log = createMemoryLog()
const files = {
  small: Buffer.from('0123456789'),
  large: Buffer.alloc(inlineFileBytes + 1000, 'callhouse'),
  empty: Buffer.alloc(0),
}
const digests = { small: '', large: '', empty: '' }
let dir: string
let server: TestServer

/** Answers the one query of the read route, which asks for the file that the test set. */
let asked: string
const store: Pick<Store, 'rows'> = {
  async rows<T>() {
    const rows = log.rows('files').filter((row) => row.digest === asked)
    return rows.map((row) => ({ chunk_index: 0, blob: '', content: '', ...row })) as T[]
  },
}

const upload = async (bytes: Buffer): Promise<string> => {
  const form = new FormData()
  form.set('project_id', 'e/p')
  form.set('file', new Blob([new Uint8Array(bytes)]), 'x')
  const encoded = new Response(form)
  const answer = await send(server.port, '/file/create', {
    body: Buffer.from(await encoded.arrayBuffer()),
    headers: { 'content-type': encoded.headers.get('content-type') as string },
  })
  return JSON.parse(answer.text).digest as string
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'callhouse-range-'))
  const blobs = await createFolderBlobs({ dir: join(dir, 'blobs'), minFreeBytes: 0 })
  server = await startServer([
    ...createFileWriteRoutes({
      maskings: noMaskings,
      log,
      clock: createClock(),
      blobs,
      config: { maxFileBytes: 2 ** 23 },
    }),
    ...createFileReadRoutes({ store, blobs, freshness: { wait: async () => ({}) } }),
  ])
  for (const name of ['small', 'large', 'empty'] as const) digests[name] = await upload(files[name])
})
afterAll(async () => {
  await server.stop()
  await rm(dir, { recursive: true, force: true })
})

async function get(name: keyof typeof files, headers: Record<string, string>) {
  asked = digests[name]
  const answer = await send(server.port, '/file/content', {
    body: JSON.stringify({ project_id: 'e/p', digest: asked }),
    headers,
  })
  return { status: answer.status, bytes: answer.bytes, headers: answer.headers, range: answer.headers['content-range'] }
}

describe.each(['small', 'large'] as const)('of a %s file', (name) => {
  const content = files[name]
  const size = content.length
  it('the whole tells its length and its tag', async () => {
    const { status, headers, bytes } = await get(name, {})
    expect(status).toBe(200)
    expect(bytes.equals(content)).toBe(true)
    expect(headers).toMatchObject({
      'accept-ranges': 'bytes',
      'content-length': String(size),
      etag: `"${digests[name]}"`,
    })
  })
  it.each([
    ['bytes=0-0', 0, 1],
    ['bytes=2-5', 2, 6],
    ['bytes=3-', 3, size],
    ['bytes=-4', size - 4, size],
    ['bytes=-999999999', 0, size],
    [`bytes=1-${size + 100}`, 1, size],
    [`bytes=${size - 1}-${size - 1}`, size - 1, size],
    ['Bytes = 0-1', 0, 2],
  ])('%s', async (range, start, end) => {
    const answer = await get(name, { range })
    expect(answer.status).toBe(206)
    expect(answer.range).toBe(`bytes ${start}-${end - 1}/${size}`)
    expect(answer.headers['content-length']).toBe(String(end - start))
    expect(answer.bytes.equals(content.subarray(start, end))).toBe(true)
  })
  it.each([[`bytes=${size}-`], [`bytes=${size + 5}-${size + 9}`], ['bytes=-0'], ['bytes=99999999999999999999-']])(
    '%s lies outside: 416',
    async (range) => {
      const answer = await get(name, { range })
      expect([answer.status, answer.range]).toEqual([416, `bytes */${size}`])
    },
  )
  it.each([['bytes=5-2'], ['bytes=0-1,4-5'], ['lines=0-1'], ['bytes=a-b'], ['bytes='], ['bytes=-']])(
    '%s is no range of bytes: all of it',
    async (range) => {
      const answer = await get(name, { range })
      expect([answer.status, answer.bytes.length]).toEqual([200, size])
    },
  )
  it('if it is still the same content', async () => {
    const range = 'bytes=0-3'
    expect((await get(name, { range, 'if-range': `"${digests[name]}"` })).status).toBe(206)
    expect((await get(name, { range, 'if-range': `W/"${digests[name]}"` })).status).toBe(200)
    expect((await get(name, { range, 'if-range': '"other"' })).status).toBe(200)
    expect((await get(name, { range, 'if-range': 'Sat, 29 Oct 1994 19:43:31 GMT' })).status).toBe(200)
  })
})

it('an empty file has no range', async () => {
  expect((await get('empty', {})).bytes.length).toBe(0)
  expect(await get('empty', { range: 'bytes=0-' })).toMatchObject({ status: 416, range: 'bytes */0' })
})
