// The topic calls, and the shape of a part of a call on its way into the log; every writer of calls (REST, OTLP, delete) fills it.
import { newCallsLandings } from '../tables/calls.ts'
import { choice, clock, declareTopic, integers, json, key, number, text, texts } from './declaration.ts'

export const callsTopic = declareTopic({
  name: 'calls',
  about: 'Calls: complete ones, or their starts, ends, new names and deletes apart.',
  version: 1,
  landing: 'calls_in',
  sideLandings: Object.values(newCallsLandings).flatMap((landings) => Object.values(landings)),
  isReadByProject: true,
  columns: {
    kind: choice('complete', 'start', 'end', 'name', 'delete'),
    project_id: key,
    id: key,
    clock,
    started_us: number('Int64'),
    ended_us: number('Int64'),
    payload_us: number('Int64'),
    trace_id: text,
    parent_id: text,
    thread_id: text,
    turn_id: text,
    op_name: text,
    named: number('UInt8'),
    display_name: text,
    exception: text,
    user_id: text,
    run_id: text,
    run_step: number('Int64', -1),
    run_step_end: number('Int64', -1),
    input_refs: texts,
    output_refs: texts,
    error_count: number('UInt32'),
    usage_model: texts,
    usage_requests: integers,
    usage_input: integers,
    usage_output: integers,
    usage_total: integers,
    usage_cache_read: integers,
    usage_cache_write: integers,
    start_bytes: number('UInt64'),
    end_bytes: number('UInt64'),
    odd: number('UInt8'),
    attributes: json,
    inputs: json,
    output: json,
    summary: json,
    otel_dump: json,
    mask: number('UInt32'),
    mask_hits: number('UInt16'),
  },
})

/** JSON text of a payload: a string, or a slice of the request's bytes that is copied without being decoded. */
export type JsonText = string | { bytes: Buffer; start: number; end: number }

/** Token counts of one model, as integers; 0 when not reported. */
export type UsageEntry = {
  model: string
  requests: number
  /** prompt_tokens + input_tokens */
  input: number
  /** completion_tokens + output_tokens */
  output: number
  total: number
  cacheRead: number
  cacheWrite: number
}

/** Block of fields that a start brings. Absent text is ''. */
export type StartFields = {
  startedUs: number
  traceId: string
  parentId: string
  threadId: string
  turnId: string
  opName: string
  /** null = the start says nothing about the name. */
  displayName: string | null
  userId: string
  runId: string
  /** null = not given. */
  runStep: number | null
  inputRefs: string[]
  attributes: JsonText
  inputs: JsonText
  /** '' = none. */
  otelDump: JsonText
}

/** Block of fields that an end brings. */
export type EndFields = {
  endedUs: number
  exception: string
  runStepEnd: number | null
  outputRefs: string[]
  /** summary.status_counts.error, 0 when absent. */
  errorCount: number
  usage: UsageEntry[]
  /** JSON text of the output; 'null' when absent. */
  output: JsonText
  summary: JsonText
}

/** Number of changes of the rules that masked a payload, and number of values that they hit. */
export type Masking = { version: number; hits: number }

/** Identity of a part: the call it belongs to and when it was accepted. */
type FragmentId = { projectId: string; id: string; clock: bigint }

/** `masking`: absent where no rules reach the project. */
type PayloadFacts = { odd: boolean; masking?: Masking }

/**
 * One part of a call. `odd` = a payload holds something that the engine's JSON functions cannot read (an integer outside
 * 64 bits, a number outside double range): queries then evaluate it in this process.
 */
export type CallFragment =
  | ({ kind: 'complete' } & FragmentId & PayloadFacts & StartFields & EndFields)
  | ({ kind: 'start' } & FragmentId & PayloadFacts & StartFields)
  /** payloadUs: where its payload is stored in time: the client's started_at hint, else ended_at. */
  | ({ kind: 'end'; payloadUs: number } & FragmentId & PayloadFacts & EndFields)
  | ({ kind: 'name'; displayName: string } & FragmentId)
  | ({ kind: 'delete' } & FragmentId)
