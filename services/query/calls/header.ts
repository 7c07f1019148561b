// The call header: which columns of the table `calls` a page reads, and how its rows are read.
import { join, type Sql, sql } from '../../core/store/sql.ts'

/** One row of a page of call headers, in the order of `headerSelect`; times in microseconds, '' = null, endedUs 0 = running. */
export type CallHeader = [
  id: string,
  traceId: string,
  opName: string,
  startedUs: number,
  displayName: string,
  endedUs: number,
  exception: string,
  errorCount: number,
  hasEnd: 0 | 1,
  outputUs: number,
  bytes: number,
  parentId: string,
  threadId: string,
  turnId: string,
  userId: string,
  runId: string,
  runStep: string,
  runStepEnd: string,
]

/** Indexes of the columns of a call header that are read by number. */
export const columnIndex = { id: 0, traceId: 1, startedUs: 3, hasEnd: 8, outputUs: 9, bytes: 10, parentId: 11 } as const

/** Columns of the header that are read only when they are requested, by their neutral wire name. */
const optional: readonly (readonly [name: string, sql: Sql])[] = [
  ['parent_id', sql`c.parent_id`],
  ['thread_id', sql`c.thread_id`],
  ['turn_id', sql`c.turn_id`],
  ['user_id', sql`c.user_id`],
  ['run_id', sql`c.run_id`],
  ['run_step', sql`if(c.run_step < 0, '', toString(c.run_step))`],
  ['run_step_end', sql`if(c.run_step_end < 0, '', toString(c.run_step_end))`],
]

const always = sql`c.id, c.trace_id, c.op_name, toUnixTimestamp64Micro(c.started_at), c.display_name,
  toUnixTimestamp64Micro(c.ended_at), c.exception, c.error_count, c.end_ver > 0`

/** Time and size of the payloads. */
const payloadLocation = sql`toUnixTimestamp64Micro(c.output_at), c.start_bytes + c.end_bytes`

/**
 * Select list of a call header. Every column costs a file: those that are not requested are read as '' and 0.
 * `requested` null = all.
 */
export const headerSelect = (requested: ReadonlySet<string> | null, needsPayload: boolean): Sql =>
  join(
    [
      always,
      needsPayload ? payloadLocation : sql`0, 0`,
      ...optional.map(([name, column]) => (requested === null || requested.has(name) ? column : sql`''`)),
    ],
    ', ',
  )
