// Wire shape of audit events, and of what is asked of them.
import { z } from 'zod'

const timestamp = z.union([z.string(), z.number()])

export const auditRequest = z.object({
  /** `*`, an entity or a project: events of it and of what lies in it. */
  scope: z.string().default('*'),
  /** Events at or after `from` and before `to`: ISO 8601, or seconds since 1970. */
  from: timestamp.optional(),
  to: timestamp.optional(),
  actor: z.string().optional(),
  /** `key.created`, or `key.*` for all that begin so. */
  action: z.string().optional(),
  target: z.string().optional(),
  /** Events before the one with this id. */
  after: z.string().optional(),
  limit: z.int().min(1).max(1_000).default(100),
})

export type AuditRequest = z.output<typeof auditRequest>

/** One line; the newest first. */
export const auditLine = z.object({
  id: z.string(),
  at: z.string(),
  scope: z.string(),
  action: z.string(),
  target: z.string(),
  actor: z.string(),
  actor_kind: z.string(),
  key_id: z.string(),
  address: z.string(),
  request_id: z.string(),
  /** `begun`: whether it came about is not known. */
  outcome: z.enum(['done', 'begun', 'failed', 'refused']),
  details: z.record(z.string(), z.unknown()),
  chain: z.string(),
  seq: z.int(),
  hash: z.string(),
})

export type AuditLine = z.output<typeof auditLine>
