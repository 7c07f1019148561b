// Wire shapes of erasures: what is removed for good, how far that is, and its receipt.
import { z } from 'zod'
import { list } from './collections.ts'
import { logsSelector } from './logs.ts'
import { expressionQuery } from './query.ts'

const ids = list(z.string().min(1).max(500)).min(1).max(1_000).optional()
/** Members with a single value, so that nobody believes in a choice. */
const always = (why: string) =>
  z
    .boolean()
    .refine((value) => value, `${why}: only true, or nothing`)
    .optional()
const selectors = ['call_ids', 'trace_ids', 'thread_ids', 'user_ids', 'query', 'logs'] as const

export const erasureRequest = z
  .strictObject({
    project_id: z.string(),
    call_ids: ids,
    trace_ids: ids,
    thread_ids: ids,
    user_ids: ids,
    /** Condition in the form of `query` of `/calls/stream_query`. */
    query: expressionQuery.optional(),
    /** Log records alone, by the conditions of `/logs/query`. */
    logs: logsSelector.optional(),
    /** An erased call keeps neither its descendants nor feedback about it, nor files that it alone names. */
    descendants: always('calls go with their descendants'),
    feedback: always('feedback about calls goes with them'),
    files: always('files that erased calls alone name go with them'),
    digests: z
      .unknown()
      .refine(
        (value) => value === undefined,
        'objects and tables are not erased by digests: delete objects with POST /obj/delete, or remove the project',
      )
      .optional(),
    reason: z.string().min(1).max(1_000),
  })
  .refine(
    (asked) => selectors.filter((name) => asked[name] !== undefined).length === 1,
    `exactly one of ${selectors.join(', ')}`,
  )

export type ErasureRequest = z.output<typeof erasureRequest>

const status = z.enum(['accepted', 'hidden', 'removing', 'verifying', 'done', 'held', 'failed'])

export const erasureResponse = z.object({
  erasure_id: z.string(),
  status,
  /** Calls that were deleted by it, and ids of none. */
  calls: z.int(),
  missing: z.int(),
  /** Log records that are erased by themselves: those of the calls are found later. */
  log_records: z.int(),
  deadline: z.iso.datetime(),
})

export type ErasureResponse = z.output<typeof erasureResponse>

const time = z.iso.datetime().nullable()

export const erasureReceipt = z.object({
  erasure_id: z.string(),
  project_id: z.string(),
  status,
  requested_by: z.string(),
  requested_at: time,
  deadline: time,
  done_at: time,
  reason: z.string(),
  problem: z.string().nullable(),
  counts: z.object({
    calls: z.int(),
    missing: z.int(),
    payload_rows: z.int(),
    feedback: z.int(),
    log_rows: z.int(),
    dead_letters: z.int(),
    /** OTLP log records; of the rows of the kept log tells `log_rows`. */
    log_records: z.int().optional(),
    /** Files that went, with their bytes; receipts of earlier versions have neither, nor what is optional below. */
    files: z.int().optional(),
    bytes: z.int().optional(),
  }),
  /** Time from which on answers lacked it; null = not known yet. */
  hidden_at: time.optional(),
  /** The request, as HMAC-SHA-256 under a key that comes from the master key; null without one. */
  selector_hmac: z.string().nullable().optional(),
  /** Calls, and log records that were deleted by themselves, that stay for as long as they are held. */
  held: z.int().optional(),
  /** Every place that was looked at, once it is done. */
  places: z.array(z.string()).optional(),
  /** Places that may still hold something, and until when; null = as long as their owner keeps them. */
  remaining: z.array(z.object({ place: z.string(), until: z.iso.datetime().nullable() })),
  /** SHA-256 of the canonical JSON of all the rest, and that of the project's receipt before; '' = none. */
  previous: z.string(),
  hash: z.string(),
})
