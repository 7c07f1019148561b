// Wire shapes of what a page shows of calls beside their records: single cells, and which fields and values there are.
import { z } from 'zod'
import { bool, bounded, optional, text, withDefault } from './coerce.ts'
import { atMost, list } from './collections.ts'
import { callsFilter, expressionQuery } from './query.ts'

export const callsCellsRequest = z.object({
  project_id: text(),
  call_ids: atMost(list(text()), 500),
  paths: atMost(list(text()), 50).describe(
    'fields as `$getField` takes them, of the call itself; `-1` to `-99` are items of a list, counted from its end',
  ),
  max_chars: bounded(1, 4_000, 240),
})

const cell = z.object({
  type: z.enum(['string', 'number', 'bool', 'object', 'array', 'null', 'media']),
  text: z.string().describe('numbers as they are stored, of an object its keys, of a list its length'),
  size: z.int().describe('bytes of the stored value, of media of what they hold'),
  is_cut: z.boolean(),
  file: z
    .object({ name: z.string(), digest: z.string() })
    .optional()
    .describe('of media that are kept as a file of the project'),
})
export type Cell = z.output<typeof cell>

/** Cells by the ids of the calls that exist: a cell per path, null where there is no value. */
export const callsCellsResponse = z.object({ cells: z.record(z.string(), z.array(cell.nullable())) })

export const callsFieldsRequest = z.object({
  project_id: text(),
  start: optional(z.union([z.string(), z.number()])),
  end: optional(z.union([z.string(), z.number()])),
  prefix: withDefault(text(), ''),
  limit: bounded(1, 1_000, 200),
  span_attributes: withDefault(bool(), false).describe(
    'attributes of spans and of their resources as well, which are read apart',
  ),
})

const sampled = { sampled_calls: z.int().describe('the latest calls that were looked at') }

const fieldsFound = z.object({
  fields: z.array(
    z.object({
      path: z.string(),
      types: z.object({ string: z.int().optional(), number: z.int().optional(), bool: z.int().optional() }),
      calls: z.int(),
    }),
  ),
  ...sampled,
})

export const callsFieldsResponse = fieldsFound.extend({
  span_attributes: fieldsFound.optional().describe('of the latest spans among these calls, where they were asked for'),
})

export const callsValuesRequest = z.object({
  project_id: text(),
  fields: atMost(list(text()), 50),
  prefix: withDefault(text(), ''),
  filter: optional(callsFilter),
  query: optional(expressionQuery),
  limit: bounded(1, 100, 20),
})

export const callsValuesResponse = z.object({
  fields: z.record(
    z.string(),
    z.object({
      values: z.array(z.object({ value: z.union([z.string(), z.number()]), calls: z.int() })),
      is_complete: z.boolean().describe('these are all values of the calls that were looked at'),
    }),
  ),
  ...sampled,
})
