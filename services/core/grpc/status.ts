// Ends of gRPC calls: the status codes, and the trailers that carry one (grpc.github.io, PROTOCOL-HTTP2).
import type { OutgoingHttpHeaders } from 'node:http2'
import { asFault, type FaultStatus } from '../http/errors.ts'
import { bytesField, integerField, textField } from '../protobuf.ts'

export const grpcStatus = {
  ok: 0,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const
export type GrpcStatus = (typeof grpcStatus)[keyof typeof grpcStatus]

const names = new Map<GrpcStatus, string>(
  Object.entries(grpcStatus).map(([name, status]) => [
    status,
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase(),
  ]),
)

/** The name of a status code as the specification spells it, `DEADLINE_EXCEEDED`. */
export const codeName = (status: GrpcStatus): string => names.get(status) as string

/** A call that failed as the protocol tells it. */
export class GrpcError extends Error {
  readonly status: GrpcStatus
  /** The sender may repeat the call after this time; absent: it must not. */
  readonly retryAfterSeconds: number | undefined
  constructor(status: GrpcStatus, message: string, retryAfterSeconds?: number) {
    super(message)
    this.status = status
    this.retryAfterSeconds = retryAfterSeconds
  }
}

const statusOfFault: Partial<Record<FaultStatus, GrpcStatus>> = {
  400: grpcStatus.invalidArgument,
  401: grpcStatus.unauthenticated,
  403: grpcStatus.permissionDenied,
  404: grpcStatus.notFound,
  410: grpcStatus.notFound,
  413: grpcStatus.resourceExhausted,
  415: grpcStatus.unimplemented,
  422: grpcStatus.invalidArgument,
  429: grpcStatus.unavailable,
  503: grpcStatus.unavailable,
  504: grpcStatus.deadlineExceeded,
}

const minRetrySeconds = 1
const maxRetrySeconds = 30

/** Spread over a fifth more, so that not all senders come back in the same moment. */
const withJitter = (seconds: number): number =>
  Math.min(maxRetrySeconds, Math.max(minRetrySeconds, seconds) * (1 + Math.random() / 5))

/** The error of a handler as the status of its call; undefined for an unexpected one. */
export function toGrpcError(error: unknown): GrpcError | undefined {
  if (error instanceof GrpcError) return error
  const fault = asFault(error)
  const status = fault && statusOfFault[fault.status]
  if (status === undefined) return undefined
  const retry = status === grpcStatus.unavailable ? Number(fault?.headers['Retry-After'] ?? minRetrySeconds) : undefined
  return new GrpcError(status, fault?.message ?? '', retry)
}

/** Printable ASCII as it is, everything else percent-encoded. */
const messageText = (message: string): string =>
  Buffer.from(message.slice(0, 1_000).toWellFormed())
    .toString('latin1')
    .replace(/[^\x20-\x24\x26-\x7e]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)

/** google.rpc.Status with google.rpc.RetryInfo in it (google/rpc/status.proto, error_details.proto). */
function retryDetails({ status, message }: GrpcError, seconds: number): string {
  const whole = Math.floor(seconds)
  const delay = Buffer.concat([integerField(1, whole), integerField(2, Math.floor((seconds - whole) * 1e9))])
  const info = bytesField(1, delay)
  const any = Buffer.concat([textField(1, 'type.googleapis.com/google.rpc.RetryInfo'), bytesField(2, info)])
  return Buffer.concat([integerField(1, status), textField(2, message), bytesField(3, any)])
    .toString('base64')
    .replace(/=+$/, '')
}

/** The trailers of a call that failed. */
export function trailersOf(error: GrpcError): OutgoingHttpHeaders {
  const { status, message, retryAfterSeconds } = error
  return {
    'grpc-status': String(status),
    'grpc-message': messageText(message),
    ...(retryAfterSeconds === undefined
      ? {}
      : { 'grpc-status-details-bin': retryDetails(error, withJitter(retryAfterSeconds)) }),
  }
}
