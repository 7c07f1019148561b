// What an operator sets for a project, an entity or a key: how long its data stays, and how much it may take.
import { z } from 'zod'

const days = z.int().min(1).max(36_500).nullable()

/** Days after the start of a call; null or absent = for ever. */
export const retentionSettings = z.object({
  calls_days: days.optional(),
  payloads_days: days.optional(),
  files_days: days.optional(),
  stats_days: days.optional(),
  feedback: z.enum(['with_calls', 'keep']).optional(),
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
  ...{ concurrent_reads: limit, concurrent_exports: limit },
  ...{ query_seconds: limit, query_memory_bytes: limit, query_rows: limit },
  inference_concurrency: limit,
})

/** What a caller may set; a name that is not known is a mistake. */
export const retentionRequest = z.strictObject({
  calls_days: days.optional(),
  payloads_days: days.optional(),
  stats_days: days.optional(),
})

/** A name that is not known is a mistake, and must not count as no limit. */
export const limitsRequest = z.strictObject(projectLimits.shape)
export const projectSettingsResponse = z.object({ retention: retentionSettings, limits: projectLimits })

export type KeyLimits = z.output<typeof keyLimits>
export type EntityLimits = z.output<typeof entityLimits>
export type ProjectLimits = z.output<typeof projectLimits>
