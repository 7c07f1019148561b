// Wire shapes of the routes that write calls. The edge checks these bodies by hand; the schemas document them.
import { z } from 'zod'

const payload = z.looseObject({})
const nullableText = z.string().nullish()
const count = z.int().min(0).nullish()
const projectId = z.string().describe('<entity>/<project>')
const callId = z.string().describe('Lower-case UUID, or 16 lower-case characters')

/** ISO 8601 (UTC when without offset), or unix time in seconds up to 2e10, else in milliseconds. */
const timestampSchema = z.union([z.string(), z.number()]).meta({ format: 'date-time' })

const usageSchema = z.looseObject({
  prompt_tokens: z.int().nullish(),
  input_tokens: z.int().nullish(),
  completion_tokens: z.int().nullish(),
  output_tokens: z.int().nullish(),
  requests: z.int().nullish(),
  total_tokens: z.int().nullish(),
  cache_creation_input_tokens: z.int().nullish(),
  cache_read_input_tokens: z.int().nullish(),
})

const summarySchema = z.looseObject({
  usage: z.record(z.string(), usageSchema).optional(),
  status_counts: z.partialRecord(z.enum(['success', 'error', 'running', 'descendant_error']), z.int()).optional(),
})

const startFields = (prefix: string) => ({
  project_id: projectId,
  id: callId.nullish(),
  op_name: z.string().describe('Ref to an op, or a plain name of at most 128 characters'),
  display_name: z.string().max(1024).nullish(),
  trace_id: nullableText.describe('Lower-case UUID, or 32 lower-case characters'),
  parent_id: nullableText,
  thread_id: nullableText,
  turn_id: nullableText,
  started_at: timestampSchema,
  attributes: payload,
  inputs: payload,
  otel_dump: payload.nullish(),
  [`${prefix}_user_id`]: nullableText.describe('Ignored: the authenticated user is stored'),
  [`${prefix}_run_id`]: nullableText.describe('<entity>/<project>/<run>'),
  [`${prefix}_run_step`]: count,
})

const endFields = (prefix: string) => ({
  project_id: projectId,
  id: callId,
  ended_at: timestampSchema,
  summary: summarySchema,
  output: z.unknown(),
  exception: nullableText,
  [`${prefix}_run_step_end`]: count,
})

/** @param prefix first word of the prefixed fields */
export const startSchema = (prefix: string) => z.looseObject({ start: z.looseObject(startFields(prefix)) })

export const endSchema = (prefix: string) =>
  z.looseObject({ end: z.looseObject({ ...endFields(prefix), started_at: timestampSchema.nullish() }) })

export const batchSchema = (prefix: string) =>
  z.looseObject({
    batch: z.array(
      z.looseObject({
        mode: z.enum(['start', 'end']).nullish(),
        req: z.union([startSchema(prefix), endSchema(prefix)]),
      }),
    ),
  })

export const completeBatchSchema = (prefix: string) =>
  z.looseObject({
    batch: z.array(z.looseObject({ ...startFields(prefix), ...endFields(prefix), id: callId, trace_id: z.string() })),
  })

export const updateSchema = z.looseObject({
  project_id: projectId,
  call_id: z.string(),
  display_name: z.string().max(1024).nullish().describe('Required; an empty text clears the name'),
})

export const emptySchema = z.object({})

export const callIdsSchema = z.object({ id: z.string(), trace_id: z.string() })

export const upsertResponseSchema = z.object({
  res: z.array(z.union([callIdsSchema, z.object({ error: z.object({ reason: z.string() }) }), emptySchema])),
})
