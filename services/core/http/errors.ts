// Every expected fault of the interface, and the one place that turns a fault into a response body.

import { maxFaults } from '../../../schemas/collections.ts'

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
  | 409
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

/** What a refusal kept: a bound of the whole process, or the share of one key or project, which the others do not feel. */
export type Policy = 'bodies' | 'bodies_share' | 'log' | 'log_share' | 'reads_share' | 'inference_concurrency'

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

/** 429 for what one of our bounds refuses. */
export function tooMuch(policy: Policy, reason: string): Fault {
  const refusal = retryLater(429, reason)
  refusal.policy = policy
  return refusal
}

/** The work of a request turned out to be longer than the event loop may be held: it begins anew in a thread of its own. */
export class TooLongHere extends Error {
  #answer: LongAnswer | undefined
  /** @param answer of the store, that was found to be long: it need not be read again */
  constructor(answer?: LongAnswer) {
    super('the work is too long for the event loop')
    this.#answer = answer
  }
  /** Only once: its bytes are moved, and several requests may have waited for one read. */
  takeAnswer(): LongAnswer | undefined {
    const answer = this.#answer
    this.#answer = undefined
    return answer
  }
}

export type LongAnswer = { key: string; bytes: Buffer }

export const tooLarge = (): Fault => fault(413, 'Request too large')
