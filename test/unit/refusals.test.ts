// Refusals of mechanisms: one status each, over HTTP, gRPC and through a request thread.
import { expect, it } from 'vitest'
import { malformed, overLimit, Refusal, tooLarge, unavailable } from '../../services/core/errors.ts'
import { toGrpcError } from '../../services/core/grpc/status.ts'
import { asFault } from '../../services/core/http/errors.ts'
import { receivedError, sentError } from '../../services/core/threads/crossing.ts'

const retryAfter = (seconds: number) => ({ 'Retry-After': String(seconds) })

it.each([
  [malformed('odd text'), { status: 400, body: { reason: 'odd text' }, headers: {} }, 3, undefined],
  [tooLarge(), { status: 413, body: { reason: 'Request too large' }, headers: {} }, 8, undefined],
  [overLimit('log', 'full'), { status: 429, body: { reason: 'full' }, headers: retryAfter(1), policy: 'log' }, 14, 1],
  [unavailable('no broker', 2), { status: 503, body: { reason: 'no broker' }, headers: retryAfter(2) }, 14, 2],
])('%s has one status, also from another thread', (refusal, fault, grpcCode, retryAfterSeconds) => {
  const received = receivedError(structuredClone(sentError(refusal)))
  expect(received).toBeInstanceOf(Refusal)
  for (const error of [refusal, received]) {
    expect({ ...asFault(error) }).toEqual(fault)
    expect(toGrpcError(error)).toMatchObject({ status: grpcCode, message: refusal.message, retryAfterSeconds })
  }
})

it('other errors have no refusal', () => {
  expect(asFault(new TypeError('a bug'))).toBeUndefined()
  expect(toGrpcError(new TypeError('a bug'))).toBeUndefined()
})
