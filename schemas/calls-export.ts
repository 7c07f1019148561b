// Wire shapes of exports of calls: a request becomes an address, which answers the file.
import { z } from 'zod'
import { optional, text } from './coerce.ts'
import { list } from './collections.ts'
import { callsFilter, expressionQuery, sortBy } from './query.ts'

export const callsExportRequest = z.object({
  project_id: text(),
  filter: optional(callsFilter),
  query: optional(expressionQuery),
  sort_by: optional(sortBy),
  /**
   * Columns of a CSV file: dotted fields of a call, in their order. For JSON Lines they have the form of
   * `/calls/stream_query`.
   */
  columns: optional(list(text())),
  format: z.enum(['jsonl', 'csv']),
})

/** The address is good for a minute, for whoever has it. */
export const callsExportResponse = z.object({ url: z.string(), expires_at: z.iso.datetime() })
