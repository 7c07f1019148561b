// Wire shapes of what operators read of the server itself: its settings, and the rows that the store refused.
import { z } from 'zod'

export const serverSettingsResponse = z.object({
  settings: z.array(
    z.object({
      ...{ name: z.string(), env: z.string(), flag: z.string(), help: z.string() },
      /** As text; null where it is a secret. */
      value: z.string().nullable(),
      is_default: z.boolean(),
    }),
  ),
  /** Of providers, as `CALLHOUSE_SECRET_<NAME>`: never what they are. */
  secrets: z.array(z.string()),
})

export const deadLettersRequest = z.object({
  limit: z.int().min(1).max(1_000).default(100),
  offset: z.int().min(0).default(0),
})

const deadLetter = {
  ...{ id: z.string(), topic: z.string(), partition: z.int(), offset: z.int(), row_index: z.int() },
  ...{ reason: z.string(), at: z.string(), replayed_at: z.string().nullable() },
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
