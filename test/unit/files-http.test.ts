// Uploads and downloads over real connections: what clients get to read, and what a broken connection leaves behind.

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noMaskings } from '../../services/content/masking/maskings.ts'
import { createFolderBlobs } from '../../services/core/blobs/blobs.ts'
import { createClock } from '../../services/core/clock/clock.ts'
import type { Store } from '../../services/core/store/store.ts'
import { createFileDigest, fileDigest } from '../../services/events/digest.ts'
import { createFileWriteRoutes } from '../../services/ingest/files/routes.ts'
import { createFileReadRoutes } from '../../services/query/files/routes.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { annAuth, send, startServer, type TestServer } from '../fixtures/http-server.ts'
import { createMemoryLog, type MemoryLog } from '../fixtures/memory-log.ts'

const maxFileBytes = 40 * 1024 * 1024
let dir: string
let log: MemoryLog
let server: TestServer

/** Answers the one query of the read route from the rows of the log. */
const rowsOfLog: Pick<Store, 'rows'> = {
  async rows<T>() {
    return log.rows('files').map((row) => ({ chunk_index: 0, blob: '', content: '', ...row })) as T[]
  },
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'callhouse-upload-'))
  const blobs = await createFolderBlobs({ dir: join(dir, 'blobs'), minFreeBytes: 0 })
  log = createMemoryLog()
  const indirect = { append: ((...args) => log.append(...args)) as MemoryLog['append'] }
  server = await startServer(
    [
      ...createFileWriteRoutes({
        maskings: noMaskings,
        log: indirect,
        clock: createClock(),
        blobs,
        config: { maxFileBytes },
      }),
      ...createFileReadRoutes({ store: rowsOfLog, blobs, freshness: { wait: async () => ({}) } }),
    ],
    ['--max-file-bytes', String(maxFileBytes)],
  )
})
afterAll(async () => {
  await server.stop()
  await rm(dir, { recursive: true, force: true })
})

const temporary = () => readdir(join(dir, 'blobs', 'tmp'))

const boundary = 'b0undary'
const head = `--${boundary}\r\nContent-Disposition: form-data; name="project_id"\r\n\r\ne/p\r\n--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n`
const tail = `\r\n--${boundary}--\r\n`
const type = `multipart/form-data; boundary=${boundary}`
const post = (body: Buffer | string | (Buffer | string)[], headers: Record<string, string> = {}) =>
  send(server.port, '/file/create', { method: 'POST', body, headers: { 'content-type': type, ...headers } })

describe('over HTTP', () => {
  it('a large file goes up and comes down as a stream', async () => {
    const block = Buffer.alloc(1024 * 1024, 'callhouse')
    const digest = createFileDigest()
    for (let i = 0; i < 40; i++) digest.update(block)
    const body = Readable.from(
      (function* () {
        yield Buffer.from(head)
        for (let i = 0; i < 40; i++) yield block
        yield Buffer.from(tail)
      })(),
    )
    const answer = await fetch(`${server.url}/file/create`, {
      method: 'POST',
      headers: { authorization: annAuth, 'content-type': type },
      body: Readable.toWeb(body) as never,
      duplex: 'half',
    } as RequestInit)
    const expected = digest.digest()
    expect([answer.status, await answer.json()]).toEqual([200, { digest: expected }])
    const down = await send(server.port, '/files/content', {
      body: JSON.stringify({ project_id: 'e/p', digest: expected }),
    })
    expect(down.status).toBe(200)
    expect(down.headers['content-type']).toBe('application/octet-stream')
    expect(down.bytes.length).toBe(maxFileBytes)
    expect(fileDigest(down.bytes)).toBe(expected)
  })
  it('a compressed form is taken', async () => {
    log = createMemoryLog()
    const answer = await post(gzipSync(`${head}hello${tail}`), { 'content-encoding': 'gzip' })
    expect(JSON.parse(answer.text)).toEqual({ digest: 'LPJNulXwow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ' })
  })
  it('refusals reach clients that are still sending', async () => {
    log = createMemoryLog()
    const block = Buffer.alloc(1024 * 1024)
    const many = (count: number) => Array.from({ length: count }, () => block)
    expect((await post([head, ...many(40), 'x', tail])).status).toBe(413)
    expect((await post([head, ...many(45), tail])).status).toBe(413)
    expect((await post([head.replace('e/p', 'nope'), ...many(20), tail])).status).toBe(400)
    expect((await post([head.replace('"project_id"', '"other"'), ...many(3), tail])).status).toBe(422)
    expect((await post([head, ...many(3)])).status).toBe(400)
    expect(log.appends()).toBe(0)
    expect(await temporary()).toEqual([])
  })
  it('a connection that breaks off leaves nothing behind', async () => {
    log = createMemoryLog()
    const lines = server.lines.length
    const socket = connect(server.port, '127.0.0.1')
    socket.write(
      `POST /file/create HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: ${annAuth}\r\nContent-Type: ${type}\r\nContent-Length: 9000000\r\n\r\n${head}`,
    )
    socket.write(Buffer.alloc(2_000_000, 1))
    await expectSoon(temporary).toHaveLength(1)
    socket.destroy()
    await expectSoon(() => server.lines.slice(lines).some((line) => 'status' in line)).toBe(true)
    await expectSoon(temporary).toEqual([])
    expect(log.appends()).toBe(0)
  })
})
