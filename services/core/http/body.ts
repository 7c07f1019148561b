// Request bodies: read within a size limit, inflated within the same limit, and discarded when no one reads them.
import type { IncomingMessage } from 'node:http'
import { type Readable, Transform } from 'node:stream'
import { tooLarge } from '../errors.ts'
import type { BufferPool } from '../memory/buffer-pool.ts'
import { createGathering } from '../memory/gathering.ts'
import { fault } from './errors.ts'
import { type Compression, inflateBody, inflaters, notValid } from './inflate.ts'
import type { ByteLease } from './limits.ts'

export type ReadLimits = {
  /** Bound of the body as it came and of the inflated body. */
  maxBytes: number
  /** A client that sends nothing for so long is cut off. */
  idleMs: number
  /** Whether zstd is taken beside gzip, deflate and br. */
  takesZstd?: boolean
  /** Called with the size of each piece as it came. */
  onReceived(bytes: number): void
}

/** The client went away, or stopped sending, before its request was complete. Nobody reads the answer. */
export class ClientGone extends Error {}

/** Bodies up to this size are copied into one buffer as they come. */
const gatherBytes = 1024 * 1024

type Coding = 'identity' | Compression

/** Content-Encoding of a request; 415 for what cannot be undone. */
function codingOf(request: IncomingMessage, takesZstd = false): Coding {
  const header = (request.headers['content-encoding'] ?? '').trim().toLowerCase()
  if (header === '' || header === 'identity') return 'identity'
  if (header === 'x-gzip') return 'gzip'
  if (header === 'gzip' || header === 'deflate' || header === 'br' || (header === 'zstd' && takesZstd)) return header
  throw fault(415, 'Unsupported Content-Encoding; use gzip, deflate, br or none')
}

/** Collects the bytes of a request; rejects with 413, 429 or ClientGone and leaves the rest unread. */
function collect(
  request: IncomingMessage,
  { maxBytes, idleMs, onReceived }: ReadLimits,
  lease: ByteLease,
  pool: BufferPool,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const declared = Number(request.headers['content-length'] ?? 0)
    if (declared > maxBytes) throw tooLarge()
    // A declared length is taken at its word only as far as bytes really come: beyond this, pieces are gathered.
    const whole = declared > 0 && declared <= gatherBytes ? pool.take(declared) : undefined
    const gathering = createGathering(pool)
    gathering.expect(declared)
    let total = 0
    const idle = setTimeout(() => settle(() => reject(new ClientGone('stopped sending'))), idleMs)
    const settle = (outcome: () => void) => {
      clearTimeout(idle)
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone)
      outcome()
    }
    const onData = (chunk: Buffer) => {
      idle.refresh()
      total += chunk.length
      onReceived(chunk.length)
      try {
        if (total > maxBytes) throw tooLarge()
        lease.take(chunk.length)
      } catch (error) {
        settle(() => reject(error))
        return
      }
      if (whole === undefined) gathering.add(chunk)
      else chunk.copy(whole, total - chunk.length)
    }
    const onEnd = () => settle(() => resolve(whole === undefined ? gathering.whole() : whole.subarray(0, total)))
    const onGone = () => settle(() => reject(new ClientGone('went away while sending')))
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone)
  })
}

/** The whole body, inflated. The caller may give it back to the pool once no one reads it. */
export async function readBody(
  request: IncomingMessage,
  limits: ReadLimits,
  lease: ByteLease,
  pool: BufferPool,
): Promise<Buffer> {
  const coding = codingOf(request, limits.takesZstd)
  const bytes = await collect(request, limits, lease, pool)
  if (coding === 'identity' || bytes.length === 0) return bytes
  const inflated = await inflateBody(coding, bytes, limits.maxBytes, lease, pool)
  pool.give(bytes)
  return inflated
}

/** The unread body of a route that reads by itself: inflated, and ended with 413 above the limit. */
export function bodyStream(
  request: IncomingMessage,
  { maxBytes, onReceived }: Pick<ReadLimits, 'maxBytes' | 'onReceived'>,
): Readable {
  const coding = codingOf(request)
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge()
  const inflated = coding === 'identity' ? undefined : inflaters[coding]()
  const onClose = () => {
    if (!request.complete) bounded.destroy(new ClientGone('went away while sending'))
  }
  let total = 0
  const bounded = new Transform({
    transform(chunk: Buffer, _, done) {
      total += chunk.length
      onReceived(chunk.length)
      if (total > maxBytes) done(tooLarge())
      else done(null, chunk)
    },
    destroy(error, done) {
      request.off('close', onClose).off('error', onClose)
      request.unpipe()
      inflated?.destroy()
      done(error)
    },
  })
  inflated?.on('error', () => bounded.destroy(notValid(coding as Compression)))
  request.on('close', onClose).on('error', onClose)
  // Not pipeline(): it would destroy the request, and with it the connection that the answer must go out on.
  const source = inflated === undefined ? request : request.pipe(inflated)
  source.pipe(bounded)
  // A handler that answers without reading leaves no one to hear of an error.
  bounded.on('error', () => {})
  return bounded
}

/**
 * Reads the rest of a body into nothing, so that a client that is still sending gets to read its answer; cuts the
 * connection when the rest is too long.
 */
export function discardRest(request: IncomingMessage, maxBytes: number, maxMs: number): void {
  if (request.complete || request.destroyed) return
  let total = 0
  const cut = () => request.destroy()
  const timer = setTimeout(cut, maxMs)
  request.on('data', (chunk: Buffer) => {
    total += chunk.length
    if (total > maxBytes) cut()
  })
  const done = () => {
    clearTimeout(timer)
    request.socket.off('close', done)
  }
  request.once('close', done).once('end', done)
  // A request whose answer is out does not hear of the end of its connection.
  request.socket.once('close', done)
  request.on('error', () => {})
  request.resume()
}
