// What every driver of the blob port must do, run against the folder driver.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Blobs, createFolderBlobs } from '../../services/core/blobs.ts'
import { fileDigest } from '../../services/core/digest.ts'

let dir: string
let blobs: Blobs

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'callhouse-blobs-'))
  blobs = await createFolderBlobs({ dir: join(dir, 'blobs'), minFreeBytes: 0 })
})
afterEach(() => rm(dir, { recursive: true, force: true }))

async function onDisk(): Promise<string[]> {
  const entries = await readdir(join(dir, 'blobs'), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name)
}

describe('blob storage', () => {
  const digest = fileDigest(Buffer.from('abc'))
  const put = async (bytes: Buffer) => {
    const upload = await blobs.upload()
    await upload.write(bytes)
    return upload.commit('e/p' as never, digest)
  }
  const all = async (chunks: AsyncIterable<Buffer>) => {
    const found: Buffer[] = []
    for await (const chunk of chunks) found.push(chunk)
    return Buffer.concat(found).toString()
  }
  it('reads ranges', async () => {
    const location = await put(Buffer.from('0123456789'))
    expect(await all(blobs.read(location))).toBe('0123456789')
    expect(await all(blobs.read(location, { start: 2, end: 5 }))).toBe('234')
    expect(await all(blobs.read(location, { start: 8, end: 99 }))).toBe('89')
    expect(await all(blobs.read(location, { start: 3, end: 3 }))).toBe('')
    expect(await blobs.stat(location)).toEqual({ sizeBytes: 10 })
  })
  it('takes the same content again, while it is read', async () => {
    const location = await put(Buffer.from('same'))
    const reader = blobs.read(location)[Symbol.asyncIterator]()
    expect((await reader.next()).value?.toString()).toBe('same')
    expect(await put(Buffer.from('same'))).toBe(location)
    expect((await reader.next()).done).toBe(true)
    expect(await all(blobs.read(location))).toBe('same')
    expect(await onDisk()).toEqual([digest])
  })
  it('takes many uploads at once', async () => {
    const bytes = Array.from({ length: 20 }, (_, i) => Buffer.from(`content ${i % 10}`))
    const locations = await Promise.all(
      bytes.map(async (content) => {
        const upload = await blobs.upload()
        await upload.write(content)
        return upload.commit('e/p' as never, fileDigest(content))
      }),
    )
    for (const [i, location] of locations.entries()) expect(await all(blobs.read(location))).toBe(`content ${i % 10}`)
    expect(await onDisk()).toHaveLength(10)
  })
  it('opens no path but its own', async () => {
    await writeFile(join(dir, 'secret'), 'x')
    for (const location of ['../secret', 'tmp/../../secret', '/etc/passwd', '', 'tmp/x']) {
      expect(await blobs.stat(location)).toBe(null)
      await expect(all(blobs.read(location))).rejects.toThrow()
    }
    const upload = await blobs.upload()
    await expect(upload.commit('e/p' as never, '../../../x')).rejects.toThrow()
    await upload.discard()
    expect(await onDisk()).toEqual([])
  })
  it('forgets what an earlier run did not finish', async () => {
    const upload = await blobs.upload()
    await upload.write(Buffer.from('half'))
    expect(await onDisk()).toHaveLength(1)
    await createFolderBlobs({ dir: join(dir, 'blobs'), minFreeBytes: 0 })
    expect(await onDisk()).toEqual([])
    await upload.discard()
  })
  it('refuses with 503 when the disk is nearly full', async () => {
    const full = await createFolderBlobs({ dir: join(dir, 'blobs'), minFreeBytes: Number.MAX_SAFE_INTEGER })
    await expect(full.upload()).rejects.toMatchObject({ status: 503 })
  })
})
