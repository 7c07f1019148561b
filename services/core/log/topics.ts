// The event families: which topic goes to which landing table, and the exact columns of its rows.

export type TopicName =
  | 'calls'
  | 'objects'
  | 'files'
  | 'tables'
  | 'feedback'
  | 'costs'
  | 'annotation_queues'
  | 'object_labels'
  | 'training_jobs'
  | 'evaluation_jobs'
  | 'logs'

export type Topic = {
  name: TopicName
  /** Version of the row structure, written into every record header. An unknown version stops the worker. */
  version: number
  /** Landing table of engine Null; views fill the tables from it. */
  landing: string
  /** Columns of the landing table in the order in which the edge writes them, without `_record`. */
  columns: readonly (readonly [name: string, type: string])[]
}

const callKind = "Enum8('complete' = 1, 'start' = 2, 'end' = 3, 'name' = 4, 'delete' = 5)"

export const topics: Record<TopicName, Topic> = {
  calls: {
    name: 'calls',
    version: 1,
    landing: 'calls_in',
    columns: [
      ['kind', callKind],
      ['project_id', 'String'],
      ['id', 'String'],
      ['clock', 'UInt64'],
      ['started_us', 'Int64'],
      ['ended_us', 'Int64'],
      ['payload_us', 'Int64'],
      ['trace_id', 'String'],
      ['parent_id', 'String'],
      ['thread_id', 'String'],
      ['turn_id', 'String'],
      ['op_name', 'String'],
      ['named', 'UInt8'],
      ['display_name', 'String'],
      ['exception', 'String'],
      ['user_id', 'String'],
      ['run_id', 'String'],
      ['run_step', 'Int64 DEFAULT -1'],
      ['run_step_end', 'Int64 DEFAULT -1'],
      ['input_refs', 'Array(String)'],
      ['output_refs', 'Array(String)'],
      ['error_count', 'UInt32'],
      ['usage_model', 'Array(String)'],
      ['usage_requests', 'Array(Int64)'],
      ['usage_input', 'Array(Int64)'],
      ['usage_output', 'Array(Int64)'],
      ['usage_total', 'Array(Int64)'],
      ['usage_cache_read', 'Array(Int64)'],
      ['usage_cache_write', 'Array(Int64)'],
      ['start_bytes', 'UInt64'],
      ['end_bytes', 'UInt64'],
      ['odd', 'UInt8'],
      ['attributes', 'String'],
      ['inputs', 'String'],
      ['output', 'String'],
      ['summary', 'String'],
      ['otel_dump', 'String'],
    ],
  },
  objects: {
    name: 'objects',
    version: 1,
    landing: 'objects_in',
    columns: [
      ['project_id', 'String'],
      ['object_id', 'String'],
      ['kind', "Enum8('object' = 1, 'op' = 2)"],
      ['digest', 'String'],
      ['clock', 'UInt64'],
      ['event', "Enum8('created' = 1, 'deleted' = 2)"],
      ['user_id', 'String'],
      ['base_object_class', 'String'],
      ['leaf_object_class', 'String'],
      ['refs', 'Array(String)'],
      ['size_bytes', 'UInt64'],
      ['val', 'String'],
    ],
  },
  object_labels: {
    name: 'object_labels',
    version: 1,
    landing: 'object_labels_in',
    columns: [
      ['project_id', 'String'],
      ['object_id', 'String'],
      ['label_kind', "Enum8('tag' = 1, 'alias' = 2)"],
      ['label', 'String'],
      ['digest', 'String'],
      ['clock', 'UInt64'],
      ['is_set', 'UInt8'],
    ],
  },
  files: {
    name: 'files',
    version: 1,
    landing: 'files_in',
    columns: [
      ['project_id', 'String'],
      ['digest', 'String'],
      ['clock', 'UInt64'],
      ['chunk_index', 'UInt32'],
      ['n_chunks', 'UInt32'],
      ['name', 'String'],
      ['size_bytes', 'UInt64'],
      ['blob', 'String'],
      ['content', 'String'],
    ],
  },
  tables: {
    name: 'tables',
    version: 1,
    landing: 'tables_in',
    columns: [
      ['project_id', 'String'],
      ['kind', "Enum8('row' = 1, 'list' = 2)"],
      ['digest', 'String'],
      ['clock', 'UInt64'],
      ['size_bytes', 'UInt64'],
      ['chunk_index', 'UInt32'],
      ['row_count', 'UInt64'],
      ['row_digests', 'Array(String)'],
      ['val', 'String'],
    ],
  },
  feedback: {
    name: 'feedback',
    version: 1,
    landing: 'feedback_in',
    columns: [
      ['project_id', 'String'],
      ['id', 'String'],
      ['clock', 'UInt64'],
      ['event', "Enum8('created' = 1, 'purged' = 2)"],
      ['weave_ref', 'String'],
      ['user_id', 'String'],
      ['creator', 'Nullable(String)'],
      ['feedback_type', 'String'],
      ['annotation_ref', 'Nullable(String)'],
      ['runnable_ref', 'Nullable(String)'],
      ['call_ref', 'Nullable(String)'],
      ['trigger_ref', 'Nullable(String)'],
      ['queue_id', 'Nullable(String)'],
      ['scorer_tags', 'Array(String)'],
      ['scorer_tag_reasons', 'Map(String, String)'],
      ['scorer_rating_reasons', 'Map(String, String)'],
      ['scorer_tag_confidences', 'Map(String, Float64)'],
      ['scorer_ratings', 'Map(String, Float64)'],
      ['scorer_rating_confidences', 'Map(String, Float64)'],
      ['span_agent_name', 'String'],
      ['span_agent_version', 'String'],
      ['span_conversation_id', 'String'],
      ['span_trace_id', 'String'],
      ['scorer_trace_id', 'String'],
      ['span_status_code', 'String'],
      ['payload', 'String'],
      ['readable_payload', 'String'],
    ],
  },
  costs: {
    name: 'costs',
    version: 1,
    landing: 'costs_in',
    columns: [
      ['project_id', 'String'],
      ['id', 'String'],
      ['clock', 'UInt64'],
      ['event', "Enum8('created' = 1, 'purged' = 2)"],
      ['user_id', 'String'],
      ['llm_id', 'String'],
      ['provider_id', 'String'],
      ['effective_us', 'Int64'],
      ['prompt_token_cost', 'Float64'],
      ['completion_token_cost', 'Float64'],
      ['cache_read_input_token_cost', 'Float64'],
      ['cache_creation_input_token_cost', 'Float64'],
      ['prompt_token_cost_unit', 'String'],
      ['completion_token_cost_unit', 'String'],
    ],
  },
  annotation_queues: {
    name: 'annotation_queues',
    version: 1,
    landing: 'annotation_queues_in',
    columns: [
      ['project_id', 'String'],
      ['queue_id', 'String'],
      ['clock', 'UInt64'],
      ['event', "Enum8('created' = 1, 'updated' = 2, 'deleted' = 3, 'item_added' = 4, 'progressed' = 5)"],
      ['user_id', 'String'],
      ['parts', "Array(Enum8('created' = 1, 'name' = 2, 'description' = 3, 'scorer_refs' = 4, 'deleted' = 5))"],
      ['name', 'String'],
      ['description', 'String'],
      ['scorer_refs', 'Array(String)'],
      ['item_id', 'String'],
      ['call_id', 'String'],
      ['call_started_us', 'Int64'],
      ['call_ended_us', 'Int64'],
      ['call_op_name', 'String'],
      ['call_trace_id', 'String'],
      ['display_fields', 'Array(String)'],
      ['state', "Enum8('in_progress' = 1, 'completed' = 2, 'skipped' = 3)"],
    ],
  },
  training_jobs: {
    name: 'training_jobs',
    version: 1,
    landing: 'training_jobs_in',
    columns: [
      ['project_id', 'String'],
      ['id', 'String'],
      ['clock', 'UInt64'],
      ['event', "Enum8('training.job.created' = 1)"],
      ['user_id', 'String'],
      ['request_key', 'String'],
      ['kind', "Enum8('sft' = 1)"],
      ['model_id', 'String'],
      ['training_data_url', 'String'],
      ['config', 'String'],
      ['experimental_config', 'String'],
    ],
  },
  evaluation_jobs: {
    name: 'evaluation_jobs',
    version: 1,
    landing: 'evaluation_jobs_in',
    columns: [
      ['project_id', 'String'],
      ['call_id', 'String'],
      ['clock', 'UInt64'],
      ['event', "Enum8('queued' = 1, 'ended' = 2)"],
      ['job_type', "Enum8('evaluate_model' = 1)"],
      ['user_id', 'String'],
      ['evaluation_ref', 'String'],
      ['model_ref', 'String'],
    ],
  },
  logs: {
    name: 'logs',
    version: 1,
    landing: 'logs_in',
    columns: [
      ['project_id', 'String'],
      ['id', 'String'],
      ['clock', 'UInt64'],
      ['at_ns', 'Int64'],
      ['observed_ns', 'Int64'],
      ['trace_id', 'String'],
      ['span_id', 'String'],
      ['severity', 'UInt8'],
      ['severity_text', 'String'],
      ['event_name', 'String'],
      ['body', 'String'],
      ['body_json', 'UInt8'],
      ['attributes', 'Map(String, String)'],
      ['json_keys', 'Array(String)'],
      ['resource', 'Map(String, String)'],
      ['scope', 'Map(String, String)'],
    ],
  },
}

/** Structure argument of `file()` and of the server's input: the record header first, then the columns. */
export const structureOf = (topic: Topic): string =>
  ['_record String', ...topic.columns.map(([name, type]) => `${name} ${type}`)].join(', ')
