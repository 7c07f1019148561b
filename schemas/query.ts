// Wire shapes of call queries: the filter object, the sort terms and the expression envelope.
import { z } from 'zod'
import { list } from './collections.ts'

const texts = list(z.string()).nullish()

/**
 * All given fields are ANDed, the values of one list are ORed. An unknown field is refused: ignored, it would select
 * calls that nobody asked for. Both spellings of users and runs are taken, whatever the prefix of the wire is.
 */
export const callsFilter = z
  .strictObject({
    op_names: texts,
    input_refs: texts,
    output_refs: texts,
    parent_ids: texts,
    trace_ids: texts,
    call_ids: texts,
    thread_ids: texts,
    turn_ids: texts,
    trace_roots_only: z.boolean().nullish(),
    platform_user_ids: texts,
    platform_run_ids: texts,
    wb_user_ids: texts,
    wb_run_ids: texts,
  })
  .describe('All given fields are ANDed, the values of one list are ORed; a value ending in `:*` is a prefix')

export type CallsFilter = z.output<typeof callsFilter>

const sortTerm = z.object({ field: z.string(), direction: z.enum(['asc', 'desc']) })

export type SortTerm = z.output<typeof sortTerm>

export const sortBy = list(sortTerm)

/**
 * `{"$expr": operation}`. The operation is checked by the expression parser, which bounds depth and size and names the
 * fault; here it is any object.
 */
export const expressionQuery = z
  .strictObject({ $expr: z.record(z.string(), z.unknown()) })
  .describe('An operation: $and, $or, $not, $eq, $gt, $gte, $lt, $lte, $in or $contains')
