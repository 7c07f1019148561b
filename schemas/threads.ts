// Wire shapes of the thread list.
import { z } from 'zod'
import { int, optional, text } from './coerce.ts'
import { list } from './collections.ts'
import { sortBy } from './query.ts'

const timestamp = z.union([z.string(), z.number()])

export const threadsQueryRequest = z.object({
  project_id: text(),
  filter: optional(
    z.object({
      after_datetime: optional(timestamp),
      before_datetime: optional(timestamp),
      thread_ids: optional(list(text())),
    }),
  ),
  limit: optional(int()),
  offset: optional(int()),
  sort_by: optional(sortBy),
})

export type ThreadsQueryRequest = z.output<typeof threadsQueryRequest>
