// The driver of the blob port for an S3-compatible bucket.
import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { unavailable } from '../errors.ts'
import type { ProjectId } from '../ids.ts'
import type { FolderBlobs, StoredBlobs } from './blobs.ts'
import {
  isMissingInBucket,
  openBucketClient,
  putInBucket,
  readFromBucket,
  removeFromBucket,
  sizeInBucket,
} from './bucket-client.ts'
import type { BucketSettings } from './bucket-url.ts'

/** Longer names of projects stand as their hash: a key has at most 1,024 bytes. */
const longestProject = 400

export type BucketBlobsOptions = {
  bucket: BucketSettings
  /** Takes uploads while their digest is unknown. */
  local: FolderBlobs
  /** True: a content that the bucket does not take stays in the local folder; false: the upload is refused. */
  mayStayLocal: boolean
  /** Called when the bucket did not take a content. */
  onRefused(error: Error): void
  maxAttempts?: number
}

const escaped = (text: string): string =>
  encodeURIComponent(text.toWellFormed())
    .replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
    // Programs that take keys for paths would leave the folder.
    .replace(/^\.+$/, (dots) => '%2E'.repeat(dots.length))

function projectPath(projectId: ProjectId): string {
  const path = projectId.split('/').map(escaped).join('/')
  return path.length <= longestProject ? path : createHash('sha256').update(projectId).digest('hex')
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))
const noBucket = () => unavailable('Blob storage is not available')

/** Contents as objects `<prefix>/projects/<project>/files/<digest>`; their locations are `s3://<bucket>/<key>`. */
export function createBucketBlobs(options: BucketBlobsOptions): StoredBlobs {
  const { bucket, local, mayStayLocal, onRefused, maxAttempts = 3 } = options
  const store = openBucketClient(bucket, maxAttempts)
  const root = `${bucket.prefix}projects/`
  const begin = `s3://${bucket.name}/${root}`
  /** A location comes from a row; whatever a row says, only an object of ours is read. */
  const keyOf = (location: string): string | null =>
    location.startsWith(begin) ? location.slice(`s3://${bucket.name}/`.length) : null

  return {
    async upload() {
      const held = await local.upload()
      return {
        write: (chunk) => held.write(chunk),
        discard: () => held.discard(),
        async commit(projectId, digest) {
          const key = `${root}${projectPath(projectId)}/files/${digest}`
          if (!/^[A-Za-z0-9]{43,64}$/.test(digest)) throw new Error('not a content digest')
          try {
            await putInBucket(store, key, held.path)
          } catch (error) {
            onRefused(asError(error))
            if (!mayStayLocal) throw noBucket()
            return held.commit(projectId, digest)
          }
          await held.discard()
          return `s3://${bucket.name}/${key}`
        },
      }
    },
    async *read(location, range) {
      const key = keyOf(location)
      if (key === null) {
        yield* local.read(location, range)
        return
      }
      if (range && range.end <= range.start) return
      let body: Readable
      try {
        body = await readFromBucket(store, key, range)
      } catch (error) {
        throw isMissingInBucket(error) ? error : noBucket()
      }
      yield* body
    },
    async stat(location) {
      const key = keyOf(location)
      if (key === null) {
        if (location.startsWith('s3://')) throw noBucket()
        return local.stat(location)
      }
      try {
        const sizeBytes = await sizeInBucket(store, key)
        return sizeBytes === null ? null : { sizeBytes }
      } catch {
        throw noBucket()
      }
    },
    async remove(location) {
      const key = keyOf(location)
      if (key === null) {
        if (location.startsWith('s3://')) throw noBucket()
        return local.remove(location)
      }
      await removeFromBucket(store, key)
    },
  }
}
