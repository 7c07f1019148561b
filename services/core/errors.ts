// Refusals that mechanisms make on purpose: the log, the store's ports, blobs, clocks, memory. Only core/http knows
// statuses.

/** Limits that an operator sets for a key, a project or an entity. */
export type RatePolicy =
  | ('key' | 'key-calls' | 'key-bytes')
  | ('project' | 'project-calls' | 'project-bytes' | 'project-day' | 'project-stored')
  | ('project-reads' | 'project-exports' | 'entity-day' | 'entity-stored')

/**
 * The limit behind a refusal: one of the whole process, or the share of one key or project, which the others do not
 * feel.
 */
export type Policy =
  | ('bodies' | 'bodies_share' | 'log' | 'log_share' | 'reads_share' | 'inference_concurrency')
  | RatePolicy

/**
 * `malformed` = what was given can never be taken, `too_large` = nor can so much at one time, `over_limit` = a bound of
 * ours is used up, `unavailable` = what is needed does not work at the moment.
 */
export type RefusalKind = 'malformed' | 'too_large' | 'over_limit' | 'unavailable'

/** An expected error of a mechanism. Its message is for whoever sent the request. */
export class Refusal extends Error {
  readonly kind: RefusalKind
  /** Whole seconds after which the same may succeed: of `over_limit` and `unavailable`. */
  readonly retryAfterSeconds: number | undefined
  /** Counted by it. */
  readonly policy: Policy | undefined
  constructor(kind: RefusalKind, reason: string, more: { retryAfterSeconds?: number; policy?: Policy } = {}) {
    super(reason)
    this.kind = kind
    this.retryAfterSeconds = more.retryAfterSeconds
    this.policy = more.policy
  }
}

export const malformed = (reason: string): Refusal => new Refusal('malformed', reason)

export const tooLarge = (reason = 'Request too large'): Refusal => new Refusal('too_large', reason)

export const overLimit = (policy: Policy, reason: string): Refusal =>
  new Refusal('over_limit', reason, { retryAfterSeconds: 1, policy })

export const unavailable = (reason: string, retryAfterSeconds = 1): Refusal =>
  new Refusal('unavailable', reason, { retryAfterSeconds })

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
