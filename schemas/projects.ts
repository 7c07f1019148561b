// Wire contract of the routes about a project as a whole.
import { z } from 'zod'
import { bool, intFrom, optional, text, withDefault } from './coerce.ts'
import { list } from './collections.ts'

const included = withDefault(bool(), true)

export const projectStatsRequest = z.object({
  project_id: z.string(),
  include_trace_storage_size: included,
  include_object_storage_size: included,
  include_table_storage_size: included,
  include_file_storage_size: included,
})

export const projectStatsResponse = z.object({
  trace_storage_size_bytes: z.int(),
  objects_storage_size_bytes: z.int(),
  tables_storage_size_bytes: z.int(),
  files_storage_size_bytes: z.int(),
})

export const ttlSettingsReadRequest = z.object({ project_id: z.string() })

export const ttlSettingsUpdateRequest = z.object({ project_id: z.string(), retention_days: intFrom(1).nullish() })

export const ttlSettingsResponse = z.object({ retention_days: z.int().nullable() })

export const projectsQueryRequest = z.object({
  search: optional(text()),
  sort_by: optional(
    list(
      z.object({
        field: z.enum(['project_id', 'calls', 'calls_24h', 'errors_24h', 'first_call_at', 'last_call_at']),
        direction: z.enum(['asc', 'desc']),
      }),
    ),
  ),
  limit: optional(intFrom(1)),
  offset: optional(intFrom(0)),
})

const projectEntry = z.object({
  project_id: z.string(),
  calls: z.int(),
  calls_24h: z.int(),
  errors_24h: z.int(),
  /** Times of the counters: to the hour and to the minute. */
  first_call_at: z.iso.datetime().nullable(),
  last_call_at: z.iso.datetime().nullable(),
})

export const projectsQueryResponse = z.object({ projects: z.array(projectEntry), total: z.int() })
export type ProjectsQueryResponse = z.output<typeof projectsQueryResponse>

/** The caller repeats the whole name of the project. */
export const projectDeleteRequest = z.object({ confirm: z.string() })
export const projectDeleteResponse = z.object({
  project_id: z.string(),
  removed_at: z.iso.datetime(),
  /** Id of the erasure of its stored data; its receipt stays readable. */
  erasure_id: z.string(),
  deadline: z.iso.datetime(),
})
export type ProjectDeleteResponse = z.output<typeof projectDeleteResponse>
