// Calls: their headers, fragments and payloads, narrow copies by which they are found, and what a merge works with.
import { aged, micros, type TableDeclarations, word } from './declaration.ts'

/**
 * Landing tables of calls that nothing is stored of: all finished, or some of them only begun; where `billed_usage` may hold
 * something of one, or of none.
 */
export const newCallsLandings = {
  finished: { billed: 'finished_calls_in', unbilled: 'unbilled_calls_in' },
  begun: { billed: 'begun_calls_in', unbilled: 'unbilled_begun_calls_in' },
}

const { finished, begun } = newCallsLandings
const newCalls = [...Object.values(finished), ...Object.values(begun)]
const viewsTo = (to: string, ...landings: readonly string[]): string[] => landings.map((from) => `${from}_to_${to}`)

const kind = "kind Enum8('complete' = 1, 'start' = 2, 'end' = 3, 'name' = 4, 'delete' = 5)"
/** Columns of the newest start of a call. @param text type of names that come often */
export const startColumns = (text = word): string => `trace_id String, parent_id String, thread_id String,
  turn_id String, op_name ${text}, user_id ${text}, run_id ${text}, run_step Int64, input_refs Array(String),
  start_bytes UInt64`
/** Columns of the newest end of a call. */
export const endColumns = (text = word): string => `ended_at ${micros}, exception String, run_step_end Int64,
  output_refs Array(String), output_at ${micros}, error_count UInt32, usage_model Array(${text}),
  usage_requests Array(Int64), usage_input Array(Int64), usage_output Array(Int64), usage_total Array(Int64),
  usage_cache_read Array(Int64), usage_cache_write Array(Int64), end_bytes UInt64`
const fragments = (text = word): string => `${startColumns(text)}, ${endColumns(text)}`
const header = `project_id String, started_at ${micros}, id String, ${fragments()}, display_name String,
  start_ver UInt64, end_ver UInt64, name_ver UInt64, delete_ver UInt64, moved UInt8, version UInt64`
const scratch = { engine: 'Memory', kind: 'scratch' } as const

export const callsTables = {
  call_keys: {
    about: 'Ids, traces and parents of calls, with the times at which their calls start.',
    columns: `project_id String, kind ${word}, key String, started_at ${micros}`,
    engine: 'ReplacingMergeTree PARTITION BY toYYYYMM(started_at) ORDER BY (project_id, kind, key, started_at)',
    kind: 'copy',
    views: ['calls_to_keys'],
    exported: false,
    ...aged('started_at', 'calls'),
    erased: { call: 'key', where: "kind = 'id'" },
  },
  calls_deleted: {
    about: 'Deleted calls: what hides their feedback, queue items and log records.',
    columns: `project_id String, id String, started_at ${micros}, delete_ver UInt64, trace_id String`,
    engine: 'ReplacingMergeTree(delete_ver) PARTITION BY toYYYYMM(started_at) ORDER BY (project_id, id, started_at)',
    kind: 'copy',
    views: ['calls_to_deleted'],
    exported: false,
  },
  turns: {
    about: 'Calls of threads, by thread and time.',
    columns: `project_id String, thread_id String, started_at ${micros}, id String, ended_at ${micros}, hidden UInt8,
      version UInt64`,
    engine:
      'ReplacingMergeTree(version) PARTITION BY toYYYYMM(started_at) ORDER BY (project_id, thread_id, started_at, id)',
    kind: 'copy',
    views: ['calls_to_turns'],
    exported: false,
    ...aged('started_at', 'calls'),
    erased: { call: 'id' },
  },
  call_patches: {
    about: 'Parts of calls that came alone: the newest start, end, name and delete of each.',
    columns: `project_id String, id String, ${kind}, clock UInt64, started_at ${micros}, ${fragments()},
      display_name String, identity_scope String DEFAULT`,
    engine:
      'ReplacingMergeTree(clock) PRIMARY KEY (project_id, id, kind) ORDER BY (project_id, id, kind, identity_scope)',
    kind: 'call',
    views: [...viewsTo('patches', 'calls_in', ...Object.values(begun)), 'calls_in_to_names'],
    exported: 'joined',
    purged: { by: 'started_at', of: 'calls' },
    // Deletes stay: a part that comes again belongs to a deleted call.
    erased: { call: 'id', where: "kind != 'delete'" },
  },
  calls: {
    about: 'Call headers: the merge of all fragments of a call, without its payload.',
    columns: header,
    engine: 'ReplacingMergeTree(version) PARTITION BY toYYYYMM(started_at) ORDER BY (project_id, started_at, id)',
    kind: 'call',
    views: viewsTo('calls', 'calls_in', ...newCalls),
    exported: 'joined',
    ...aged('started_at', 'calls'),
    erased: { call: 'id' },
  },
  payloads: {
    about: 'Attributes, inputs, outputs and summaries, of whole calls or of a start or an end.',
    columns: `project_id String, at ${micros}, id String, part Enum8('both' = 0, 'start' = 1, 'end' = 2), clock UInt64,
      odd UInt8, attributes String, inputs String, output String, summary String, otel_dump String,
      billed_usage Array(Tuple(model String, inside Int64, apart Int64, cache_read Int64, cache_write Int64,
        cache_write_1h Int64, more_output Int64)) DEFAULT,
      counts_cached UInt8 DEFAULT, mask UInt32, mask_hits UInt16`,
    engine: 'ReplacingMergeTree(clock) PARTITION BY toYYYYMM(at) ORDER BY (project_id, at, id, part)',
    kind: 'payload',
    views: viewsTo('payloads', 'calls_in', ...newCalls),
    exported: false,
    ...aged('at', 'payloads'),
    erased: { call: 'id' },
  },
  calls_touched: {
    about: 'In memory: calls that a batch changes.',
    columns: 'project_id String, id String',
    ...scratch,
  },
  calls_batch: {
    about: 'In memory: fragments of a batch.',
    columns: `${kind}, project_id String, id String, clock UInt64, started_at ${micros}, ${fragments('String')}`,
    ...scratch,
    views: ['calls_in_to_batch'],
    exported: false,
  },
  calls_folded: { about: 'In memory: rows of `calls` that the merge of a batch made.', columns: header, ...scratch },
} as const satisfies TableDeclarations
