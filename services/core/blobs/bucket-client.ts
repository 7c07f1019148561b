// Objects of an S3-compatible bucket: put whole or not at all, read, and removed with their versions.
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
import type { ByteRange } from './blobs.ts'
import type { BucketSettings } from './bucket-url.ts'

/** Contents up to this size go up in one request, larger ones in parts of it. */
const partBytes = 8 * 1024 * 1024
/** Requests that carry content at one time, over all uploads: together with `partBytes` the bound of their memory. */
const maxTransfers = 6
export type BucketClient = {
  client: S3Client
  Bucket: string
  /** Lends the buffers of contents under way. */
  inTurn: ReturnType<typeof createTurns>
}

export const isMissingInBucket = (error: unknown): boolean =>
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

export const openBucketClient = ({ name, endpoint, region }: BucketSettings, maxAttempts: number): BucketClient => ({
  client: new S3Client({
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(region === undefined ? {} : { region }),
    maxAttempts,
    // A bucket that does not answer must not hold uploads for good.
    requestHandler: { connectionTimeout: 5_000, socketTimeout: 30_000 },
    // Not every S3-compatible server knows the newer checksums; each request signs its content.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  }),
  Bucket: name,
  inTurn: createTurns(maxTransfers, partBytes),
})

async function putParts(
  { client, Bucket, inTurn }: BucketClient,
  Key: string,
  file: FileHandle,
  sizeBytes: number,
): Promise<void> {
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

/** Null = there is no such object. */
export async function sizeInBucket({ client, Bucket }: BucketClient, Key: string): Promise<number | null> {
  try {
    return (await client.send(new HeadObjectCommand({ Bucket, Key }))).ContentLength ?? 0
  } catch (error) {
    if (isMissingInBucket(error)) return null
    throw error
  }
}

/** The object is there with all of its bytes, or not at all. */
export async function putInBucket(store: BucketClient, Key: string, path: string): Promise<void> {
  const { client, Bucket, inTurn } = store
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    if (size > partBytes) {
      if ((await sizeInBucket(store, Key)) !== size) await putParts(store, Key, file, size)
      return
    }
    await inTurn(async (buffer) => {
      const Body = await readPart(file, 0, size, buffer)
      await client.send(new PutObjectCommand({ Bucket, Key, Body, ContentLength: size }))
    })
  } finally {
    await file.close()
  }
}

/** Versions of an object and marks of its deletion, page by page; none where the bucket keeps no versions. */
async function versionsOf({ client, Bucket }: BucketClient, Key: string): Promise<string[]> {
  const versions: string[] = []
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
      if (one.Key === Key && one.VersionId) versions.push(one.VersionId)
    next = page?.IsTruncated ? { KeyMarker: page.NextKeyMarker, VersionIdMarker: page.NextVersionIdMarker } : undefined
  }
  return versions
}

export async function readFromBucket(
  { client, Bucket }: BucketClient,
  Key: string,
  range?: ByteRange,
): Promise<Readable> {
  const Range = range && `bytes=${range.start}-${range.end - 1}`
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key, ...(Range ? { Range } : {}) }))
  return Body as Readable
}

/** Removes the object and its versions. */
export async function removeFromBucket(store: BucketClient, Key: string): Promise<void> {
  const { client, Bucket } = store
  await client.send(new DeleteObjectCommand({ Bucket, Key }))
  for (const VersionId of await versionsOf(store, Key))
    await client.send(new DeleteObjectCommand({ Bucket, Key, VersionId }))
}
