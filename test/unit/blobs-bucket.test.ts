// The blob port on an S3 server, and what happens when the bucket fails.
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createFolderBlobs, type StoredBlobs } from '../../services/core/blobs/blobs.ts'
import { createBucketBlobs } from '../../services/core/blobs/bucket.ts'
import { type BucketSettings, parseBucketUrl } from '../../services/core/blobs/bucket-url.ts'
import type { ProjectId } from '../../services/core/ids.ts'
import { createFileDigest, fileDigest } from '../../services/events/digest.ts'
import { type S3Server, s3Environment, startS3Server } from '../fixtures/s3-server.ts'
import { blobsContract, collect, put } from './blobs.contract.ts'

let dir: string
let s3: S3Server
let blobs: StoredBlobs
let refusals: Error[]

const openBlobs = async (mayStayLocal = true): Promise<StoredBlobs> =>
  createBucketBlobs({
    bucket: parseBucketUrl(s3.url) as BucketSettings,
    local: await createFolderBlobs({ dir: join(dir, 'blobs'), minFreeBytes: 0 }),
    mayStayLocal,
    onRefused: (error) => void refusals.push(error),
    maxAttempts: 1,
  })

beforeEach(async () => {
  for (const [name, value] of Object.entries(s3Environment)) vi.stubEnv(name, value)
  dir = await mkdtemp(join(tmpdir(), 'callhouse-blobs-'))
  s3 = await startS3Server()
  refusals = []
  blobs = await openBlobs()
})
afterEach(async () => {
  await s3.stop()
  await rm(dir, { recursive: true, force: true })
})

const pending = () => readdir(join(dir, 'blobs', 'tmp'))
const local = async () => (await readdir(join(dir, 'blobs'))).filter((name) => name !== 'tmp')

describe('blobs in a bucket', () => {
  blobsContract(() => ({ blobs, stored: async () => (await s3.keys()).map((key) => basename(key)), pending }))

  it('lie under the prefix, the project and the digest, and nowhere else', async () => {
    const bytes = Buffer.from('hello')
    const location = await put(blobs, bytes, 'acme/démo' as ProjectId)
    expect(location).toBe('s3://files/a/b/projects/acme/d%C3%A9mo/files/LPJNulXwow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ')
    expect(await s3.keys()).toHaveLength(1)
    expect([await pending(), await local(), refusals]).toEqual([[], [], []])
  })

  it('are read by another process', async () => {
    const location = await put(blobs, Buffer.from('hello'))
    expect((await collect((await openBlobs()).read(location))).toString()).toBe('hello')
  })

  it('that are gone are missing, and so are those of other places', async () => {
    const location = await put(blobs, Buffer.from('hello'))
    expect(await blobs.stat(location.replace('LPJN', 'XXXX'))).toBe(null)
    await expect(collect(blobs.read(location.replace('LPJN', 'XXXX')))).rejects.toThrow()
    for (const other of ['s3://other/a/b/projects/e/p/files/x', 's3://files/secret', 's3://files/a/b/other'])
      await expect(blobs.stat(other)).rejects.toMatchObject({ kind: 'unavailable' })
  })

  it('in many parts need little memory', async () => {
    const upload = await blobs.upload()
    const piece = Buffer.alloc(1024 * 1024, 'callhouse')
    const digest = createFileDigest()
    for (let i = 0; i < 64; i++) {
      digest.update(piece)
      await upload.write(piece)
    }
    const made = vi.spyOn(Buffer, 'allocUnsafeSlow')
    onTestFinished(() => made.mockRestore())
    const location = await upload.commit('e/p' as ProjectId, digest.digest())
    expect(await blobs.stat(location)).toEqual({ sizeBytes: 64 * piece.length })
    // Two parts at a time, and their buffers are used again.
    expect(made.mock.calls.filter(([size]) => size === 8 * 1024 * 1024)).toHaveLength(2)
  })
})

describe('a bucket that fails', () => {
  const large = Buffer.alloc(9 * 1024 * 1024, 'x')

  it('leaves the content in the local folder, where it is found', async () => {
    const earlier = await put(blobs, Buffer.from('earlier'))
    await s3.stop()
    const location = await put(blobs, Buffer.from('hello'))
    expect(location).not.toContain('s3://')
    expect(refusals).toHaveLength(1)
    expect((await collect(blobs.read(location))).toString()).toBe('hello')
    expect(await blobs.stat(location)).toEqual({ sizeBytes: 5 })
    expect(await pending()).toEqual([])
    await expect(blobs.stat(earlier)).rejects.toMatchObject({ kind: 'unavailable' })
    await expect(collect(blobs.read(earlier))).rejects.toMatchObject({ kind: 'unavailable' })
  })

  it('refuses the upload where no local folder is shared', async () => {
    const alone = await openBlobs(false)
    await s3.stop()
    const upload = await alone.upload()
    await upload.write(Buffer.from('hello'))
    await expect(upload.commit('e/p' as ProjectId, fileDigest(Buffer.from('hello')))).rejects.toMatchObject({
      kind: 'unavailable',
    })
    await upload.discard()
    expect([await pending(), await local()]).toEqual([[], []])
  })

  it.each([
    ['a part', 'PUT'],
    ['the completion', 'POST'],
  ])('at %s shows nothing of the content', async (_, method) => {
    let refused = 0
    const [serve] = s3.server.listeners('request') as ((...args: unknown[]) => void)[]
    s3.server.removeAllListeners('request')
    s3.server.on('request', (request, response) => {
      const isTurn = request.method === method && request.url?.includes('uploadId')
      if (!isTurn || (method === 'PUT' && !request.url?.includes('partNumber=2'))) return serve?.(request, response)
      refused++
      request.resume()
      response.writeHead(500).end()
    })
    const location = await put(blobs, large)
    expect(refused).toBeGreaterThan(0)
    expect(await s3.keys()).toEqual([])
    expect((await collect(blobs.read(location))).equals(large)).toBe(true)
  })
})

/** A bucket that keeps versions, as far as their list and removal go: two in a page. */
function keepVersions(versions: { key: string; id: string; isMark?: boolean }[]): void {
  const [serve] = s3.server.listeners('request') as ((...args: unknown[]) => void)[]
  s3.server.removeAllListeners('request')
  s3.server.on('request', (request, response) => {
    const url = new URL(request.url ?? '', 'http://s3')
    const key = decodeURIComponent(url.pathname.slice('/files/'.length))
    const id = url.searchParams.get('versionId')
    if (request.method === 'GET' && url.searchParams.has('versions')) {
      const all = versions.filter((one) => one.key.startsWith(url.searchParams.get('prefix') ?? ''))
      const from = all.findIndex((one) => one.id === url.searchParams.get('version-id-marker')) + 1
      const page = all.slice(from, from + 2)
      const items = page.map(({ key, id, isMark }) => {
        const name = isMark ? 'DeleteMarker' : 'Version'
        return `<${name}><Key>${key}</Key><VersionId>${id}</VersionId></${name}>`
      })
      const last = page.at(-1)
      const isTruncated = from + 2 < all.length
      const more = isTruncated
        ? `<NextKeyMarker>${last?.key}</NextKeyMarker><NextVersionIdMarker>${last?.id}</NextVersionIdMarker>`
        : ''
      const body = `<IsTruncated>${isTruncated}</IsTruncated>${more}${items.join('')}`
      response.end(`<?xml version="1.0"?><ListVersionsResult>${body}</ListVersionsResult>`)
    } else if (request.method === 'DELETE' && id !== null) {
      versions.splice(0, versions.length, ...versions.filter((one) => one.key !== key || one.id !== id))
      response.writeHead(204).end()
    } else if (request.method === 'DELETE') {
      versions.push({ key, id: `mark ${versions.length}`, isMark: true })
      response.writeHead(204).end()
    } else serve?.(request, response)
  })
}

describe('a bucket that keeps versions', () => {
  it('has none of a removed content, however many there were, and all of others', async () => {
    const location = await put(blobs, Buffer.from('hello'))
    const key = location.slice('s3://files/'.length)
    const versions = Array.from({ length: 7 }, (_, n) => ({ key, id: `v${n}`, isMark: n % 3 === 2 }))
    const other = { key: `${key}x`, id: 'other' }
    versions.push({ ...other, isMark: false })
    keepVersions(versions)
    await blobs.remove(location)
    expect(versions).toEqual([{ ...other, isMark: false }])
  })

  it.each([
    ['may not be told', 403],
    ['cannot be told now', 503],
  ])('and whose versions %s has nothing removed for good', async (_, status) => {
    const location = await put(blobs, Buffer.from('hello'))
    const [serve] = s3.server.listeners('request') as ((...args: unknown[]) => void)[]
    s3.server.removeAllListeners('request')
    s3.server.on('request', (request, response) => {
      if (!request.url?.includes('versions')) return serve?.(request, response)
      response.writeHead(status).end()
    })
    await expect(blobs.remove(location)).rejects.toThrow()
  })

  it('is not what a server has that knows no versions: what is removed there is gone', async () => {
    const location = await put(blobs, Buffer.from('hello'))
    const [serve] = s3.server.listeners('request') as ((...args: unknown[]) => void)[]
    s3.server.removeAllListeners('request')
    s3.server.on('request', (request, response) => {
      if (!request.url?.includes('versions')) return serve?.(request, response)
      response.writeHead(501).end('<Error><Code>NotImplemented</Code></Error>')
    })
    await blobs.remove(location)
    expect(await s3.keys()).toEqual([])
  })
})

describe('the setting of a bucket', () => {
  it.each([
    ['s3://files', { name: 'files', prefix: '', endpoint: undefined, region: undefined }],
    ['s3://files/', { name: 'files', prefix: '', endpoint: undefined, region: undefined }],
    [
      's3://my.files/a/b/?region=eu-west-1',
      { name: 'my.files', prefix: 'a/b/', endpoint: undefined, region: 'eu-west-1' },
    ],
    [
      's3://f-1/x?endpoint=http://h:9000',
      { name: 'f-1', prefix: 'x/', endpoint: 'http://h:9000', region: 'us-east-1' },
    ],
  ])('%s', (url, settings) => {
    expect(parseBucketUrl(url)).toEqual(settings)
  })
  it.each([
    '',
    'files',
    'http://files',
    's3://',
    's3://key:secret@files',
    's3://files?key=1',
    's3://files?endpoint=ftp://x',
    's3://files?endpoint=http://h/path',
    's3://fi les',
    's3://files/%zz',
  ])('%j names none', (url) => {
    expect(parseBucketUrl(url)).toBe(null)
  })
})
