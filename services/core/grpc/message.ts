// The one message of a unary call: five bytes of frame, then the message, inflated within the limit of bodies.
import type { ServerHttp2Stream } from 'node:http2'
import type { CallClock } from '../clock/call-clock.ts'
import type { Shares } from '../concurrency/shares.ts'
import { Refusal } from '../errors.ts'
import { inflateBody } from '../http/inflate.ts'
import type { ByteLease } from '../http/limits.ts'
import type { BufferPool } from '../memory/buffer-pool.ts'
import { createGathering } from '../memory/gathering.ts'
import { GrpcError, grpcStatus } from './status.ts'

export const acceptedEncodings = 'identity,gzip,zstd'

const frameBytes = 5
/** Longest wait of a call for room in the budget of bodies; flow control holds its bytes back. */
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

/** Bytes of a call that a sender may send before they are read. */
export const streamWindowBytes = 2 ** 20

/**
 * Memory of calls that wait for room, by connection; beyond its limit calls are refused at once. The window of a
 * connection does not bound it: Node opens that again for whatever has come, read or not.
 */
type WaitingRoom = Pick<Shares<object>, 'refusal' | 'take' | 'give'>

/** Takes bytes of the budget; where there is a place to wait in, it waits a little for others to give theirs back. */
async function takeWhenFree(
  stream: ServerHttp2Stream,
  { lease, waiting, clock }: Pick<ReadOptions, 'lease' | 'waiting' | 'clock'>,
  bytes: number,
  unreadBytes: number,
): Promise<void> {
  const refusal = (): Refusal | undefined => {
    try {
      lease.take(bytes)
      return undefined
    } catch (error) {
      if (error instanceof Refusal && error.kind === 'over_limit') return error
      throw error
    }
  }
  let refused = refusal()
  if (refused === undefined) return
  const held = bytes + unreadBytes
  const place = [[stream.session ?? stream, held]] as const
  if (waiting.refusal(held, place) !== null) throw refused
  waiting.take(held, place)
  try {
    for (const until = clock.now() + roomMs; refused !== undefined; refused = refusal()) {
      if (clock.now() > until || stream.closed) throw refused
      await new Promise<void>((resolve) => clock.after(recheckMs, resolve))
    }
  } finally {
    waiting.give(held, place)
  }
}

/** The bytes of the stream, in the order of arrival; nothing more is read while the last piece waits for room. */
async function collect(stream: ServerHttp2Stream, options: Omit<ReadOptions, 'encoding'>): Promise<Buffer> {
  const { maxBytes, pool, onReceived } = options
  const gathering = createGathering(pool)
  let total = 0
  let expected = Number.POSITIVE_INFINITY
  stream.setTimeout(idleMs, () => stream.destroy(new GrpcError(grpcStatus.deadlineExceeded, 'The sender stopped')))
  // The stream stays open when the loop ends early: the refusal goes out on it.
  for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    onReceived(chunk.length)
    total += chunk.length
    if (total > maxBytes + frameBytes) throw tooLarge()
    if (total === chunk.length && total >= frameBytes) {
      // The length is known with the first bytes: what is too long is refused before it comes.
      const length = chunk.readUInt32BE(1)
      if (length > maxBytes) throw tooLarge()
      expected = frameBytes + length
      gathering.expect(expected)
    }
    await takeWhenFree(stream, options, chunk.length, Math.max(0, Math.min(streamWindowBytes, expected - total)))
    gathering.add(chunk)
  }
  stream.setTimeout(0)
  return gathering.whole()
}

type ReadOptions = {
  encoding: string | undefined
  maxBytes: number
  lease: ByteLease
  waiting: WaitingRoom
  clock: CallClock
  /** The caller may give the message back to it, once no one reads it. */
  pool: BufferPool
  onReceived(bytes: number): void
}

/**
 * @param encoding the header `grpc-encoding`
 * @throws GrpcError 3 when this is not one whole message, 8 when it is larger than `maxBytes` as it came or inflated,
 * 12 for an encoding that is not known
 * @throws Refusal `over_limit` when the budget of bodies stays used up, or too many wait for it
 */
export async function readMessage(stream: ServerHttp2Stream, options: ReadOptions): Promise<Buffer> {
  const { encoding = 'identity', maxBytes, lease, pool } = options
  if (encoding !== 'identity' && encoding !== 'gzip' && encoding !== 'zstd')
    throw new GrpcError(grpcStatus.unimplemented, `Unknown grpc-encoding; accepted are ${acceptedEncodings}`)
  const bytes = await collect(stream, options)
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
