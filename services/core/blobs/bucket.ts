// The driver of the blob port for an S3-compatible bucket.
import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { unavailable } from '../errors.ts'
import type { ProjectId } from '../ids.ts'
import type { FolderBlobs, StoredBlobs } from './blobs.ts'
import type { BucketSettings } from './bucket-url.ts'

/** Contents up to this size go up in one request, larger ones in parts of it. */
const partBytes = 8 * 1024 * 1024
/** Requests that carry content at one time, over all uploads: together with `partBytes` the bound of their memory. */
const maxTransfers = 6
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
const isMissing = (error: unknown): boolean =>
  error instanceof Error && ['NoSuchKey', 'NotFound', 'NoSuchBucket'].includes(error.name)

/** Statuses of a server that does not know what it is asked for. */
const unknownStatuses = [400, 405, 501]
const knowsNoVersions = (error: unknown): boolean =>
  error instanceof S3ServiceException && unknownStatuses.includes(error.$metadata.httpStatusCode ?? 0)

/** Lends so many buffers at one time; who finds none waits. Left to the collector they would pile up. */
function createTurns(most: number, sizeBytes: number): <T>(work: (buffer: Buffer) => Promise<T>) => Promise<T> {
  const free: Buffer[] = []
  const waiting: ((buffer: Buffer) => void)[] = []
  let made = 0
  const take = (): Buffer | Promise<Buffer> => {
    const buffer = free.pop()
    if (buffer !== undefined) return buffer
    if (made === most) return new Promise((resolve) => waiting.push(resolve))
    made++
    return Buffer.allocUnsafeSlow(sizeBytes)
  }
  return async (work) => {
    const buffer = await take()
    try {
      return await work(buffer)
    } finally {
      const next = waiting.shift()
      if (next) next(buffer)
      else free.push(buffer)
    }
  }
}

/** Reads a piece of a file into the beginning of a buffer. */
async function readPart(file: FileHandle, start: number, size: number, into: Buffer): Promise<Buffer> {
  const part = into.subarray(0, size)
  let done = 0
  while (done < size) {
    const { bytesRead } = await file.read(part, done, size - done, start + done)
    if (bytesRead === 0) throw new Error('an upload is shorter than what was written')
    done += bytesRead
  }
  return part
}

/** Contents as objects `<prefix>/projects/<project>/files/<digest>`; their locations are `s3://<bucket>/<key>`. */
export function createBucketBlobs(options: BucketBlobsOptions): StoredBlobs {
  const { bucket, local, mayStayLocal, onRefused, maxAttempts = 3 } = options
  const { name: Bucket, prefix, endpoint, region } = bucket
  const client = new S3Client({
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(region === undefined ? {} : { region }),
    maxAttempts,
    // A bucket that does not answer must not hold uploads for good.
    requestHandler: { connectionTimeout: 5_000, socketTimeout: 30_000 },
    // Not every S3-compatible server knows the newer checksums; each request signs its content.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
  const inTurn = createTurns(maxTransfers, partBytes)
  const root = `${prefix}projects/`
  const begin = `s3://${Bucket}/${root}`
  /** A location comes from a row; whatever a row says, only an object of ours is read. */
  const keyOf = (location: string): string | null =>
    location.startsWith(begin) ? location.slice(`s3://${Bucket}/`.length) : null

  async function putParts(Key: string, file: FileHandle, sizeBytes: number): Promise<void> {
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }))
    try {
      const count = Math.ceil(sizeBytes / partBytes)
      const Parts: { PartNumber: number; ETag: string | undefined }[] = []
      let next = 1
      // Two at a time: one upload never takes all turns.
      const some = async () => {
        while (next <= count) {
          const PartNumber = next++
          await inTurn(async (buffer) => {
            const start = (PartNumber - 1) * partBytes
            const Body = await readPart(file, start, Math.min(partBytes, sizeBytes - start), buffer)
            const { ETag } = await client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }))
            Parts[PartNumber - 1] = { PartNumber, ETag }
          })
        }
      }
      const outcomes = await Promise.allSettled([some(), some()])
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
      await client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }))
    } catch (error) {
      await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch(() => undefined)
      throw error
    }
  }

  const sizeOf = async (Key: string): Promise<number | null> => {
    try {
      return (await client.send(new HeadObjectCommand({ Bucket, Key }))).ContentLength ?? 0
    } catch (error) {
      if (isMissing(error)) return null
      throw error
    }
  }

  /** The object is there with all of its bytes, or not at all. */
  async function put(key: string, path: string): Promise<void> {
    const file = await open(path, 'r')
    try {
      const { size } = await file.stat()
      if (size > partBytes) {
        if ((await sizeOf(key)) !== size) await putParts(key, file, size)
        return
      }
      await inTurn(async (buffer) => {
        const Body = await readPart(file, 0, size, buffer)
        await client.send(new PutObjectCommand({ Bucket, Key: key, Body, ContentLength: size }))
      })
    } finally {
      await file.close()
    }
  }

  /** Versions of an object and marks of its deletion, page by page; none where the bucket keeps no versions. */
  async function versionsOf(Key: string): Promise<string[]> {
    const found: string[] = []
    let next: { KeyMarker?: string | undefined; VersionIdMarker?: string | undefined } | undefined = {}
    while (next !== undefined) {
      const page: ListObjectVersionsCommandOutput | undefined = await client
        .send(new ListObjectVersionsCommand({ Bucket, Prefix: Key, ...next }))
        .catch((error: unknown) => {
          // Not every S3-compatible server knows versions; one that may not or cannot tell now must not count as having none.
          if (knowsNoVersions(error)) return undefined
          throw error
        })
      for (const one of [...(page?.Versions ?? []), ...(page?.DeleteMarkers ?? [])])
        if (one.Key === Key && one.VersionId) found.push(one.VersionId)
      next = page?.IsTruncated
        ? { KeyMarker: page.NextKeyMarker, VersionIdMarker: page.NextVersionIdMarker }
        : undefined
    }
    return found
  }

  const noBucket = () => unavailable('Blob storage is not available')

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
            await put(key, held.path)
          } catch (error) {
            onRefused(asError(error))
            if (!mayStayLocal) throw noBucket()
            return held.commit(projectId, digest)
          }
          await held.discard()
          return `s3://${Bucket}/${key}`
        },
      }
    },
    async *read(location, range) {
      const Key = keyOf(location)
      if (Key === null) {
        yield* local.read(location, range)
        return
      }
      if (range && range.end <= range.start) return
      const Range = range && `bytes=${range.start}-${range.end - 1}`
      let body: Readable
      try {
        const answer = await client.send(new GetObjectCommand({ Bucket, Key, ...(Range ? { Range } : {}) }))
        body = answer.Body as Readable
      } catch (error) {
        throw isMissing(error) ? error : noBucket()
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
        const sizeBytes = await sizeOf(key)
        return sizeBytes === null ? null : { sizeBytes }
      } catch {
        throw noBucket()
      }
    },
    async remove(location) {
      const Key = keyOf(location)
      if (Key === null) {
        if (location.startsWith('s3://')) throw noBucket()
        return local.remove(location)
      }
      await client.send(new DeleteObjectCommand({ Bucket, Key }))
      for (const VersionId of await versionsOf(Key))
        await client.send(new DeleteObjectCommand({ Bucket, Key, VersionId }))
    },
  }
}
