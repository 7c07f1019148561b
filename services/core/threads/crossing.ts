// Moves values from one thread to another: buffers without copies where that is possible, and errors of known classes.
import { Refusal } from '../errors.ts'
import { ClientGone } from '../http/body.ts'
import { Fault } from '../http/errors.ts'
import { StoreError } from '../store/store.ts'

/** A value that can be cloned, and buffers beside it. */
export type Parcel = { value?: unknown; buffers?: readonly Buffer[] }

/** Smaller buffers may share their memory with others (`Buffer.poolSize`), and copying them costs nothing. */
const copyBelowBytes = 64 * 1024

/**
 * The buffers as they are sent, and the memory that goes with them: the sender must not use them any more. Views that
 * are much smaller than what they look into are copied. Shared memory stays where it is: the sender must leave it alone
 * until it is answered, and the receiver afterwards.
 */
export function packed(buffers: readonly Buffer[]): { views: Uint8Array[]; moved: ArrayBuffer[] } {
  const moved = new Set<ArrayBuffer>()
  const views = buffers.map((buffer) => {
    const { length, buffer: memory } = buffer
    if (length >= copyBelowBytes && memory instanceof SharedArrayBuffer) return buffer
    const isOwn = length >= copyBelowBytes && length * 4 >= memory.byteLength && memory instanceof ArrayBuffer
    if (!isOwn) return new Uint8Array(buffer)
    moved.add(memory)
    return buffer
  })
  return { views, moved: [...moved] }
}

export const unpacked = (views: readonly Uint8Array[]): Buffer[] =>
  views.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength))

export type SentError =
  | ({ kind: 'fault' } & Pick<Fault, 'status' | 'body' | 'headers' | 'policy'>)
  | { kind: 'refusal'; of: Refusal['kind']; message: string; more: ConstructorParameters<typeof Refusal>[2] }
  | { kind: 'store'; of: StoreError['kind']; code: number; message: string }
  | { kind: 'gone'; message: string }
  | { kind: 'error'; name: string; message: string; stack: string | undefined }

const policyOf = ({ policy }: { policy?: Refusal['policy'] }) => (policy === undefined ? {} : { policy })

export function sentError(error: unknown): SentError {
  if (error instanceof Fault)
    return { kind: 'fault', status: error.status, body: error.body, headers: error.headers, ...policyOf(error) }
  if (error instanceof Refusal) {
    const { retryAfterSeconds } = error
    const more = { ...policyOf(error), ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) }
    return { kind: 'refusal', of: error.kind, message: error.message, more }
  }
  if (error instanceof StoreError) return { kind: 'store', of: error.kind, code: error.code, message: error.message }
  if (error instanceof ClientGone) return { kind: 'gone', message: error.message }
  if (error instanceof Error) return { kind: 'error', name: error.name, message: error.message, stack: error.stack }
  return { kind: 'error', name: typeof error, message: String(error), stack: undefined }
}

export function receivedError(sent: SentError): Error {
  switch (sent.kind) {
    case 'fault':
      return Object.assign(new Fault(sent.status, sent.body, sent.headers), policyOf(sent))
    case 'refusal':
      return new Refusal(sent.of, sent.message, sent.more)
    case 'store':
      return new StoreError(sent.of, sent.code, sent.message)
    case 'gone':
      return new ClientGone(sent.message)
    case 'error': {
      const error = sent.name === 'SyntaxError' ? new SyntaxError(sent.message) : new Error(sent.message)
      error.name = sent.name
      error.stack = sent.stack ?? ''
      return error
    }
    default:
      return sent satisfies never
  }
}
