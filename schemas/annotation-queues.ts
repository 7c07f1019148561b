// Wire shapes of annotation queues, their items and the progress of annotators.
import { z } from 'zod'
import { bool, int, optional, text, withDefault } from './coerce.ts'
import { list } from './collections.ts'
import { sortBy } from './query.ts'

export const annotationQueueCreateRequest = z.object({
  project_id: text(),
  name: text(),
  description: withDefault(text(), ''),
  scorer_refs: list(text()),
})

export const annotationQueueCreateResponse = z.object({ id: z.string() })

const queue = z.object({
  id: z.string(),
  project_id: z.string(),
  name: z.string(),
  description: z.string(),
  scorer_refs: z.array(z.string()),
  created_at: z.string(),
  created_by: z.string(),
  updated_at: z.string(),
  deleted_at: z.string().nullable(),
})

export type AnnotationQueue = z.output<typeof queue>

export const annotationQueueResponse = z.object({ queue })

export const annotationQueuesQueryRequest = z.object({
  project_id: text(),
  name: optional(text()).describe('Part of the name, in any letter case'),
  sort_by: optional(sortBy),
  limit: optional(int()),
  offset: optional(int()),
})

export const annotationQueuesStatsRequest = z.object({ project_id: text(), queue_ids: list(text()) })

export const annotationQueuesStatsResponse = z.object({
  stats: z.array(z.object({ queue_id: z.string(), total_items: z.int(), completed_items: z.int() })),
})

/** Absent and null leave a value as it is. */
export const annotationQueueUpdateRequest = z.object({
  project_id: text(),
  name: optional(text()),
  description: optional(text()),
  scorer_refs: optional(list(text())),
})

export const annotationQueueItemsAddRequest = z.object({
  project_id: text(),
  call_ids: list(text()),
  display_fields: list(text()).describe('Paths into the call that annotators see, for the items of this request'),
})

export const annotationQueueItemsAddResponse = z.object({ added_count: z.int(), duplicates: z.int() })

const annotationState = z.enum(['unstarted', 'in_progress', 'completed', 'skipped'])

export type AnnotationState = z.output<typeof annotationState>

export const annotationQueueItemsQueryRequest = z.object({
  project_id: text(),
  filter: optional(
    z.object({
      id: optional(text()),
      call_id: optional(text()),
      call_op_name: optional(text()),
      call_trace_id: optional(text()),
      added_by: optional(text()),
      annotation_states: optional(list(annotationState)),
    }),
  ),
  sort_by: optional(sortBy),
  /** Only null means all: clients that know no limit send it. */
  limit: z.nullable(int()).default(50),
  offset: optional(int()),
  include_position: withDefault(bool(), false),
})

export type AnnotationQueueItemsQuery = z.output<typeof annotationQueueItemsQueryRequest>

const item = z.object({
  id: z.string(),
  project_id: z.string(),
  queue_id: z.string(),
  call_id: z.string(),
  call_started_at: z.string(),
  call_ended_at: z.string().nullable(),
  call_op_name: z.string(),
  call_trace_id: z.string(),
  display_fields: z.array(z.string()),
  annotation_state: annotationState,
  created_at: z.string(),
  updated_at: z.string(),
  deleted_at: z.string().nullable(),
  created_by: z.string(),
  added_by: z.string().nullable(),
  annotator_user_id: z.string().describe('Whose progress the state is; empty when nobody has worked on the item'),
  position_in_queue: z.int().nullable(),
})

export type AnnotationQueueItem = z.output<typeof item>

export const annotationQueueItemsQueryResponse = z.object({ items: z.array(item) })

/** The state is any text here: what cannot be asked for is answered 400. */
export const annotationQueueProgressRequest = z.object({ project_id: text(), annotation_state: text() })

export const annotationQueueProgressResponse = z.object({ item })
