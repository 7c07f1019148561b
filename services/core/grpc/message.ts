// The one message of a unary call: five bytes of frame, then the message, inflated within the limit of bodies.
import type { ServerHttp2Stream } from 'node:http2'
import { Refusal } from '../errors.ts'
import { inflateBody } from '../http/inflate.ts'
import type { ByteLease } from '../http/limits.ts'
import type { BufferPool } from '../memory/buffer-pool.ts'
import { createGathering } from '../memory/gathering.ts'
import { GrpcError, grpcStatus } from './status.ts'

export const acceptedEncodings = 'identity,gzip,zstd'

const frameBytes = 5
/** How long a call waits for room in the budget of bodies, its bytes held back by flow control. */
const roomMs = 2_000
const recheckMs = 20
/** A sender whose message does not come on for so long is given up. */
const idleMs = 60_000

/** A frame around a message, not compressed. */
export function frameOf(message: Buffer): Buffer {
  const framed = Buffer.allocUnsafe(frameBytes + message.length)
  framed[0] = 0
  framed.writeUInt32BE(message.length, 1)
  message.copy(framed, frameBytes)
  return framed
}

const invalid = (what: string): GrpcError => new GrpcError(grpcStatus.invalidArgument, what)
const tooLarge = (): GrpcError => new GrpcError(grpcStatus.resourceExhausted, 'Message too large')

/** Takes bytes of the budget; waits a little for others to give theirs back. */
async function takeWhenFree(lease: ByteLease, bytes: number): Promise<void> {
  for (const until = Date.now() + roomMs; ; ) {
    try {
      lease.take(bytes)
      return
    } catch (error) {
      if (!(error instanceof Refusal && error.kind === 'over_limit') || Date.now() > until) throw error
      await new Promise((resolve) => setTimeout(resolve, recheckMs))
    }
  }
}

/** The bytes of the stream, in the order of arrival; nothing more is read while the last piece waits for room. */
async function collect(
  stream: ServerHttp2Stream,
  maxBytes: number,
  lease: ByteLease,
  pool: BufferPool,
  onReceived: (bytes: number) => void,
): Promise<Buffer> {
  const gathering = createGathering(pool)
  let total = 0
  stream.setTimeout(idleMs, () => stream.destroy(new GrpcError(grpcStatus.deadlineExceeded, 'The sender stopped')))
  // Left early it stays open: the refusal goes out on it.
  for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    onReceived(chunk.length)
    total += chunk.length
    if (total > maxBytes + frameBytes) throw tooLarge()
    await takeWhenFree(lease, chunk.length)
    gathering.add(chunk)
    if (total !== chunk.length || chunk.length < frameBytes) continue
    // The length is known with the first bytes: what is too long is refused before it comes.
    const length = chunk.readUInt32BE(1)
    if (length > maxBytes) throw tooLarge()
    gathering.expect(frameBytes + length)
  }
  stream.setTimeout(0)
  return gathering.whole()
}

/**
 * @param encoding the header `grpc-encoding`
 * @throws GrpcError 3 when this is not one whole message, 8 when it is larger than `maxBytes` as it came or inflated,
 * 12 for an encoding that is not known
 * @throws Refusal `over_limit` when the budget of bodies stays used up
 */
export async function readMessage(
  stream: ServerHttp2Stream,
  options: {
    encoding: string | undefined
    maxBytes: number
    lease: ByteLease
    /** The caller may give the message back to it, once no one reads it. */
    pool: BufferPool
    onReceived(bytes: number): void
  },
): Promise<Buffer> {
  const { encoding = 'identity', maxBytes, lease, pool, onReceived } = options
  if (encoding !== 'identity' && encoding !== 'gzip' && encoding !== 'zstd')
    throw new GrpcError(grpcStatus.unimplemented, `Unknown grpc-encoding; accepted are ${acceptedEncodings}`)
  const bytes = await collect(stream, maxBytes, lease, pool, onReceived)
  if (bytes.length < frameBytes) throw invalid('There is no whole message')
  const length = bytes.readUInt32BE(1)
  if (length > maxBytes) throw tooLarge()
  if (bytes.length < frameBytes + length) throw invalid('The message is cut off')
  if (bytes.length > frameBytes + length) throw invalid('A call has one message')
  const message = bytes.subarray(frameBytes)
  const flag = bytes[0] as number
  if (flag === 0) return message
  if (flag !== 1) throw invalid('The compressed flag is neither 0 nor 1')
  if (encoding === 'identity') throw invalid('The message is compressed, and grpc-encoding does not say how')
  const inflated = await inflateBody(encoding, message, maxBytes, lease, pool)
  pool.give(bytes)
  return inflated
}
