// The contract of every driver of the blob port.
import { describe, expect, it } from 'vitest'
import type { StoredBlobs } from '../../services/core/blobs/blobs.ts'
import type { ProjectId } from '../../services/core/ids.ts'
import { createFileDigest, fileDigest } from '../../services/events/digest.ts'

export type BlobsUnderTest = {
  blobs: StoredBlobs
  /** Names of the contents that are stored, without folders. */
  stored(): Promise<string[]>
  /** Files of uploads that are under way. */
  pending(): Promise<string[]>
}

const project = 'e/p' as ProjectId

export async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const found: Buffer[] = []
  for await (const chunk of chunks) found.push(chunk)
  return Buffer.concat(found)
}

const text = async (chunks: AsyncIterable<Buffer>): Promise<string> => (await collect(chunks)).toString()

export async function put(blobs: StoredBlobs, bytes: Buffer, projectId = project): Promise<string> {
  const upload = await blobs.upload()
  await upload.write(bytes)
  return upload.commit(projectId, fileDigest(bytes))
}

export function blobsContract(under: () => BlobsUnderTest): void {
  describe('contents', () => {
    it('are read whole and by range', async () => {
      const { blobs } = under()
      const location = await put(blobs, Buffer.from('0123456789'))
      expect(await text(blobs.read(location))).toBe('0123456789')
      expect(await text(blobs.read(location, { start: 2, end: 5 }))).toBe('234')
      expect(await text(blobs.read(location, { start: 8, end: 99 }))).toBe('89')
      expect(await text(blobs.read(location, { start: 3, end: 3 }))).toBe('')
      expect(await blobs.stat(location)).toEqual({ sizeBytes: 10 })
    })

    it('may be empty', async () => {
      const { blobs } = under()
      const upload = await blobs.upload()
      const location = await upload.commit(project, fileDigest(Buffer.alloc(0)))
      expect(await blobs.stat(location)).toEqual({ sizeBytes: 0 })
      expect(await text(blobs.read(location))).toBe('')
    })

    it('of many parts come back byte for byte', async () => {
      const { blobs } = under()
      const upload = await blobs.upload()
      const sent = createFileDigest()
      const piece = Buffer.alloc(700_001)
      for (let i = 0; i < 30; i++) {
        piece.fill(Buffer.from([i, i * 7 + 1, i * 13 + 2]))
        sent.update(piece)
        await upload.write(Buffer.from(piece))
      }
      const digest = sent.digest()
      const location = await upload.commit(project, digest)
      expect(await blobs.stat(location)).toEqual({ sizeBytes: 30 * piece.length })
      const received = createFileDigest()
      for await (const chunk of blobs.read(location)) received.update(chunk)
      expect(received.digest()).toBe(digest)
      const across = { start: 8 * 2 ** 20 - 3, end: 8 * 2 ** 20 + 3 }
      const whole = await collect(blobs.read(location))
      expect((await collect(blobs.read(location, across))).equals(whole.subarray(across.start, across.end))).toBe(true)
    })

    it('may come again, also while they are read', async () => {
      const { blobs, stored } = under()
      const location = await put(blobs, Buffer.from('same'))
      const reader = blobs.read(location)[Symbol.asyncIterator]()
      expect((await reader.next()).value?.toString()).toBe('same')
      expect(await put(blobs, Buffer.from('same'))).toBe(location)
      expect((await reader.next()).done).toBe(true)
      expect(await text(blobs.read(location))).toBe('same')
      expect(await stored()).toEqual([fileDigest(Buffer.from('same'))])
    })

    it('may come many at once', async () => {
      const { blobs, stored } = under()
      const bytes = Array.from({ length: 20 }, (_, i) => Buffer.from(`content ${i % 10}`))
      const locations = await Promise.all(bytes.map((content) => put(blobs, content)))
      for (const [i, location] of locations.entries())
        expect(await text(blobs.read(location))).toBe(`content ${i % 10}`)
      expect(await stored()).toHaveLength(10)
    })

    it('belong to their project, whatever its name is', async () => {
      const { blobs, stored } = under()
      const names = ['e/p', 'e/q', '../..', '.', 'é ü/%2F?#&+', 'a\u0000b/\n', `long/${'x'.repeat(2000)}`, '\ud800/x']
      const locations = await Promise.all(names.map((name) => put(blobs, Buffer.from('x'), name as ProjectId)))
      expect(new Set(locations).size).toBe(names.length)
      for (const location of locations) expect(await text(blobs.read(location))).toBe('x')
      expect(await stored()).toEqual(names.map(() => fileDigest(Buffer.from('x'))))
    })
  })

  it('removed is gone, others stay, and it may come again', async () => {
    const { blobs, stored } = under()
    const location = await put(blobs, Buffer.from('gone'))
    await put(blobs, Buffer.from('gone'), 'e/q' as ProjectId)
    await put(blobs, Buffer.from('stays'))
    await blobs.remove(location)
    await blobs.remove(location)
    expect(await blobs.stat(location)).toBe(null)
    expect(await stored()).toHaveLength(2)
    expect(await put(blobs, Buffer.from('gone'))).toBe(location)
    expect(await text(blobs.read(location))).toBe('gone')
  })

  describe('what is not committed', () => {
    it('is never visible, and goes', async () => {
      const { blobs, stored, pending } = under()
      const upload = await blobs.upload()
      await upload.write(Buffer.alloc(3_000_000))
      expect(await stored()).toEqual([])
      expect(await pending()).toHaveLength(1)
      await upload.discard()
      expect(await pending()).toEqual([])
      await upload.discard()
    })

    it('has a digest that is none', async () => {
      const { blobs, stored, pending } = under()
      for (const digest of ['../../../x', '', 'short', `${'a'.repeat(42)}/`]) {
        const upload = await blobs.upload()
        await upload.write(Buffer.from('x'))
        await expect(upload.commit(project, digest)).rejects.toThrow()
        await upload.discard()
      }
      expect([await stored(), await pending()]).toEqual([[], []])
    })
  })

  it('opens no location but its own', async () => {
    const { blobs } = under()
    for (const location of ['../secret', 'tmp/../../secret', '/etc/passwd', '', 'tmp/x']) {
      expect(await blobs.stat(location)).toBe(null)
      await expect(collect(blobs.read(location))).rejects.toThrow()
      await blobs.remove(location)
    }
  })
}
