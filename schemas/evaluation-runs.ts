// Wire shapes of evaluation runs, predictions, scores and the state of evaluations.
import { z } from 'zod'
import { dict, int, jsonValue, optional, text } from './coerce.ts'
import { dictOf, list } from './collections.ts'

/** Query string of the lists. */
const pageQuery = z.object({ limit: optional(int()), offset: optional(int()) })

const texts = () => optional(list(text()).describe('Repeated, or separated by commas'))

export const evaluationRunsListQuery = pageQuery.extend({
  evaluations: texts(),
  models: texts(),
  evaluation_run_ids: texts(),
  evaluation_refs: texts(),
  model_refs: texts(),
})

/** Query string of the lists of predictions and of scores. */
export const ofRunListQuery = pageQuery.extend({ evaluation_run_id: optional(text()) })

export const evaluationRunCreateRequest = z.object({
  evaluation: text().describe('Ref of the evaluation'),
  model: text().describe('Ref of the model'),
  source_evaluation_run_id: optional(text()),
})

export const evaluationRunCreateResponse = z.object({ evaluation_run_id: z.string() })

/** The ids are usually in the query string. */
export const evaluationRunsDeleteRequest = z.object({ evaluation_run_ids: optional(list(text())) })

export const predictionsDeleteRequest = z.object({ prediction_ids: optional(list(text())) })

export const scoresDeleteRequest = z.object({ score_ids: optional(list(text())) })

export const deletedResponse = z.object({ num_deleted: z.int() })

export const evaluationRunResponse = z.object({
  evaluation_run_id: z.string(),
  evaluation: z.string(),
  model: z.string(),
  status: z.enum(['running', 'completed', 'failed']),
  started_at: z.string(),
  finished_at: z.string().nullable(),
  summary: z.looseObject({}),
  source_evaluation_run_id: z.string().nullable(),
})

const count = () => z.nullish(z.union([int(), z.boolean()]))

const usage = z.looseObject({
  prompt_tokens: count(),
  input_tokens: count(),
  completion_tokens: count(),
  output_tokens: count(),
  requests: count(),
  total_tokens: count(),
  cache_creation_input_tokens: count(),
  cache_read_input_tokens: count(),
})

const times = () => z.optional(int())

/** The parts of a call's summary that have a form. The sent text is stored. */
const summary = z.looseObject({
  usage: dictOf(usage).optional(),
  status_counts: z
    .strictObject({ success: times(), error: times(), running: times(), descendant_error: times() })
    .optional(),
})

export const evaluationRunFinishRequest = z.object({ summary: optional(summary) })

export const finishedResponse = z.object({ success: z.boolean() })

export const predictionCreateRequest = z.object({
  model: text().describe('Ref of the model, or a name'),
  inputs: dict(),
  output: jsonValue(),
  evaluation_run_id: optional(text()),
  genai_span_ref: optional(list(z.object({ trace_id: text(), span_id: text() }))),
})

export const predictionCreateResponse = z.object({ prediction_id: z.string() })

/** Has the field `<prefix>_user_id`, too. */
export const predictionResponse = z.looseObject({
  prediction_id: z.string(),
  model: z.string(),
  inputs: z.looseObject({}),
  output: z.unknown(),
  evaluation_run_id: z.string().nullable(),
})

export const scoreCreateRequest = z.object({
  prediction_id: text(),
  scorer: text().describe('Ref of the scorer'),
  value: jsonValue(),
  evaluation_run_id: optional(text()),
})

export const scoreCreateResponse = z.object({ score_id: z.string() })

/** Has the field `<prefix>_user_id`, too. */
export const scoreResponse = z.looseObject({
  score_id: z.string(),
  scorer: z.string(),
  value: z.unknown(),
  evaluation_run_id: z.string().nullable(),
})

export const evaluateModelRequest = z.object({
  project_id: text(),
  evaluation_ref: text().describe('Ref of an Evaluation whose scorers are judges'),
  model_ref: text().describe('Ref of an LLMStructuredCompletionModel'),
})

export const evaluateModelResponse = z.object({ call_id: z.string() })

export const evaluationStatusRequest = z.object({ project_id: text(), call_id: text() })

export const evaluationStatusResponse = z.object({
  status: z.discriminatedUnion('code', [
    z.object({ code: z.literal('not_found') }),
    z.object({ code: z.literal('failed'), error: z.string().nullable() }),
    z.object({ code: z.literal('complete'), output: z.looseObject({}) }),
    z.object({ code: z.literal('running'), completed_rows: z.int(), total_rows: z.int() }),
  ]),
})
