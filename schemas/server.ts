// Wire shapes of what operators read of the server itself: how it is, its settings, and the rows that the store refused.
import { z } from 'zod'
import { checkStatuses, healthReasons } from './service.ts'

const milliseconds = z.number().min(0)
const bytes = z.int().min(0)

export const serverStatusResponse = z.object({
  version: z.string(),
  role: z.string(),
  started_at: z.iso.datetime(),
  checks: checkStatuses,
  reasons: healthReasons.optional(),
  lag_ms: milliseconds,
  /** Unapplied bytes, and the limit above which writes are refused. */
  unapplied: z.object({ bytes, limit_bytes: bytes }),
  /** `end` and `applied` count records over all partitions; `lag_ms` is the age of the oldest that is not applied. */
  topics: z.array(
    z.object({ topic: z.string(), end: bytes, applied: bytes, lag_ms: milliseconds, unapplied_bytes: bytes }),
  ),
  /** Rollups of a process that applies the log. */
  rollups: z.array(z.object({ name: z.string(), lag_ms: milliseconds, is_building: z.boolean() })),
  dead_letters: z.object({ count: z.int(), latest_at: z.string().nullable() }),
  /** Null where it does not answer. Free and whole bytes are those of the fullest disk; below `stops_at_bytes` of free ones writes stop. */
  store: z
    .object({
      kind: z.enum(['embedded', 'server']),
      version: z.string(),
      bytes,
      parts: z.int(),
      free_bytes: bytes.nullable(),
      disk_bytes: bytes.nullable(),
      stops_at_bytes: bytes.nullable(),
    })
    .nullable(),
  process: z.object({ rss_bytes: bytes, heap_bytes: bytes, event_loop_p99_ms: milliseconds }),
  /** The slowest reads since the start; percentiles are of the latest 256 of each. */
  queries: z.array(
    z.object({ name: z.string(), path: z.string(), count: z.int(), p50_ms: milliseconds, p95_ms: milliseconds }),
  ),
  /** Requests since the start, by the status of their answer. */
  refused: z.object({ '429': z.int(), '503': z.int() }),
  /** Those of 429, by the bound that refused them. */
  refused_policies: z.record(z.string(), z.int()),
})

export const serverSettingsResponse = z.object({
  settings: z.array(
    z.object({
      name: z.string(),
      env: z.string(),
      flag: z.string(),
      help: z.string(),
      /** Value as text; null for a secret. */
      value: z.string().nullable(),
      is_default: z.boolean(),
    }),
  ),
  /** Names of secrets of providers, as `CALLHOUSE_SECRET_<NAME>`: never their values. */
  secrets: z.array(z.string()),
})

export const deadLettersRequest = z.object({
  limit: z.int().min(1).max(1_000).default(100),
  offset: z.int().min(0).default(0),
})

const deadLetter = {
  id: z.string(),
  topic: z.string(),
  partition: z.int(),
  offset: z.int(),
  row_index: z.int(),
  reason: z.string(),
  at: z.string(),
  replayed_at: z.string().nullable(),
}

/** The latest first. */
export const deadLettersResponse = z.object({
  dead_letters: z.array(z.object({ ...deadLetter, size_bytes: z.int() })),
  total: z.int(),
})

/** `remaining`: those that were not sent again because one request sends so many. */
export const deadLetterReplayResponse = z.object({ replayed: z.int(), remaining: z.int() })

/** `row` is its text as it stood in the log. */
export const deadLetterResponse = z.object({ ...deadLetter, row: z.string() })
