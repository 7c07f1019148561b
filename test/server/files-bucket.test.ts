// A server whose large files lie in a bucket.
// again: kafka
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { fileDigest } from '../../services/events/digest.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { type S3Server, s3Environment, startS3Server } from '../fixtures/s3-server.ts'

let s3: S3Server
let server: LiveServer
/** Before each test the environment is put back; one of them starts the server anew. */
const stubKey = () => {
  for (const [name, value] of Object.entries(s3Environment)) vi.stubEnv(name, value)
}
beforeEach(stubKey)
beforeAll(async () => {
  stubKey()
  s3 = await startS3Server()
  server = await startLiveServer(['--file-bucket', s3.url])
})
afterAll(async () => {
  await server.remove()
  await s3.stop()
  vi.unstubAllEnvs()
})

const headers = { authorization: 'Bearer test-key' }
const upload = async (bytes: Buffer, expected = ''): Promise<number> => {
  const body = new FormData()
  body.set('project_id', 'e/p')
  body.set('expected_digest', expected)
  body.set('file', new Blob([new Uint8Array(bytes)]), 'x')
  return (await fetch(`${server.now().url}/file/create`, { method: 'POST', headers, body })).status
}
const content = async (digest: string, range?: string) => {
  const response = await fetch(`${server.now().url}/file/content`, {
    method: 'POST',
    headers: { ...headers, ...(range ? { range } : {}) },
    body: JSON.stringify({ project_id: 'e/p', digest }),
  })
  return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) }
}

it('large files lie in the bucket, small ones in the rows, and refused ones nowhere', async () => {
  const large = Buffer.alloc(10_000_000, 'callhouse')
  const small = Buffer.from('small')
  const digest = fileDigest(large)
  expect(await upload(large, fileDigest(small))).toBe(409)
  expect(await s3.keys()).toEqual([])
  expect([await upload(large, digest), await upload(small), await upload(large)]).toEqual([200, 200, 200])
  expect(await s3.keys()).toEqual([`a/b/projects/e/p/files/${digest}`])
  const whole = await content(digest)
  expect([whole.status, whole.bytes.equals(large)]).toEqual([200, true])
  const part = await content(digest, 'bytes=8388600-8388620')
  expect([part.status, part.bytes.equals(large.subarray(8_388_600, 8_388_621))]).toEqual([206, true])
  expect((await content(fileDigest(small))).bytes.toString()).toBe('small')
  await server.restart()
  expect((await content(digest, 'bytes=0-8')).bytes.toString()).toBe('callhouse')
})

it('a file that the bucket cannot give is answered 503', async () => {
  const large = Buffer.alloc(2_000_000, 'other')
  expect(await upload(large)).toBe(200)
  const [serve] = s3.server.listeners('request') as ((...args: unknown[]) => void)[]
  s3.server.removeAllListeners('request')
  s3.server.on('request', (request, response) => {
    request.resume()
    response.writeHead(403).end()
  })
  expect((await content(fileDigest(large))).status).toBe(503)
  const kept = Buffer.alloc(2_000_000, 'kept')
  expect(await upload(kept)).toBe(200)
  expect((await content(fileDigest(kept))).bytes.equals(kept)).toBe(true)
  s3.server.removeAllListeners('request')
  s3.server.on('request', serve as never)
  expect((await content(fileDigest(large))).bytes.equals(large)).toBe(true)
})
