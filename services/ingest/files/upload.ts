// Reads one multipart upload as a stream: small files into memory, larger ones into blob storage, never more at once.
import type { Readable } from 'node:stream'
import busboy from 'busboy'
import type { Blobs, BlobUpload } from '../../core/blobs/blobs.ts'
import { tooLarge } from '../../core/errors.ts'
import { ClientGone } from '../../core/http/body.ts'
import { asFault, fault, invalid } from '../../core/http/errors.ts'
import { createFileDigest } from '../../events/digest.ts'
import { inlineFileBytes } from '../../events/files.ts'

export type Upload = {
  fields: Map<string, string>
  file: {
    name: string
    digest: string
    sizeBytes: number
    /** The bytes, or where they wait to be committed. Whoever holds the upload commits or discards it. */
    content: { inline: Buffer } | { blob: BlobUpload }
  }
}

const maxFieldBytes = 64 * 1024

type Options = {
  stream: Readable
  contentType: string
  blobs: Blobs
  maxFileBytes: number
  signal: AbortSignal
  /** Called with each text part as it comes; what it throws ends the upload before the file is read. */
  onField(name: string, value: string): void
}

const malformed = (error: unknown) =>
  fault(400, `Malformed multipart body: ${error instanceof Error ? error.message : 'unreadable'}`)

/** A part that breaks off because the body does is the client's fault, whichever of the two is noticed first. */
async function* part(bytes: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  try {
    yield* bytes
  } catch (error) {
    throw malformed(error)
  }
}

async function readFile(
  bytes: AsyncIterable<Buffer>,
  blobs: Blobs,
  maxFileBytes: number,
): Promise<Omit<Upload['file'], 'name'>> {
  const digest = createFileDigest()
  let sizeBytes = 0
  let head: Buffer[] = []
  let blob: BlobUpload | null = null
  try {
    for await (const chunk of part(bytes)) {
      sizeBytes += chunk.length
      if (sizeBytes > maxFileBytes) throw tooLarge()
      digest.update(chunk)
      if (blob === null && sizeBytes <= inlineFileBytes) {
        head.push(chunk)
        continue
      }
      if (blob === null) {
        blob = await blobs.upload()
        for (const earlier of head) await blob.write(earlier)
        head = []
      }
      await blob.write(chunk)
    }
  } catch (error) {
    await blob?.discard()
    throw error
  }
  return {
    digest: digest.digest(),
    sizeBytes,
    content: blob === null ? { inline: Buffer.concat(head, sizeBytes) } : { blob },
  }
}

/**
 * Part order is free. Parts other than the first `file` and the text parts are skipped.
 * @throws ClientGone as the stream reports it; Fault 400 for a malformed or truncated body, 413 above the file limit, 415 for another content type, 422 when
 *   there is no file part or a text part comes twice. Nothing is left behind then; the stream is destroyed.
 */
export async function readUpload({
  stream,
  contentType,
  blobs,
  maxFileBytes,
  signal,
  onField,
}: Options): Promise<Upload> {
  if (!/^multipart\/form-data(?:\s*;|\s*$)/i.test(contentType)) throw fault(415, 'Expected multipart/form-data')
  let parser: busboy.Busboy
  try {
    parser = busboy({
      headers: { 'content-type': contentType },
      defParamCharset: 'utf8',
      limits: { fieldSize: maxFieldBytes, fields: 20, parts: 30 },
    })
  } catch (error) {
    throw malformed(error)
  }

  const fields = new Map<string, string>()
  const found: { file?: Promise<Upload['file']> } = {}

  const parsed = new Promise<void>((resolve, reject) => {
    const gone = () => reject(malformed(new Error('the body ended early')))
    const broken = (error: Error) =>
      reject(error instanceof ClientGone || asFault(error) !== undefined ? error : malformed(error))
    // It also emits errors after the first one; without a listener each would end the process.
    parser.on('error', (error) => reject(malformed(error)))
    parser.on('close', resolve)
    parser.on('field', (name, value, info) => {
      try {
        // A part may come without a name.
        if (typeof name !== 'string') return
        if (info.valueTruncated) throw tooLarge()
        if (fields.has(name)) throw invalid({ loc: ['body', name], msg: 'Given twice', type: 'value_error' })
        fields.set(name, value)
        onField(name, value)
      } catch (error) {
        reject(error)
      }
    })
    parser.on('file', (name, bytes, info) => {
      bytes.on('error', () => undefined)
      if (name !== 'file' || found.file) {
        bytes.resume()
        return
      }
      found.file = readFile(bytes, blobs, maxFileBytes).then((read) => ({ name: info.filename ?? '', ...read }))
      found.file.catch(reject)
    })
    stream.on('error', broken)
    stream.on('close', () => {
      if (!stream.readableEnded) gone()
    })
    signal.addEventListener('abort', gone, { once: true })
    if (stream.destroyed || signal.aborted) gone()
  })
  stream.pipe(parser)
  try {
    await parsed
    if (!found.file) throw invalid({ loc: ['body', 'file'], msg: 'Field required', type: 'missing' })
    return { fields, file: await found.file }
  } catch (error) {
    stream.unpipe(parser)
    parser.destroy()
    // Whoever owns the connection drops the rest of the body; a stream that is left open would hold it back.
    stream.destroy()
    // A file that could not be read has already given up what it held.
    const read = await found.file?.catch(() => null)
    if (read) await discard(read)
    throw error
  }
}

/** Gives up what an upload holds. */
export async function discard(file: Upload['file']): Promise<void> {
  if ('blob' in file.content) await file.content.blob.discard()
}
