// Wire shapes of the service routes and of the GraphQL answers that SDKs ask for when they start.
import { z } from 'zod'
import { dict, optional, text } from './coerce.ts'

const checkStatus = z.enum(['ok', 'degraded', 'down'])

/** `keys` and `providers`, files of the operator, and `topics` on Kafka are there only when they are not ok. */
export const checkStatuses = z.object({
  log: checkStatus,
  storage: checkStatus,
  workers: checkStatus,
  keys: checkStatus.optional(),
  providers: checkStatus.optional(),
  topics: checkStatus.optional(),
})
export const healthReasons = z.partialRecord(
  z.enum(['log', 'storage', 'workers', 'keys', 'providers', 'topics']),
  z.string(),
)

export const healthResponse = z.object({
  status: z.enum(['ok', 'degraded', 'unavailable']),
  checks: checkStatuses,
  /** Reasons why a check is not ok. */
  reasons: healthReasons.optional(),
  /** Age of the oldest accepted write that is not visible yet. */
  lag_ms: z.number(),
})

export const readyResponse = z.object({ ready: z.boolean() })

export const versionResponse = z.object({ version: z.string(), commit: z.string().optional() })

export const serverInfoResponse = z.object({
  min_required_weave_python_version: z.string(),
  trace_server_version: z.string(),
})

export const geolocateResponse = z.object({
  ip: z.string(),
  location: z
    .object({
      file_index: z.int(),
      range_start_int: z.int(),
      range_end_int: z.int(),
      range_start_ip: z.string(),
      range_end_ip: z.string(),
      country_code: z.string(),
      country_name: z.string(),
    })
    .nullable(),
  allowed: z.boolean(),
})

export const graphqlRequest = z.object({
  query: text(),
  variables: optional(dict()),
  operationName: optional(text()),
})

export const graphqlResponse = z.object({
  data: z.record(z.string(), z.unknown()).optional(),
  errors: z.array(z.object({ message: z.string(), extensions: z.object({ code: z.string() }).optional() })).optional(),
})
