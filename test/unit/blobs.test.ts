// The blob port on a local folder.
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFolderBlobs, type StoredBlobs } from '../../services/core/blobs/blobs.ts'
import { blobsContract, collect } from './blobs.contract.ts'

let dir: string
let blobs: StoredBlobs

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'callhouse-blobs-'))
  blobs = await createFolderBlobs({ dir: join(dir, 'blobs'), minFreeBytes: 0 })
  await writeFile(join(dir, 'secret'), 'x')
})
afterEach(() => rm(dir, { recursive: true, force: true }))

async function onDisk(): Promise<string[]> {
  const entries = await readdir(join(dir, 'blobs'), { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name)
}
const stored = async () => (await onDisk()).filter((name) => /^\w{43}$/.test(name))
const pending = () => readdir(join(dir, 'blobs', 'tmp'))

describe('blobs in a folder', () => {
  blobsContract(() => ({ blobs, stored, pending }))

  it('forget what was left unfinished long ago, and nothing that another process is writing', async () => {
    const upload = await blobs.upload()
    await upload.write(Buffer.from('half'))
    const [name = ''] = await pending()
    await createFolderBlobs({ dir: join(dir, 'blobs'), minFreeBytes: 0 })
    expect(await pending()).toEqual([name])
    const longAgo = Date.now() / 1000 - 7200
    await utimes(join(dir, 'blobs', 'tmp', name), longAgo, longAgo)
    await createFolderBlobs({ dir: join(dir, 'blobs'), minFreeBytes: 0 })
    expect(await onDisk()).toEqual([])
    await upload.discard()
  })

  it('know nothing of a bucket', async () => {
    const location = 's3://files/a/b/projects/e/p/files/x'
    expect(await blobs.stat(location)).toBe(null)
    await expect(collect(blobs.read(location))).rejects.toThrow()
  })

  it('are refused with 503 when the disk is nearly full', async () => {
    const full = await createFolderBlobs({ dir: join(dir, 'blobs'), minFreeBytes: Number.MAX_SAFE_INTEGER })
    await expect(full.upload()).rejects.toMatchObject({ kind: 'unavailable' })
  })
})
