// Every expected fault of the interface, and the one place that turns a fault into a response body.

import { maxFaults } from '../../../schemas/collections.ts'
import { type Policy, Refusal, type RefusalKind } from '../errors.ts'

/** One entry of a 422 `detail` list. `loc` starts with body, query, path or header. */
export type Detail = { loc: (string | number)[]; msg: string; type: string }

/** Statuses that a handler may answer with on purpose; everything else that is thrown is answered 500. */
export type FaultStatus =
  | 400
  | 401
  | 402
  | 403
  | 404
  | 405
  | 408
  | 409
  | 410
  | 413
  | 415
  | 416
  | 422
  | 429
  | 499
  | 500
  | 501
  | 502
  | 503
  | 504

/** An expected fault: its status, its body and its headers are the answer. */
export class Fault extends Error {
  readonly status: FaultStatus
  readonly body: Record<string, unknown>
  readonly headers: Record<string, string>
  /** Counted by it. */
  policy?: Policy
  constructor(status: FaultStatus, body: Record<string, unknown>, headers: Record<string, string> = {}) {
    super(typeof body.reason === 'string' ? body.reason : JSON.stringify(body).slice(0, 500))
    this.status = status
    this.body = body
    this.headers = headers
  }
}

/** A fault with the body `{"reason": …}` and optional machine fields. */
export const fault = (status: FaultStatus, reason: string, extra: Record<string, unknown> = {}): Fault =>
  new Fault(status, { reason, ...extra })

/** Characters of a key in an answer: keys are as long as callers like, and one stands in each entry below it. */
const maxKeyLength = 200

/** A key as a `loc` shows it. */
export const shownKey = (key: PropertyKey): string | number =>
  typeof key === 'number' ? key : String(key).slice(0, maxKeyLength)

/** 422 with the body `{"detail": […]}`; of many entries the first ones are told. */
export const invalid = (detail: Detail | readonly Detail[]): Fault =>
  new Fault(422, { detail: [detail].flat().slice(0, maxFaults) })

/** 429 or 503 with Retry-After in whole seconds. */
export const retryLater = (status: 429 | 503, reason: string, retryAfterSeconds = 1): Fault =>
  new Fault(status, { reason }, { 'Retry-After': String(retryAfterSeconds) })

/** Status codes of the refusals of core. */
const statuses: Readonly<Record<RefusalKind, FaultStatus>> = {
  malformed: 400,
  too_large: 413,
  over_limit: 429,
  unavailable: 503,
}

/** The fault that an expected error is answered with; undefined for every other. */
export function asFault(error: unknown): Fault | undefined {
  if (error instanceof Fault) return error
  if (!(error instanceof Refusal)) return undefined
  const { kind, message, retryAfterSeconds, policy } = error
  const headers = retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }
  return Object.assign(new Fault(statuses[kind], { reason: message }, headers), policy === undefined ? {} : { policy })
}

export const statusOf = (error: unknown): FaultStatus => asFault(error)?.status ?? 500
