// tier: bars
// Memory of an upload of 64 MiB to a bucket, which goes up in parts; the server of the bucket is in the same process.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it, vi } from 'vitest'
import { createFolderBlobs } from '../../services/core/blobs/blobs.ts'
import { createBucketBlobs } from '../../services/core/blobs/bucket.ts'
import { type BucketSettings, parseBucketUrl } from '../../services/core/blobs/bucket-url.ts'
import type { ProjectId } from '../../services/core/ids.ts'
import { createFileDigest } from '../../services/events/digest.ts'
import { bar } from '../fixtures/bar.ts'
import { s3Environment, startS3Server } from '../fixtures/s3-server.ts'

const mib = 2 ** 20

it('64 MiB in parts', async () => {
  for (const [name, value] of Object.entries(s3Environment)) vi.stubEnv(name, value)
  const dir = await mkdtemp(join(tmpdir(), 'callhouse-blobs-'))
  const s3 = await startS3Server()
  try {
    const blobs = createBucketBlobs({
      bucket: parseBucketUrl(s3.url) as BucketSettings,
      local: await createFolderBlobs({ dir: join(dir, 'blobs'), minFreeBytes: 0 }),
      mayStayLocal: false,
      onRefused: (error) => expect.fail(error.message),
    })
    const upload = await blobs.upload()
    const piece = Buffer.alloc(mib, 'callhouse')
    const digest = createFileDigest()
    for (let n = 0; n < 64; n++) {
      digest.update(piece)
      await upload.write(piece)
    }
    setFlagsFromString('--expose-gc')
    const collectGarbage = runInNewContext('gc') as () => void
    // Bytes that are held, not those that wait to be collected.
    const held = () => {
      collectGarbage()
      return process.memoryUsage().arrayBuffers
    }
    // Buffers are freed on another thread, after the collection.
    let before = held()
    for (let last = Number.POSITIVE_INFINITY; before < last; before = held()) {
      last = before
      await sleep(20)
    }
    let most = 0
    // Parts are in memory when their requests come.
    s3.server.prependListener('request', () => {
      most = Math.max(most, held() - before)
    })
    const location = await upload.commit('e/p' as ProjectId, digest.digest())
    expect(await blobs.stat(location)).toEqual({ sizeBytes: 64 * mib })
    bar('blobs/parts', most / mib)
  } finally {
    await s3.stop()
    await rm(dir, { recursive: true, force: true })
  }
}, 600_000)
