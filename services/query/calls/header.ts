// The call header: which columns of the table `calls` a page reads, and how its rows are read.
import { join, type Sql, sql } from '../../core/store/sql.ts'
import { type Columns, type RowReader, rowReader } from '../compact-rows.ts'
import { type PayloadPlace, payloadPlace } from './payloads.ts'

/** One row of a page of call headers; times in microseconds, '' = null, endedUs 0 = running. */
export type CallHeader = PayloadPlace & {
  traceId: string
  opName: string
  displayName: string
  endedUs: number
  exception: string
  errorCount: number
  bytes: number
  parentId: string
  threadId: string
  turnId: string
  userId: string
  runId: string
  runStep: string
  runStepEnd: string
}

const columns: Columns<CallHeader> = {
  ...payloadPlace,
  traceId: sql`c.trace_id`,
  opName: sql`c.op_name`,
  displayName: sql`c.display_name`,
  endedUs: sql`toUnixTimestamp64Micro(c.ended_at)`,
  exception: sql`c.exception`,
  errorCount: sql`c.error_count`,
  bytes: sql`c.start_bytes + c.end_bytes`,
  parentId: sql`c.parent_id`,
  threadId: sql`c.thread_id`,
  turnId: sql`c.turn_id`,
  userId: sql`c.user_id`,
  runId: sql`c.run_id`,
  runStep: sql`if(c.run_step < 0, '', toString(c.run_step))`,
  runStepEnd: sql`if(c.run_step_end < 0, '', toString(c.run_step_end))`,
}

/** Neutral wire names of the columns that are read only when they are requested. */
const wireNames: Partial<Record<string, string>> = {
  parentId: 'parent_id',
  threadId: 'thread_id',
  turnId: 'turn_id',
  userId: 'user_id',
  runId: 'run_id',
  runStep: 'run_step',
  runStepEnd: 'run_step_end',
} satisfies Partial<Record<keyof CallHeader, string>>
/** Columns that tell when the output came and how large the payloads are. */
const ofPayload: ReadonlySet<string> = new Set<keyof CallHeader>(['outputUs', 'bytes'])

const reader = rowReader<CallHeader>(columns)

/**
 * Reads call headers. Every column costs a file: those that are not requested are read as '' and 0.
 * @param requested names of columns; null = all
 */
export function headerReader(requested: ReadonlySet<string> | null, needsPayload: boolean): RowReader<CallHeader> {
  const columnOf = ([name, column]: [name: string, column: Sql]): Sql => {
    if (ofPayload.has(name)) return needsPayload ? column : sql`0`
    const wireName = wireNames[name]
    return requested === null || wireName === undefined || requested.has(wireName) ? column : sql`''`
  }
  return { ...reader, select: join(Object.entries(columns).map(columnOf), ', ') }
}
