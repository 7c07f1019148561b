// Wire contract of the object routes of the evaluation interface: ops, datasets, scorers, evaluations, models.
import { z } from 'zod'
import { dict, intFrom } from './coerce.ts'
import { list } from './collections.ts'

const optional = z.string().nullish()

export const opCreateRequest = z.object({ name: optional, source_code: optional })

export const datasetCreateRequest = z.object({
  name: optional,
  description: optional,
  /** Read from the body's text, because numbers must survive as they were sent. */
  rows: list(dict()),
})

export const scorerCreateRequest = z.object({ name: z.string(), description: optional, op_source_code: z.string() })

export const evaluationCreateRequest = z.object({
  name: z.string(),
  description: optional,
  /** Ref of an object. */
  dataset: z.string(),
  /** Refs of objects or ops. */
  scorers: list(z.string()).nullish(),
  trials: intFrom(1)
    .refine((value) => value <= Number.MAX_SAFE_INTEGER, {
      error: `Input should be less than or equal to ${Number.MAX_SAFE_INTEGER}`,
      params: { type: 'less_than_equal' },
    })
    .nullish(),
  evaluation_name: optional,
  /** Set on top of the stored object. Read from the body's text, like the attributes of models. */
  eval_attributes: dict().nullish(),
})

export const modelCreateRequest = z.object({
  name: z.string(),
  description: optional,
  source_code: z.string(),
  attributes: dict().nullish(),
})

export type OpCreate = z.output<typeof opCreateRequest>
export type DatasetCreate = z.output<typeof datasetCreateRequest>
export type ScorerCreate = z.output<typeof scorerCreateRequest>
export type EvaluationCreate = z.output<typeof evaluationCreateRequest>
export type ModelCreate = z.output<typeof modelCreateRequest>

const version = z.object({ digest: z.string(), object_id: z.string(), version_index: z.int() })

export const opCreateResponse = version
export const datasetCreateResponse = version
export const scorerCreateResponse = version.extend({ scorer: z.string() })
export const evaluationCreateResponse = version.extend({ evaluation_ref: z.string() })
export const modelCreateResponse = version.extend({ model_ref: z.string() })

const shown = version.extend({ created_at: z.string() })
const named = shown.extend({ name: z.string(), description: z.string().nullable() })

export const opRead = shown.extend({ code: z.string() })
export const datasetRead = named.extend({ rows: z.string() })
export const scorerRead = named.extend({ score_op: z.string() })
export const evaluationRead = named.extend({
  dataset: z.string(),
  scorers: z.array(z.string()),
  trials: z.int(),
  evaluation_name: z.string().nullable(),
  /** Null when what was published elsewhere names no such op. */
  evaluate_op: z.string().nullable(),
  predict_and_score_op: z.string().nullable(),
  summarize_op: z.string().nullable(),
})
export const modelRead = named.extend({
  source_code: z.string(),
  attributes: z.record(z.string(), z.unknown()).nullable(),
})

export const deleteResponse = z.object({ num_deleted: z.int() })
