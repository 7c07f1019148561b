// Settings of a project, an entity or a key by an operator: retention of its data, and its limits.
import { z } from 'zod'

const days = z.int().min(1).max(36_500).nullable()

/** Days after the start of a call; null or absent = for ever. */
export const retentionSettings = z.object({
  calls_days: days.optional(),
  payloads_days: days.optional(),
  files_days: days.optional(),
  stats_days: days.optional(),
  logs_days: days.optional(),
  feedback: z.enum(['with_calls', 'keep']).optional(),
  /** Payloads of older calls may be removed already, though more days are set now: microseconds. */
  payloads_removed_us: z.int().optional(),
})

/** 0 or absent = no limit of its own. */
const limit = z.int().min(0).optional()

const rates = { requests_per_minute: limit, calls_per_minute: limit, bytes_per_minute: limit }
const quotas = { bytes_per_day: limit, stored_bytes: limit }

export const keyLimits = z.object(rates)
export const entityLimits = z.object(quotas)
export const projectLimits = z.object({
  ...rates,
  ...quotas,
  concurrent_reads: limit,
  concurrent_exports: limit,
  query_seconds: limit,
  query_memory_bytes: limit,
  query_rows: limit,
  inference_concurrency: limit,
})

/** Settings that a caller may change; an unknown name is a mistake. */
export const retentionRequest = z.strictObject({
  calls_days: days.optional(),
  payloads_days: days.optional(),
  /** After these a file goes once nothing names it. */
  files_days: days.optional(),
  stats_days: days.optional(),
  /** Days of OTLP log records, by their own times. */
  logs_days: days.optional(),
  /** Whether what was said of a call goes with it, which is the default. */
  feedback: z.enum(['with_calls', 'keep']).optional(),
})

const daysOrNull = z.int().nullable()
const instantOrNull = z.string().nullable()

/**
 * The cut-offs of retention now, and the days within which hidden data is removed from the tables and from their files:
 * null while nothing is, because all of the project is held.
 */
export const retentionResponse = z.object({
  calls_days: daysOrNull,
  payloads_days: daysOrNull,
  files_days: daysOrNull,
  stats_days: daysOrNull,
  logs_days: daysOrNull,
  feedback: z.enum(['with_calls', 'keep']),
  defaults: z
    .object({ calls_days: daysOrNull, logs_days: z.int() })
    .describe('days for projects that set none; log records go with calls that go sooner'),
  calls_before: instantOrNull,
  payloads_before: instantOrNull,
  stats_before: instantOrNull,
  logs_before: instantOrNull,
  held: z.boolean(),
  hidden_calls: z.int(),
  removed_within_days: daysOrNull,
  bytes_within_days: daysOrNull,
})

/** A name that is not known is a mistake, and must not count as no limit. */
export const limitsRequest = z.strictObject(projectLimits.shape)
export const projectSettingsResponse = z.object({ retention: retentionSettings, limits: projectLimits })

export type KeyLimits = z.output<typeof keyLimits>
export type EntityLimits = z.output<typeof entityLimits>
export type ProjectLimits = z.output<typeof projectLimits>
export type ProjectSettingsResponse = z.output<typeof projectSettingsResponse>
