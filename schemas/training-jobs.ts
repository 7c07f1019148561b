// Wire contract of training jobs.
import { z } from 'zod'
import { dict, float, int, optional, text } from './coerce.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Address of an artifact's data: `<scheme>-artifact:///<entity>/<project>/<name>:<version>`. */
export const artifactAddress = /^[a-z][a-z0-9+.-]*-artifact:\/\/\/([^/\s:]+\/[^/\s:]+)\/[^/\s:]+:[^/\s:]+$/i

function isDataAddress(address: string): boolean {
  if (artifactAddress.test(address)) return true
  if (!/^https?:\/\//i.test(address)) return false
  return URL.canParse(address)
}

const positive = <Schema extends z.ZodType<number>>(schema: Schema) =>
  schema.refine((value) => value > 0, {
    error: 'Input should be greater than 0',
    params: { type: 'greater_than' },
  })

/** Keys that are not named here are kept. */
const config = z.looseObject({
  batch_size: optional(positive(int())),
  learning_rate: optional(positive(float())),
})

export const sftTrainingJobRequest = z.object({
  model_id: text()
    .refine((id) => uuid.test(id), { error: 'Input should be a valid UUID', params: { type: 'uuid_parsing' } })
    .meta({ format: 'uuid', description: 'Model to train' }),
  training_data_url: text()
    .refine(isDataAddress, {
      error: 'Input should be <scheme>-artifact:///<entity>/<project>/<name>:<version> or an http(s) address',
      params: { type: 'url_parsing' },
    })
    .describe('Artifact that holds the examples, or an http(s) address'),
  config: optional(config),
  experimental_config: optional(dict()),
})

export const sftTrainingJobResponse = z.object({ id: z.string() })
