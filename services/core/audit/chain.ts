// Chains of audit events: each event is hashed with the hash of the one before it, so that no one changes the past unseen.
import { createHash } from 'node:crypto'
import type { AuditedRequest } from '../process/running-handler.ts'

/** An event to record; the process and the running request add the rest. */
export type AuditEvent = {
  /** `key.created` */
  action: string
  /** The scope of the event: `*`, an entity, or a project. */
  scope: string
  /** Id of the thing. */
  target?: string
  /** The user who did it, when it is not the user of the request. */
  actor?: string
  /** The request, when it is not the one that runs. */
  by?: AuditedRequest
  outcome?: AuditOutcome
  /** Never keys, texts or secrets. Longer ones than 2 KiB are replaced by their hash. */
  details?: Readonly<Record<string, unknown>>
}

/** `begun` = made durable before what it tells of; an end says how that went. */
type AuditOutcome = 'done' | 'begun' | 'failed' | 'refused'

/** An event as it is stored: everything but `prev` and `hash` is hashed, in this order. */
export type SealedEvent = {
  scope: string
  at_us: number
  chain: string
  seq: number
  actor: string
  actor_kind: 'user' | 'command' | 'server'
  key_id: string
  address: string
  action: string
  target: string
  outcome: AuditOutcome
  request_id: string
  details: string
  ends_from: number
  ends_to: number
  prev: string
  hash: string
}

export type Unsealed = Omit<SealedEvent, 'chain' | 'seq' | 'prev' | 'hash'>

/** The last event of a chain that is known. */
export type Head = { chain: string; seq: number; hash: string }

/** SHA-256 of the hash of the event before and of the event as JSON: its members in the order of the type, no spaces. */
export function hashOf(prev: string, event: Omit<SealedEvent, 'prev' | 'hash'>): string {
  const { scope, at_us, chain, seq, actor, actor_kind, key_id, address } = event
  const { action, target, outcome, request_id, details, ends_from, ends_to } = event
  const hashed = {
    scope,
    at_us,
    chain,
    seq,
    actor,
    actor_kind,
    key_id,
    address,
    action,
    target,
    outcome,
    request_id,
    details,
    ends_from,
    ends_to,
  }
  return createHash('sha256').update(prev).update(JSON.stringify(hashed)).digest('hex')
}

/** The event behind the head; the first of a chain stands behind `{ chain, seq: 0, hash: '' }`. */
export function sealed({ chain, seq, hash: prev }: Head, event: Unsealed): SealedEvent {
  const whole = { ...event, chain, seq: seq + 1 }
  return { ...whole, prev, hash: hashOf(prev, whole) }
}
