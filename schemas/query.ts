// Wire shapes of call queries: the filter object, the sort terms and the expression envelope.
import { z } from 'zod'

const list = z.array(z.string()).nullish()

/** All given fields are ANDed, the values of one list are ORed. */
export const callsFilter = z
  .object({
    op_names: list,
    input_refs: list,
    output_refs: list,
    parent_ids: list,
    trace_ids: list,
    call_ids: list,
    thread_ids: list,
    turn_ids: list,
    trace_roots_only: z.boolean().nullish(),
    platform_user_ids: list,
    platform_run_ids: list,
    wb_user_ids: list,
    wb_run_ids: list,
  })
  .describe('All given fields are ANDed, the values of one list are ORed; a value ending in `:*` is a prefix')

export type CallsFilter = z.output<typeof callsFilter>

const sortTerm = z.object({ field: z.string(), direction: z.enum(['asc', 'desc']) })

export type SortTerm = z.output<typeof sortTerm>

export const sortBy = z.array(sortTerm)

/**
 * `{"$expr": operation}`. The operation is checked by the expression parser, which bounds depth and size and names the
 * fault; here it is any object.
 */
export const expressionQuery = z
  .strictObject({ $expr: z.record(z.string(), z.unknown()) })
  .describe('An operation: $and, $or, $not, $eq, $gt, $gte, $lt, $lte, $in or $contains')
