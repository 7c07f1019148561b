// Wire shape of what keys take of a project, by day, hour or key.
import { z } from 'zod'
import { text } from './coerce.ts'

const timestamp = z.union([z.string(), z.number()])

export const projectUsageRequest = z.object({
  project_id: text(),
  /** Minutes at or after `from` and before `to`: ISO 8601, or seconds since 1970. */
  from: timestamp,
  to: timestamp,
  by: z.enum(['day', 'hour', 'key']),
})

export type ProjectUsageRequest = z.output<typeof projectUsageRequest>

/** One line; `time` is the beginning of the day or hour in UTC, `key_id` '' the server's own work. */
export const projectUsageLine = z.object({
  time: z.string().optional(),
  key_id: z.string().optional(),
  requests: z.int(),
  refused: z.int(),
  calls: z.int(),
  bytes_in: z.int(),
  bytes_stored: z.int(),
  reads: z.int(),
  read_ms: z.int(),
  read_bytes: z.int(),
  sampled_out: z.int(),
  masked: z.int(),
})
