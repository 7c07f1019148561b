// Wire contract of the table routes.
import { z } from 'zod'
import { dict, int } from './coerce.ts'
import { list } from './collections.ts'
import { sortBy } from './query.ts'

const row = dict()

export const tableCreateRequest = z.object({
  table: z.object({
    project_id: z.string(),
    /** Read from the body's text, because numbers must survive as they were sent. */
    rows: list(row),
    expected_digest: z.string().nullish(),
  }),
})

export const tableCreateResponse = z.object({ digest: z.string(), row_digests: z.array(z.string()) })

export const tableFromDigestsRequest = z.object({
  project_id: z.string(),
  row_digests: list(z.string()),
  expected_digest: z.string().nullish(),
})

export const tableFromDigestsResponse = z.object({ digest: z.string() })

const index = int()

export const tableUpdateRequest = z.object({
  project_id: z.string(),
  base_digest: z.string(),
  updates: list(
    z.union([
      z.strictObject({ append: z.object({ row }) }),
      z.strictObject({ pop: z.object({ index }) }),
      z.strictObject({ insert: z.object({ index, row }) }),
    ]),
  ),
})

export type TableUpdate = z.output<typeof tableUpdateRequest>['updates'][number]

export const tableUpdateResponse = z.object({ digest: z.string(), updated_row_digests: z.array(z.string()) })

export const tableQueryRequest = z.object({
  project_id: z.string(),
  digest: z.string(),
  filter: z.object({ row_digests: list(z.string()).nullish() }).nullish(),
  limit: int().nullish(),
  offset: int().nullish(),
  sort_by: sortBy.nullish(),
})

export const tableQueryResponse = z.object({
  rows: z.array(z.object({ digest: z.string(), val: row, original_index: z.int() })),
})

export const tableStatsRequest = z.object({ project_id: z.string(), digest: z.string() })

export const tableStatsResponse = z.object({ count: z.int() })

export const tableStatsBatchRequest = z.object({
  project_id: z.string(),
  digests: list(z.string()).nullish(),
  include_storage_size: z.boolean().nullish(),
})

export const tableStatsBatchResponse = z.object({
  tables: z.array(z.object({ count: z.int(), digest: z.string(), storage_size_bytes: z.int().nullable() })),
})
