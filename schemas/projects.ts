// Wire contract of the routes about a project as a whole.
import { z } from 'zod'
import { bool, intFrom, withDefault } from './coerce.ts'

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
