// Wire shapes of holds: what of a project is not removed.
import { z } from 'zod'
import { list } from './collections.ts'

const time = z.iso.datetime({ offset: true })
const id = z.string().min(1).max(500)
const ids = list(id).min(1).max(1_000).optional()

export const holdRequest = z
  .strictObject({
    call_ids: ids,
    trace_ids: ids,
    thread_ids: ids,
    /** Everything of the project. */
    all: z.literal(true).optional(),
    reason: z.string().min(1).max(1_000),
    /** It ends by itself then; absent: when it is released. */
    until: time.optional(),
  })
  .refine(
    ({ call_ids, trace_ids, thread_ids, all }) =>
      [call_ids, trace_ids, thread_ids, all].filter((one) => one !== undefined).length === 1,
    'exactly one of call_ids, trace_ids, thread_ids and all',
  )

export const holdResponse = z.object({
  id: z.string(),
  scope: z.string(),
  call_ids: z.array(id).optional(),
  trace_ids: z.array(id).optional(),
  thread_ids: z.array(id).optional(),
  all: z.boolean().optional(),
  reason: z.string(),
  until: time.optional(),
  created_at: time,
  created_by: z.string(),
})

export const releasedResponse = z.object({ released_at: time })
