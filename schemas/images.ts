// Wire contract of image creation.
import { z } from 'zod'
import { bool, int, optional, text, withDefault } from './coerce.ts'

export const imageCreateRequest = z.object({
  project_id: text(),
  inputs: z.object({ model: text(), prompt: text(), n: optional(int()) }),
  track_llm_call: withDefault(bool(), true),
})

export const imageCreateResponse = z.object({
  response: z
    .looseObject({ error: z.string().optional() })
    .describe('What the provider answered, its images as stored content; or what went wrong'),
  weave_call_id: z.string().nullable(),
})
