-- Written by `npm run baseline`. Stands for the migrations up to 0048_calls_by_op.sql

CREATE TABLE IF NOT EXISTS callhouse.annotation_queue_items
(
    project_id String,
    queue_id String,
    call_id String,
    version UInt64,
    id String,
    clock UInt64,
    added_by LowCardinality(String),
    call_started_at DateTime64(6, 'UTC'),
    call_ended_at DateTime64(6, 'UTC'),
    call_op_name LowCardinality(String),
    call_trace_id String,
    display_fields Array(String) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (project_id, queue_id, call_id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.annotation_queue_progress
(
    project_id String,
    queue_id String,
    call_id String,
    annotator String,
    version UInt64,
    clock UInt64,
    state Enum8('in_progress' = 1, 'completed' = 2, 'skipped' = 3)
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (project_id, queue_id, call_id, annotator)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.annotation_queues
(
    project_id String,
    queue_id String,
    part Enum8('created' = 1, 'name' = 2, 'description' = 3, 'scorer_refs' = 4, 'deleted' = 5),
    clock UInt64,
    user_id String,
    text String CODEC(ZSTD(1)),
    refs Array(String) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(clock)
ORDER BY (project_id, queue_id, part)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.annotation_queues_in
(
    _record String,
    project_id String,
    queue_id String,
    clock UInt64,
    event Enum8('created' = 1, 'updated' = 2, 'deleted' = 3, 'item_added' = 4, 'progressed' = 5),
    user_id String,
    parts Array(Enum8('created' = 1, 'name' = 2, 'description' = 3, 'scorer_refs' = 4, 'deleted' = 5)),
    name String,
    description String,
    scorer_refs Array(String),
    item_id String,
    call_id String,
    call_started_us Int64,
    call_ended_us Int64,
    call_op_name String,
    call_trace_id String,
    display_fields Array(String),
    state Enum8('in_progress' = 1, 'completed' = 2, 'skipped' = 3)
)
ENGINE = Null;

CREATE TABLE IF NOT EXISTS callhouse.applied_positions
(
    topic LowCardinality(String),
    generation UInt32,
    log_id String,
    partition UInt32,
    position UInt64,
    is_ready UInt8
)
ENGINE = ReplacingMergeTree(position)
ORDER BY (topic, generation, log_id, partition, is_ready)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS callhouse.audit_events
(
    scope String,
    at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    chain String CODEC(ZSTD(1)),
    seq UInt64 CODEC(Delta(8), ZSTD(1)),
    actor String CODEC(ZSTD(1)),
    actor_kind Enum8('user' = 1, 'command' = 2, 'server' = 3),
    key_id String CODEC(ZSTD(1)),
    address String CODEC(ZSTD(1)),
    action LowCardinality(String),
    target String CODEC(ZSTD(1)),
    outcome Enum8('done' = 1, 'begun' = 2, 'failed' = 3, 'refused' = 4),
    request_id String CODEC(ZSTD(1)),
    details String CODEC(ZSTD(1)),
    ends_from UInt64 CODEC(T64, ZSTD(1)),
    ends_to UInt64 CODEC(T64, ZSTD(1)),
    prev String CODEC(ZSTD(1)),
    hash String CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (scope, at, chain, seq)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.audit_in
(
    _record String,
    project_id String,
    at_us Int64,
    chain String,
    seq UInt64,
    actor String,
    actor_kind Enum8('user' = 1, 'command' = 2, 'server' = 3),
    key_id String,
    address String,
    action String,
    target String,
    outcome Enum8('done' = 1, 'begun' = 2, 'failed' = 3, 'refused' = 4),
    request_id String,
    details String,
    ends_from UInt64,
    ends_to UInt64,
    prev String,
    hash String
)
ENGINE = Null;

CREATE TABLE IF NOT EXISTS callhouse.begun_calls_in
(
    _record String,
    kind Enum8('complete' = 1, 'start' = 2, 'end' = 3, 'name' = 4, 'delete' = 5),
    project_id String,
    id String,
    clock UInt64,
    started_us Int64,
    ended_us Int64,
    payload_us Int64,
    trace_id String,
    parent_id String,
    thread_id String,
    turn_id String,
    op_name String,
    named UInt8,
    display_name String,
    exception String,
    user_id String,
    run_id String,
    run_step Int64 DEFAULT -1,
    run_step_end Int64 DEFAULT -1,
    input_refs Array(String),
    output_refs Array(String),
    error_count UInt32,
    usage_model Array(String),
    usage_requests Array(Int64),
    usage_input Array(Int64),
    usage_output Array(Int64),
    usage_total Array(Int64),
    usage_cache_read Array(Int64),
    usage_cache_write Array(Int64),
    start_bytes UInt64,
    end_bytes UInt64,
    odd UInt8,
    attributes String,
    inputs String,
    output String,
    summary String,
    otel_dump String,
    mask UInt32,
    mask_hits UInt16
)
ENGINE = Null;

CREATE TABLE IF NOT EXISTS callhouse.call_counts
(
    project_id String,
    minute DateTime('UTC'),
    calls UInt64,
    roots UInt64,
    position UInt64,
    calls_by_second Array(UInt32) CODEC(ZSTD(1)),
    roots_by_second Array(UInt32) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(position)
PARTITION BY toYYYYMM(minute)
ORDER BY (project_id, minute)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS callhouse.call_counts_hourly
(
    project_id String,
    hour DateTime('UTC'),
    calls UInt64,
    roots UInt64,
    position UInt64
)
ENGINE = ReplacingMergeTree(position)
PARTITION BY toYYYYMM(hour)
ORDER BY (project_id, hour)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS callhouse.call_keys
(
    project_id String,
    kind LowCardinality(String),
    key String,
    started_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(started_at)
ORDER BY (project_id, kind, key, started_at)
SETTINGS index_granularity = 1024, merge_selector_base = 16, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.call_marks
(
    project_id String,
    position UInt64,
    minute DateTime('UTC'),
    partition UInt32,
    seconds UInt64
)
ENGINE = ReplacingMergeTree
PARTITION BY intDiv(position, 1000000)
PRIMARY KEY (project_id, position, minute)
ORDER BY (project_id, position, minute, partition)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS callhouse.call_patches
(
    project_id String,
    id String,
    kind Enum8('complete' = 1, 'start' = 2, 'end' = 3, 'name' = 4, 'delete' = 5),
    clock UInt64,
    started_at DateTime64(6, 'UTC'),
    trace_id String,
    parent_id String,
    thread_id String,
    turn_id String,
    op_name LowCardinality(String),
    user_id LowCardinality(String),
    run_id LowCardinality(String),
    run_step Int64,
    input_refs Array(String) CODEC(ZSTD(1)),
    start_bytes UInt64,
    ended_at DateTime64(6, 'UTC'),
    exception String CODEC(ZSTD(1)),
    run_step_end Int64,
    output_refs Array(String) CODEC(ZSTD(1)),
    output_at DateTime64(6, 'UTC'),
    error_count UInt32,
    usage_model Array(LowCardinality(String)),
    usage_requests Array(Int64),
    usage_input Array(Int64),
    usage_output Array(Int64),
    usage_total Array(Int64),
    usage_cache_read Array(Int64),
    usage_cache_write Array(Int64),
    end_bytes UInt64,
    display_name String,
    identity_scope String DEFAULT if((kind = 'start') AND (length(id) = 16), trace_id, '')
)
ENGINE = ReplacingMergeTree(clock)
PRIMARY KEY (project_id, id, kind)
ORDER BY (project_id, id, kind, identity_scope)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120, merge_selector_base = 16;

CREATE TABLE IF NOT EXISTS callhouse.call_stats
(
    project_id String,
    seconds UInt16,
    bucket DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    root UInt8,
    revision UInt64,
    calls UInt64,
    errors UInt64,
    timed UInt64,
    latency_sum Float64,
    latency_min UInt64,
    latency_max UInt64,
    latency_ones UInt64,
    latency_zeros UInt64,
    latencies Array(UInt64) CODEC(T64, ZSTD(1)),
    usage_model Array(LowCardinality(String)),
    usage_top Array(UInt8),
    usage_points Array(UInt64),
    usage_input_sum Array(Float64),
    usage_input_min Array(Int64),
    usage_input_max Array(Int64),
    usage_output_sum Array(Float64),
    usage_output_min Array(Int64),
    usage_output_max Array(Int64),
    usage_total_sum Array(Float64),
    usage_cache_read_sum Array(Float64),
    usage_cache_read_min Array(Int64),
    usage_cache_read_max Array(Int64),
    usage_cache_write_sum Array(Float64),
    usage_cache_write_min Array(Int64),
    usage_cache_write_max Array(Int64),
    usage_inside_sum Array(Float64),
    usage_apart_sum Array(Float64),
    usage_billed_read_sum Array(Float64),
    usage_billed_write_sum Array(Float64),
    usage_billed_write_1h_sum Array(Float64),
    usage_more_output_sum Array(Float64),
    usage_op Array(LowCardinality(String)),
    usage_user Array(LowCardinality(String)),
    usage_is_by_model UInt8,
    call_op Array(LowCardinality(String)),
    call_user Array(LowCardinality(String)),
    call_count Array(UInt64),
    call_errors Array(UInt64),
    call_latencies Array(Array(UInt64)) CODEC(T64, ZSTD(1))
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toYYYYMM(bucket)
ORDER BY (project_id, seconds, bucket, root)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.call_unswept
(
    project_id String,
    partition UInt32,
    position UInt64,
    minute DateTime('UTC')
)
ENGINE = ReplacingMergeTree
PARTITION BY intDiv(position, 1000000)
ORDER BY (project_id, position, minute, partition)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS callhouse.calls
(
    project_id String,
    started_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    id String,
    trace_id String,
    parent_id String,
    thread_id String,
    turn_id String,
    op_name LowCardinality(String),
    user_id LowCardinality(String),
    run_id LowCardinality(String),
    run_step Int64,
    input_refs Array(String) CODEC(ZSTD(1)),
    start_bytes UInt64,
    ended_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    exception String CODEC(ZSTD(1)),
    run_step_end Int64,
    output_refs Array(String) CODEC(ZSTD(1)),
    output_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    error_count UInt32,
    usage_model Array(LowCardinality(String)),
    usage_requests Array(Int64),
    usage_input Array(Int64),
    usage_output Array(Int64),
    usage_total Array(Int64),
    usage_cache_read Array(Int64),
    usage_cache_write Array(Int64),
    end_bytes UInt64,
    display_name String,
    start_ver UInt64,
    end_ver UInt64,
    name_ver UInt64,
    delete_ver UInt64,
    moved UInt8,
    version UInt64
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(started_at)
ORDER BY (project_id, started_at, id)
SETTINGS index_granularity = 1024, min_age_to_force_merge_seconds = 0, min_age_to_force_merge_on_partition_only = 0, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120, merge_selector_base = 16;

CREATE TABLE IF NOT EXISTS callhouse.calls_batch
(
    kind Enum8('complete' = 1, 'start' = 2, 'end' = 3, 'name' = 4, 'delete' = 5),
    project_id String,
    id String,
    clock UInt64,
    started_at DateTime64(6, 'UTC'),
    trace_id String,
    parent_id String,
    thread_id String,
    turn_id String,
    op_name String,
    user_id String,
    run_id String,
    run_step Int64,
    input_refs Array(String),
    start_bytes UInt64,
    ended_at DateTime64(6, 'UTC'),
    exception String,
    run_step_end Int64,
    output_refs Array(String),
    output_at DateTime64(6, 'UTC'),
    error_count UInt32,
    usage_model Array(String),
    usage_requests Array(Int64),
    usage_input Array(Int64),
    usage_output Array(Int64),
    usage_total Array(Int64),
    usage_cache_read Array(Int64),
    usage_cache_write Array(Int64),
    end_bytes UInt64
)
ENGINE = Memory;

CREATE TABLE IF NOT EXISTS callhouse.calls_deleted
(
    project_id String,
    id String,
    started_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    delete_ver UInt64,
    trace_id String CODEC(ZSTD(1)),
    INDEX of_trace trace_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(delete_ver)
PARTITION BY toYYYYMM(started_at)
ORDER BY (project_id, id, started_at)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.calls_folded
(
    project_id String,
    started_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    id String,
    trace_id String,
    parent_id String,
    thread_id String,
    turn_id String,
    op_name LowCardinality(String),
    user_id LowCardinality(String),
    run_id LowCardinality(String),
    run_step Int64,
    input_refs Array(String) CODEC(ZSTD(1)),
    start_bytes UInt64,
    ended_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    exception String CODEC(ZSTD(1)),
    run_step_end Int64,
    output_refs Array(String) CODEC(ZSTD(1)),
    output_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    error_count UInt32,
    usage_model Array(LowCardinality(String)),
    usage_requests Array(Int64),
    usage_input Array(Int64),
    usage_output Array(Int64),
    usage_total Array(Int64),
    usage_cache_read Array(Int64),
    usage_cache_write Array(Int64),
    end_bytes UInt64,
    display_name String,
    start_ver UInt64,
    end_ver UInt64,
    name_ver UInt64,
    delete_ver UInt64,
    moved UInt8,
    version UInt64
)
ENGINE = Memory;

CREATE TABLE IF NOT EXISTS callhouse.calls_in
(
    _record String,
    kind Enum8('complete' = 1, 'start' = 2, 'end' = 3, 'name' = 4, 'delete' = 5),
    project_id String,
    id String,
    clock UInt64,
    started_us Int64,
    ended_us Int64,
    payload_us Int64,
    trace_id String,
    parent_id String,
    thread_id String,
    turn_id String,
    op_name String,
    named UInt8,
    display_name String,
    exception String,
    user_id String,
    run_id String,
    run_step Int64 DEFAULT -1,
    run_step_end Int64 DEFAULT -1,
    input_refs Array(String),
    output_refs Array(String),
    error_count UInt32,
    usage_model Array(String),
    usage_requests Array(Int64),
    usage_input Array(Int64),
    usage_output Array(Int64),
    usage_total Array(Int64),
    usage_cache_read Array(Int64),
    usage_cache_write Array(Int64),
    start_bytes UInt64,
    end_bytes UInt64,
    odd UInt8,
    attributes String,
    inputs String,
    output String,
    summary String,
    otel_dump String,
    mask UInt32,
    mask_hits UInt16
)
ENGINE = Null;

CREATE TABLE IF NOT EXISTS callhouse.calls_touched
(
    project_id String,
    id String
)
ENGINE = Memory;

CREATE TABLE IF NOT EXISTS callhouse.costs
(
    project_id String,
    id String,
    version UInt64,
    purged UInt8,
    created_at DateTime64(6, 'UTC'),
    created_by LowCardinality(String),
    llm_id LowCardinality(String),
    provider_id LowCardinality(String),
    effective_date DateTime64(6, 'UTC'),
    prompt_token_cost Float64,
    completion_token_cost Float64,
    cache_read_input_token_cost Float64,
    cache_creation_input_token_cost Float64,
    prompt_token_cost_unit LowCardinality(String),
    completion_token_cost_unit LowCardinality(String)
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (project_id, id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.costs_in
(
    _record String,
    project_id String,
    id String,
    clock UInt64,
    event Enum8('created' = 1, 'purged' = 2),
    user_id String,
    llm_id String,
    provider_id String,
    effective_us Int64,
    prompt_token_cost Float64,
    completion_token_cost Float64,
    cache_read_input_token_cost Float64,
    cache_creation_input_token_cost Float64,
    prompt_token_cost_unit String,
    completion_token_cost_unit String
)
ENGINE = Null;

CREATE TABLE IF NOT EXISTS callhouse.dead_letters
(
    topic LowCardinality(String),
    partition UInt32,
    offset UInt64,
    row_index UInt32,
    id String,
    at DateTime64(3, 'UTC'),
    replayed_at DateTime64(3, 'UTC'),
    reason String CODEC(ZSTD(1)),
    row String CODEC(ZSTD(1)),
    version UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (topic, partition, offset, row_index, id)
SETTINGS index_granularity = 128, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.erasures
(
    project_id String,
    id String,
    clock UInt64,
    status Enum8('accepted' = 1, 'removing' = 2, 'verifying' = 3, 'done' = 4, 'held' = 5, 'failed' = 6),
    requested_by String,
    requested_us Int64,
    deadline_us Int64,
    done_us Int64,
    until_ver UInt64,
    reason String,
    problem String,
    calls UInt64,
    missing UInt64,
    payload_rows UInt64,
    feedback UInt64,
    log_rows UInt64,
    dead_letters UInt64,
    remaining String,
    previous String,
    hash String,
    hidden_us Int64,
    selector_hmac String,
    first_ver UInt64,
    files UInt64,
    bytes UInt64,
    held UInt64,
    log_records UInt64,
    places String
)
ENGINE = ReplacingMergeTree(clock)
ORDER BY (project_id, id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.erasures_in
(
    _record String,
    project_id String,
    id String,
    clock UInt64,
    status Enum8('accepted' = 1, 'removing' = 2, 'verifying' = 3, 'done' = 4, 'held' = 5, 'failed' = 6),
    requested_by String,
    requested_us Int64,
    deadline_us Int64,
    done_us Int64,
    until_ver UInt64,
    reason String,
    problem String,
    calls UInt64,
    missing UInt64,
    payload_rows UInt64,
    feedback UInt64,
    log_rows UInt64,
    dead_letters UInt64,
    remaining String,
    previous String,
    hash String,
    hidden_us Int64,
    selector_hmac String,
    first_ver UInt64,
    files UInt64,
    bytes UInt64,
    held UInt64,
    log_records UInt64,
    places String
)
ENGINE = Null;

CREATE TABLE IF NOT EXISTS callhouse.evaluation_jobs
(
    project_id String,
    call_id String,
    version UInt64,
    clock UInt64,
    state Enum8('queued' = 1, 'ended' = 2),
    job_type Enum8('evaluate_model' = 1),
    user_id String,
    evaluation_ref String,
    model_ref String
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (project_id, call_id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.evaluation_jobs_in
(
    _record String,
    project_id String,
    call_id String,
    clock UInt64,
    event Enum8('queued' = 1, 'ended' = 2),
    job_type Enum8('evaluate_model' = 1),
    user_id String,
    evaluation_ref String,
    model_ref String
)
ENGINE = Null;

CREATE TABLE IF NOT EXISTS callhouse.feedback
(
    project_id String,
    id String,
    clock UInt64,
    purged UInt8,
    created_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    weave_ref String CODEC(ZSTD(1)),
    user_id LowCardinality(String),
    creator Nullable(String),
    feedback_type LowCardinality(String),
    annotation_ref Nullable(String),
    runnable_ref Nullable(String),
    call_ref Nullable(String),
    trigger_ref Nullable(String),
    queue_id Nullable(String),
    scorer_tags Array(String),
    scorer_tag_reasons Map(String, String),
    scorer_rating_reasons Map(String, String),
    scorer_tag_confidences Map(String, Float64),
    scorer_ratings Map(String, Float64),
    scorer_rating_confidences Map(String, Float64),
    span_agent_name String,
    span_agent_version String,
    span_conversation_id String,
    span_trace_id String,
    scorer_trace_id String,
    span_status_code LowCardinality(String),
    payload String CODEC(ZSTD(1)),
    readable_payload String CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(clock)
ORDER BY (project_id, id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.feedback_by_ref
(
    project_id String,
    weave_ref String CODEC(ZSTD(1)),
    id String
)
ENGINE = ReplacingMergeTree
ORDER BY (project_id, weave_ref, id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.feedback_in
(
    _record String,
    project_id String,
    id String,
    clock UInt64,
    event Enum8('created' = 1, 'purged' = 2),
    weave_ref String,
    user_id String,
    creator Nullable(String),
    feedback_type String,
    annotation_ref Nullable(String),
    runnable_ref Nullable(String),
    call_ref Nullable(String),
    trigger_ref Nullable(String),
    queue_id Nullable(String),
    scorer_tags Array(String),
    scorer_tag_reasons Map(String, String),
    scorer_rating_reasons Map(String, String),
    scorer_tag_confidences Map(String, Float64),
    scorer_ratings Map(String, Float64),
    scorer_rating_confidences Map(String, Float64),
    span_agent_name String,
    span_agent_version String,
    span_conversation_id String,
    span_trace_id String,
    scorer_trace_id String,
    span_status_code String,
    payload String,
    readable_payload String
)
ENGINE = Null;

CREATE TABLE IF NOT EXISTS callhouse.files
(
    project_id String,
    digest String,
    chunk_index UInt32,
    n_chunks UInt32,
    name String,
    size_bytes UInt64,
    blob String,
    content String CODEC(ZSTD(1)),
    clock UInt64
)
ENGINE = ReplacingMergeTree(clock)
ORDER BY (project_id, digest, chunk_index)
SETTINGS index_granularity = 64, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.files_in
(
    _record String,
    project_id String,
    digest String,
    clock UInt64,
    chunk_index UInt32,
    n_chunks UInt32,
    name String,
    size_bytes UInt64,
    blob String,
    content String
)
ENGINE = Null;

CREATE TABLE IF NOT EXISTS callhouse.finished_calls_in
(
    _record String,
    kind Enum8('complete' = 1, 'start' = 2, 'end' = 3, 'name' = 4, 'delete' = 5),
    project_id String,
    id String,
    clock UInt64,
    started_us Int64,
    ended_us Int64,
    payload_us Int64,
    trace_id String,
    parent_id String,
    thread_id String,
    turn_id String,
    op_name String,
    named UInt8,
    display_name String,
    exception String,
    user_id String,
    run_id String,
    run_step Int64 DEFAULT -1,
    run_step_end Int64 DEFAULT -1,
    input_refs Array(String),
    output_refs Array(String),
    error_count UInt32,
    usage_model Array(String),
    usage_requests Array(Int64),
    usage_input Array(Int64),
    usage_output Array(Int64),
    usage_total Array(Int64),
    usage_cache_read Array(Int64),
    usage_cache_write Array(Int64),
    start_bytes UInt64,
    end_bytes UInt64,
    odd UInt8,
    attributes String,
    inputs String,
    output String,
    summary String,
    otel_dump String,
    mask UInt32,
    mask_hits UInt16
)
ENGINE = Null;

CREATE TABLE IF NOT EXISTS callhouse.log_evaluations
(
    project_id String,
    response_id String CODEC(ZSTD(1)),
    log_id String CODEC(ZSTD(1)),
    at DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (project_id, response_id, log_id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.log_joined
(
    project_id String,
    trace_id String CODEC(ZSTD(1)),
    span_id String CODEC(ZSTD(1)),
    log_id String CODEC(ZSTD(1)),
    base UInt64,
    clock UInt64,
    events UInt32,
    joined_at DateTime
)
ENGINE = ReplacingMergeTree(clock)
PARTITION BY toYYYYMM(joined_at)
ORDER BY (project_id, trace_id, span_id, log_id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.log_joins
(
    project_id String,
    trace_id String CODEC(ZSTD(1)),
    span_id String CODEC(ZSTD(1)),
    log_id String CODEC(ZSTD(1)),
    at DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    event_name LowCardinality(String),
    arrived DateTime CODEC(Delta(4), ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(arrived)
ORDER BY (project_id, trace_id, span_id, log_id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.log_turns
(
    project_id String,
    session UInt128 CODEC(ZSTD(1)),
    is_prompt UInt8,
    at DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    id String CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (project_id, session, is_prompt, at, id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.log_turns_due
(
    project_id String,
    session UInt128 CODEC(ZSTD(1)),
    at DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    arrived DateTime CODEC(Delta(4), ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMMDD(arrived)
ORDER BY (project_id, session, arrived, at)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.logs
(
    project_id String,
    at DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    id String CODEC(ZSTD(1)),
    clock UInt64 CODEC(Delta(8), ZSTD(1)),
    observed_at DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    span_id String CODEC(ZSTD(1)),
    severity UInt8,
    severity_text LowCardinality(String),
    event_name LowCardinality(String),
    body String CODEC(ZSTD(1)),
    body_json UInt8,
    attributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    json_keys Array(LowCardinality(String)),
    resource Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    scope Map(LowCardinality(String), String) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(clock)
PARTITION BY toYYYYMM(at)
ORDER BY (project_id, at, id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.logs_by_span
(
    project_id String,
    trace_id String CODEC(ZSTD(1)),
    span_id String CODEC(ZSTD(1)),
    at DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    id String CODEC(ZSTD(1)),
    event_name LowCardinality(String)
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (project_id, trace_id, span_id, at, id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.logs_deleted
(
    project_id String,
    id String CODEC(ZSTD(1)),
    at DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    delete_ver UInt64 CODEC(Delta(8), ZSTD(1))
)
ENGINE = ReplacingMergeTree(delete_ver)
PARTITION BY toYYYYMM(at)
ORDER BY (project_id, id, at)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.logs_in
(
    _record String,
    project_id String,
    id String,
    clock UInt64,
    at_ns Int64,
    observed_ns Int64,
    trace_id String,
    span_id String,
    severity UInt8,
    severity_text String,
    event_name String,
    body String,
    body_json UInt8,
    attributes Map(String, String),
    json_keys Array(String),
    resource Map(String, String),
    scope Map(String, String),
    deleted UInt8
)
ENGINE = Null;

CREATE TABLE IF NOT EXISTS callhouse.missing_records
(
    topic LowCardinality(String),
    log_id String,
    partition UInt32,
    first UInt64,
    last UInt64,
    accepted_before DateTime64(3, 'UTC'),
    is_known UInt8
)
ENGINE = ReplacingMergeTree(is_known)
ORDER BY (topic, log_id, partition, first, last)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS callhouse.object_events
(
    project_id String,
    object_id String,
    kind Enum8('object' = 1, 'op' = 2),
    digest String,
    clock UInt64,
    event Enum8('created' = 1, 'deleted' = 2),
    user_id LowCardinality(String),
    base_object_class LowCardinality(String)
)
ENGINE = ReplacingMergeTree
ORDER BY (project_id, object_id, kind, digest, clock)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.object_labels
(
    project_id String,
    object_id String,
    label_kind Enum8('tag' = 1, 'alias' = 2),
    scope String,
    label String,
    digest String,
    clock UInt64,
    is_set UInt8
)
ENGINE = ReplacingMergeTree(clock)
ORDER BY (project_id, object_id, label_kind, scope, label)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.object_labels_in
(
    _record String,
    project_id String,
    object_id String,
    label_kind Enum8('tag' = 1, 'alias' = 2),
    label String,
    digest String,
    clock UInt64,
    is_set UInt8
)
ENGINE = Null;

CREATE TABLE IF NOT EXISTS callhouse.objects
(
    project_id String,
    object_id String,
    kind Enum8('object' = 1, 'op' = 2),
    digest String,
    clock UInt64,
    base_object_class LowCardinality(String),
    leaf_object_class LowCardinality(String),
    refs Array(String),
    size_bytes UInt64,
    val String CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(clock)
ORDER BY (project_id, object_id, kind, digest)
SETTINGS index_granularity = 128, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.objects_in
(
    _record String,
    project_id String,
    object_id String,
    kind Enum8('object' = 1, 'op' = 2),
    digest String,
    clock UInt64,
    event Enum8('created' = 1, 'deleted' = 2),
    user_id String,
    base_object_class String,
    leaf_object_class String,
    refs Array(String),
    size_bytes UInt64,
    val String
)
ENGINE = Null;

CREATE TABLE IF NOT EXISTS callhouse.orphan_roots
(
    project_id String,
    started_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    id String,
    trace_id String,
    is_orphan UInt8,
    version UInt64
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(started_at)
ORDER BY (project_id, started_at, id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.payload_chunks
(
    project_id String,
    least Int64,
    most Int64,
    chunk UInt64,
    part Enum8('both' = 0, 'start' = 1, 'end' = 2),
    at Array(Int64) CODEC(Delta(8), ZSTD(1)),
    clock Array(UInt64) CODEC(Delta(8), ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(fromUnixTimestamp64Micro(least, 'UTC'))
ORDER BY (project_id, least, chunk)
SETTINGS index_granularity = 64, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.payload_leaves
(
    project_id String,
    path String,
    kind Enum8('number' = 1, 'text' = 2, 'numeral' = 3, 'long' = 4, 'hollow' = 5, 'opaque' = 6),
    part Enum8('both' = 0, 'start' = 1, 'end' = 2),
    least Int64,
    most Int64,
    chunk UInt64,
    at Array(Int64) CODEC(Delta(8), ZSTD(1)),
    num Array(Float64) CODEC(ZSTD(1)),
    str Array(String) CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(fromUnixTimestamp64Micro(least, 'UTC'))
ORDER BY (project_id, path, kind, part, least, chunk)
SETTINGS index_granularity = 64, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.payloads
(
    project_id String,
    at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    id String,
    part Enum8('both' = 0, 'start' = 1, 'end' = 2),
    clock UInt64,
    odd UInt8,
    attributes String CODEC(ZSTD(1)),
    inputs String CODEC(ZSTD(1, 23)) SETTINGS (max_compress_block_size = 8388608),
    output String CODEC(ZSTD(1)),
    summary String CODEC(ZSTD(1)),
    otel_dump String CODEC(ZSTD(1)),
    billed_usage Array(Tuple(
        model String,
        inside Int64,
        apart Int64,
        cache_read Int64,
        cache_write Int64,
        cache_write_1h Int64,
        more_output Int64)) DEFAULT if(NOT match(summary, '(?:[cC]ach|[tT]hought|[rR]easoning|ephemeral|[tT]ool_?[uU]se)\\w*"\\s*:\\s*"?[1-9]|[gG]em(?:ini|ma)|:\\s*-|\\\\'), [], arrayFilter(bill -> ((bill.2, bill.4, bill.5, bill.6, bill.7) != (0, 0, 0, 0, 0)), arrayMap(u -> (u.1, multiIf((u.2) < 0, u.2, ((u.4) + (u.5)) > (u.2), 0, (u.4) + (u.5)) - (u.11), if((u.3) AND (((u.4) + (u.5)) <= (u.2)), (u.4) + (u.5), 0), u.4, (u.5) - least(u.6, u.5), least(u.6, u.5), multiIf((u.8) = ((u.2) + (u.7)), 0, (u.9) > 0, u.9, (u.8) = (((u.2) + (u.7)) + (u.10)), u.10, (u.12) AND ((u.2) > 0) AND ((u.8) > (((u.2) + (u.7)) + (u.11))), (((u.8) - (u.2)) - (u.7)) - (u.11), 0)), arrayMap((model, u) -> (model, arrayFirst(n -> (n != 0), [arraySum(arrayFilter(n -> (abs(n) < 1000000000000000.), [u.prompt_tokens, u.input_tokens])), u.promptTokenCount, u.prompt_token_count, u.inputTokens, u.inputTokenCount, u.input_token_count, u.promptTokens]), ((u.prompt_tokens = 0) AND (u.input_tokens > 0) AND ((u.cache_read_input_tokens > 0) OR (u.cache_creation_input_tokens > 0))) OR ((u.inputTokens > 0) AND ((u.cacheReadInputTokens > 0) OR (u.cacheWriteInputTokens > 0))), arrayFirst(n -> ((n >= 1) AND (n <= 1000000000000000.)), [u.cache_read_input_tokens, u.prompt_tokens_details.cached_tokens, u.input_tokens_details.cached_tokens, u.input_token_details.cached_tokens, u.input_token_details.cache_read, u.cached_content_token_count, u.prompt_cache_hit_tokens, u.cached_tokens, u.prompt_tokens_details.cache_read_tokens, u.prompt_tokens_details.cache_read_input_tokens, u.cachedContentTokenCount, u.cacheReadInputTokens, u.cacheReadInputTokenCount, u.cache_read_tokens, u.cached_input_tokens, u.inputTokenDetails.cacheReadTokens, u.cachedInputTokens]), arrayFirst(n -> ((n >= 1) AND (n <= 1000000000000000.)), [u.cache_creation_input_tokens, u.prompt_tokens_details.cache_write_tokens, u.input_tokens_details.cache_write_tokens, u.input_token_details.cache_creation, u.prompt_tokens_details.cache_creation_tokens, u.prompt_tokens_details.cache_creation_input_tokens, u.input_tokens_details.cache_creation_tokens, u.cacheWriteInputTokens, u.cacheWriteInputTokenCount, u.cache_write_tokens, u.cache_write_input_tokens, u.cache_creation_tokens, u.inputTokenDetails.cacheWriteTokens, u.input_token_details.ephemeral_5m_input_tokens + u.input_token_details.ephemeral_1h_input_tokens]), arrayFirst(n -> (n > 0), [u.cache_creation.ephemeral_1h_input_tokens, u.input_token_details.ephemeral_1h_input_tokens, u.prompt_tokens_details.cache_creation_token_details.ephemeral_1h_input_tokens]), arrayFirst(n -> (n != 0), [u.completion_tokens + u.output_tokens, u.candidatesTokenCount, u.candidates_token_count, u.outputTokens, u.outputTokenCount, u.generated_token_count, u.completionTokens]), arrayFirst(n -> (n != 0), [u.total_tokens, u.totalTokenCount, u.total_token_count, u.totalTokens]), arrayFirst(n -> ((n >= 1) AND (n <= 1000000000000000.)), [u.thoughts_tokens, u.thoughts_token_count, u.thoughtsTokenCount]), arrayFirst(n -> ((n >= 1) AND (n <= 1000000000000000.)), [u.completion_tokens_details.reasoning_tokens, u.output_tokens_details.reasoning_tokens, u.output_token_details.reasoning, u.outputTokenDetails.reasoningTokens, u.reasoning_tokens, u.reasoningTokens]), arrayFirst(n -> ((n >= 1) AND (n <= 1000000000000000.)), [u.toolUsePromptTokenCount, u.tool_use_prompt_token_count]), match(model, '(?i)gemini|gemma')), mapKeys(JSONExtract(if(odd = 1, replaceRegexpAll(summary, '([:,\\[]\\s*-?)(?:\\d{17,}|[\\d.]+[eE][+-]?\\d{3,})', '\\10'), summary), 'usage', 'Map(String, Tuple(\n                        prompt_tokens Int64, input_tokens Int64, completion_tokens Int64, output_tokens Int64, total_tokens Int64,\n                        promptTokenCount Int64, prompt_token_count Int64, inputTokens Int64, inputTokenCount Int64,\n                        input_token_count Int64, promptTokens Int64, candidatesTokenCount Int64, candidates_token_count Int64,\n                        outputTokens Int64, outputTokenCount Int64, generated_token_count Int64, completionTokens Int64,\n                        totalTokenCount Int64, total_token_count Int64, totalTokens Int64,\n                        toolUsePromptTokenCount Int64, tool_use_prompt_token_count Int64,\n                        cache_read_input_tokens Int64, cache_creation_input_tokens Int64,\n                        cache_creation Tuple(ephemeral_1h_input_tokens Int64),\n                        prompt_tokens_details Tuple(cached_tokens Int64, cache_write_tokens Int64, cache_read_tokens Int64,\n                            cache_read_input_tokens Int64, cache_creation_tokens Int64, cache_creation_input_tokens Int64,\n                            cache_creation_token_details Tuple(ephemeral_1h_input_tokens Int64)),\n                        input_tokens_details Tuple(cached_tokens Int64, cache_write_tokens Int64, cache_creation_tokens Int64),\n                        input_token_details Tuple(cached_tokens Int64, cache_read Int64, cache_creation Int64,\n                            ephemeral_5m_input_tokens Int64, ephemeral_1h_input_tokens Int64),\n                        inputTokenDetails Tuple(cacheReadTokens Int64, cacheWriteTokens Int64),\n                        cached_content_token_count Int64, cachedContentTokenCount Int64, prompt_cache_hit_tokens Int64,\n                        cached_tokens Int64, cached_input_tokens Int64, cachedInputTokens Int64,\n                        cacheReadInputTokens Int64, cacheReadInputTokenCount Int64, cache_read_tokens Int64,\n                        cacheWriteInputTokens Int64, cacheWriteInputTokenCount Int64, cache_write_tokens Int64,\n                        cache_write_input_tokens Int64, cache_creation_tokens Int64,\n                        thoughts_tokens Int64, thoughts_token_count Int64, thoughtsTokenCount Int64,\n                        reasoning_tokens Int64, reasoningTokens Int64,\n                        completion_tokens_details Tuple(reasoning_tokens Int64),\n                        output_tokens_details Tuple(reasoning_tokens Int64),\n                        output_token_details Tuple(reasoning Int64),\n                        outputTokenDetails Tuple(reasoningTokens Int64)))') AS usage), mapValues(usage))))),
    counts_cached UInt8 DEFAULT ((toInt8(part) = 1) OR arrayExists(bill -> (bill.apart > 0), billed_usage)) AND ((otel_dump.size > 0) OR ((position(attributes, 'python-sdk') > 0) AND (JSONExtractString(attributes, 'weave', 'source') = 'python-sdk') AND (arrayMap(n -> toUInt32OrZero(n), splitByChar('.', JSONExtractString(attributes, 'weave', 'client_version'))) >= [0, 54]))),
    mask UInt32,
    mask_hits UInt16
)
ENGINE = ReplacingMergeTree(clock)
PARTITION BY toYYYYMM(at)
ORDER BY (project_id, at, id, part)
SETTINGS index_granularity = 128, merge_selector_base = 16, min_age_to_force_merge_seconds = 0, min_age_to_force_merge_on_partition_only = 0, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120, vertical_merge_algorithm_min_columns_to_activate = 4, vertical_merge_algorithm_min_rows_to_activate = 20000, auto_statistics_types = '';

CREATE TABLE IF NOT EXISTS callhouse.rollups
(
    name String,
    position UInt64,
    partition UInt32,
    revision UInt64
)
ENGINE = ReplacingMergeTree(position)
PRIMARY KEY name
ORDER BY (name, partition)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120, index_granularity = 8192;

CREATE TABLE IF NOT EXISTS callhouse.table_lists
(
    project_id String,
    digest String,
    chunk_index UInt32,
    age UInt64,
    row_count UInt64,
    row_digests Array(String) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(age)
ORDER BY (project_id, digest, chunk_index)
SETTINGS index_granularity = 16, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.table_rows
(
    project_id String,
    digest String,
    age UInt64,
    size_bytes UInt64,
    val String CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(age)
ORDER BY (project_id, digest)
SETTINGS index_granularity = 64, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120, min_compress_block_size = 4096;

CREATE TABLE IF NOT EXISTS callhouse.tables_in
(
    _record String,
    project_id String,
    kind Enum8('row' = 1, 'list' = 2),
    digest String,
    clock UInt64,
    size_bytes UInt64,
    chunk_index UInt32,
    row_count UInt64,
    row_digests Array(String),
    val String
)
ENGINE = Null;

CREATE TABLE IF NOT EXISTS callhouse.trace_parts
(
    project_id String,
    seconds UInt16,
    bucket DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    revision UInt64,
    calls UInt64,
    trace Array(UInt128),
    spans Array(UInt32),
    errors Array(UInt32),
    running Array(UInt32),
    begun Array(UInt32),
    ended Array(Int64),
    root_at Array(UInt32),
    has_top Array(UInt8),
    top_input Array(Float64),
    top_output Array(Float64),
    top_total Array(Float64),
    other_input Array(Float64),
    other_output Array(Float64),
    other_total Array(Float64),
    usage_trace Array(UInt128),
    usage_model Array(LowCardinality(String)),
    usage_top Array(UInt8),
    usage_input Array(Float64),
    usage_output Array(Float64),
    usage_inside Array(Float64),
    usage_apart Array(Float64),
    usage_billed_read Array(Float64),
    usage_billed_write Array(Float64),
    usage_billed_write_1h Array(Float64),
    usage_more_output Array(Float64)
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toYYYYMM(bucket)
ORDER BY (project_id, seconds, bucket)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.training_jobs
(
    project_id String,
    id String,
    age UInt64,
    created_at DateTime64(6, 'UTC'),
    created_by LowCardinality(String),
    request_key String,
    kind Enum8('sft' = 1),
    state Enum8('queued' = 1),
    model_id String,
    training_data_url String CODEC(ZSTD(1)),
    config String CODEC(ZSTD(1)),
    experimental_config String CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(age)
ORDER BY (project_id, id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.training_jobs_in
(
    _record String,
    project_id String,
    id String,
    clock UInt64,
    event Enum8('training.job.created' = 1),
    user_id String,
    request_key String,
    kind Enum8('sft' = 1),
    model_id String,
    training_data_url String,
    config String,
    experimental_config String
)
ENGINE = Null;

CREATE TABLE IF NOT EXISTS callhouse.turns
(
    project_id String,
    thread_id String,
    started_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    id String,
    ended_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    hidden UInt8,
    version UInt64
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(started_at)
ORDER BY (project_id, thread_id, started_at, id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120, merge_selector_base = 16;

CREATE TABLE IF NOT EXISTS callhouse.unbilled_begun_calls_in
(
    _record String,
    kind Enum8('complete' = 1, 'start' = 2, 'end' = 3, 'name' = 4, 'delete' = 5),
    project_id String,
    id String,
    clock UInt64,
    started_us Int64,
    ended_us Int64,
    payload_us Int64,
    trace_id String,
    parent_id String,
    thread_id String,
    turn_id String,
    op_name String,
    named UInt8,
    display_name String,
    exception String,
    user_id String,
    run_id String,
    run_step Int64 DEFAULT -1,
    run_step_end Int64 DEFAULT -1,
    input_refs Array(String),
    output_refs Array(String),
    error_count UInt32,
    usage_model Array(String),
    usage_requests Array(Int64),
    usage_input Array(Int64),
    usage_output Array(Int64),
    usage_total Array(Int64),
    usage_cache_read Array(Int64),
    usage_cache_write Array(Int64),
    start_bytes UInt64,
    end_bytes UInt64,
    odd UInt8,
    attributes String,
    inputs String,
    output String,
    summary String,
    otel_dump String,
    mask UInt32,
    mask_hits UInt16
)
ENGINE = Null;

CREATE TABLE IF NOT EXISTS callhouse.unbilled_calls_in
(
    _record String,
    kind Enum8('complete' = 1, 'start' = 2, 'end' = 3, 'name' = 4, 'delete' = 5),
    project_id String,
    id String,
    clock UInt64,
    started_us Int64,
    ended_us Int64,
    payload_us Int64,
    trace_id String,
    parent_id String,
    thread_id String,
    turn_id String,
    op_name String,
    named UInt8,
    display_name String,
    exception String,
    user_id String,
    run_id String,
    run_step Int64 DEFAULT -1,
    run_step_end Int64 DEFAULT -1,
    input_refs Array(String),
    output_refs Array(String),
    error_count UInt32,
    usage_model Array(String),
    usage_requests Array(Int64),
    usage_input Array(Int64),
    usage_output Array(Int64),
    usage_total Array(Int64),
    usage_cache_read Array(Int64),
    usage_cache_write Array(Int64),
    start_bytes UInt64,
    end_bytes UInt64,
    odd UInt8,
    attributes String,
    inputs String,
    output String,
    summary String,
    otel_dump String,
    mask UInt32,
    mask_hits UInt16
)
ENGINE = Null;

CREATE TABLE IF NOT EXISTS callhouse.usage_in
(
    _record String,
    project_id String,
    minute_s Int64,
    key_id String,
    process String,
    clock UInt64,
    requests UInt64,
    refused UInt64,
    calls UInt64,
    bytes_in UInt64,
    bytes_stored UInt64,
    reads UInt64,
    read_ms UInt64,
    read_bytes UInt64,
    sampled_out UInt64,
    masked UInt64
)
ENGINE = Null;

CREATE TABLE IF NOT EXISTS callhouse.usage_minutes
(
    project_id String,
    minute DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    key_id String CODEC(ZSTD(1)),
    process String CODEC(ZSTD(1)),
    clock UInt64 CODEC(Delta(8), ZSTD(1)),
    requests UInt64 CODEC(T64, ZSTD(1)),
    refused UInt64 CODEC(T64, ZSTD(1)),
    calls UInt64 CODEC(T64, ZSTD(1)),
    bytes_in UInt64 CODEC(T64, ZSTD(1)),
    bytes_stored UInt64 CODEC(T64, ZSTD(1)),
    reads UInt64 CODEC(T64, ZSTD(1)),
    read_ms UInt64 CODEC(T64, ZSTD(1)),
    read_bytes UInt64 CODEC(T64, ZSTD(1)),
    sampled_out UInt64 CODEC(T64, ZSTD(1)),
    masked UInt64 CODEC(T64, ZSTD(1))
)
ENGINE = ReplacingMergeTree(clock)
PARTITION BY toYYYYMM(minute)
ORDER BY (project_id, minute, key_id, process)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.usage_shares
(
    project_id String,
    started_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    id String,
    nested UInt8,
    input Int64,
    output Int64,
    total Int64,
    cache_read Int64,
    cache_write Int64,
    inside Int64,
    billed_read Int64,
    billed_write Int64,
    billed_write_1h Int64,
    more_output Int64,
    version UInt64
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(started_at)
ORDER BY (project_id, started_at, id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.annotation_queues_in_to_items TO callhouse.annotation_queue_items
AS SELECT
    project_id,
    queue_id,
    call_id,
    bitNot(clock) AS version,
    item_id AS id,
    clock,
    user_id AS added_by,
    fromUnixTimestamp64Micro(call_started_us, 'UTC') AS call_started_at,
    fromUnixTimestamp64Micro(call_ended_us, 'UTC') AS call_ended_at,
    call_op_name,
    call_trace_id,
    display_fields
FROM callhouse.annotation_queues_in
WHERE event = 'item_added';

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.annotation_queues_in_to_progress TO callhouse.annotation_queue_progress
AS SELECT
    project_id,
    queue_id,
    call_id,
    user_id AS annotator,
    if(state = 'in_progress', bitXor(clock, 9223372036854775807), bitNot(clock)) AS version,
    clock,
    state
FROM callhouse.annotation_queues_in
WHERE event = 'progressed';

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.annotation_queues_in_to_queues TO callhouse.annotation_queues
AS SELECT
    project_id,
    queue_id,
    part,
    clock,
    user_id,
    multiIf(part = 'name', name, part = 'description', description, '') AS text,
    if(part = 'scorer_refs', scorer_refs, []) AS refs
FROM callhouse.annotation_queues_in
ARRAY JOIN parts AS part
WHERE event IN ('created', 'updated', 'deleted');

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.audit_in_to_events TO callhouse.audit_events
AS SELECT
    project_id AS scope,
    fromUnixTimestamp64Micro(at_us, 'UTC') AS at,
    chain,
    seq,
    actor,
    actor_kind,
    key_id,
    address,
    action,
    target,
    outcome,
    request_id,
    details,
    ends_from,
    ends_to,
    prev,
    hash
FROM callhouse.audit_in;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.begun_calls_in_to_calls TO callhouse.calls
AS SELECT
    project_id,
    fromUnixTimestamp64Micro(started_us, 'UTC') AS started_at,
    id,
    trace_id,
    parent_id,
    thread_id,
    turn_id,
    op_name,
    user_id,
    run_id,
    run_step,
    input_refs,
    start_bytes,
    fromUnixTimestamp64Micro(ended_us, 'UTC') AS ended_at,
    exception,
    run_step_end,
    output_refs,
    started_at AS output_at,
    error_count,
    usage_model,
    usage_requests,
    usage_input,
    usage_output,
    usage_total,
    usage_cache_read,
    usage_cache_write,
    end_bytes,
    '' AS display_name,
    clock AS start_ver,
    if(kind = 'complete', clock, toUInt64(0)) AS end_ver,
    toUInt64(0) AS name_ver,
    toUInt64(0) AS delete_ver,
    toUInt8(0) AS moved,
    start_ver + end_ver AS version
FROM callhouse.begun_calls_in;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.begun_calls_in_to_patches TO callhouse.call_patches
AS SELECT
    project_id,
    id,
    kind,
    clock,
    fromUnixTimestamp64Micro(started_us, 'UTC') AS started_at,
    trace_id,
    parent_id,
    thread_id,
    turn_id,
    op_name,
    user_id,
    run_id,
    run_step,
    input_refs,
    start_bytes,
    fromUnixTimestamp64Micro(ended_us, 'UTC') AS ended_at,
    exception,
    run_step_end,
    output_refs,
    fromUnixTimestamp64Micro(payload_us, 'UTC') AS output_at,
    error_count,
    usage_model,
    usage_requests,
    usage_input,
    usage_output,
    usage_total,
    usage_cache_read,
    usage_cache_write,
    end_bytes,
    display_name
FROM callhouse.begun_calls_in
WHERE kind = 'start';

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.begun_calls_in_to_payloads TO callhouse.payloads
AS SELECT
    project_id,
    fromUnixTimestamp64Micro(started_us, 'UTC') AS at,
    id,
    CAST(if(kind = 'complete', 0, 1), 'Enum8(\'both\' = 0, \'start\' = 1, \'end\' = 2)') AS part,
    clock,
    odd,
    attributes,
    inputs,
    output,
    summary,
    otel_dump,
    mask,
    mask_hits
FROM callhouse.begun_calls_in;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.calls_in_to_batch TO callhouse.calls_batch
AS SELECT
    kind,
    project_id,
    id,
    clock,
    fromUnixTimestamp64Micro(started_us, 'UTC') AS started_at,
    trace_id,
    parent_id,
    thread_id,
    turn_id,
    op_name,
    user_id,
    run_id,
    run_step,
    input_refs,
    start_bytes,
    fromUnixTimestamp64Micro(ended_us, 'UTC') AS ended_at,
    exception,
    run_step_end,
    output_refs,
    fromUnixTimestamp64Micro(if(kind = 'end', payload_us, started_us), 'UTC') AS output_at,
    error_count,
    usage_model,
    usage_requests,
    usage_input,
    usage_output,
    usage_total,
    usage_cache_read,
    usage_cache_write,
    end_bytes
FROM callhouse.calls_in;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.calls_in_to_calls TO callhouse.calls
AS SELECT
    project_id,
    fromUnixTimestamp64Micro(started_us, 'UTC') AS started_at,
    id,
    trace_id,
    parent_id,
    thread_id,
    turn_id,
    op_name,
    user_id,
    run_id,
    run_step,
    input_refs,
    start_bytes,
    fromUnixTimestamp64Micro(ended_us, 'UTC') AS ended_at,
    exception,
    run_step_end,
    output_refs,
    started_at AS output_at,
    error_count,
    usage_model,
    usage_requests,
    usage_input,
    usage_output,
    usage_total,
    usage_cache_read,
    usage_cache_write,
    end_bytes,
    '' AS display_name,
    clock AS start_ver,
    clock AS end_ver,
    toUInt64(0) AS name_ver,
    toUInt64(0) AS delete_ver,
    toUInt8(0) AS moved,
    start_ver + end_ver AS version
FROM callhouse.calls_in
WHERE kind = 'complete';

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.calls_in_to_names TO callhouse.call_patches
AS SELECT
    project_id,
    id,
    CAST(4, 'Enum8(\'complete\' = 1, \'start\' = 2, \'end\' = 3, \'name\' = 4, \'delete\' = 5)') AS kind,
    clock,
    display_name
FROM callhouse.calls_in
WHERE (named = 1) AND (calls_in.kind IN ('complete', 'start'));

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.calls_in_to_patches TO callhouse.call_patches
AS SELECT
    project_id,
    id,
    kind,
    clock,
    fromUnixTimestamp64Micro(started_us, 'UTC') AS started_at,
    trace_id,
    parent_id,
    thread_id,
    turn_id,
    op_name,
    user_id,
    run_id,
    run_step,
    input_refs,
    start_bytes,
    fromUnixTimestamp64Micro(ended_us, 'UTC') AS ended_at,
    exception,
    run_step_end,
    output_refs,
    fromUnixTimestamp64Micro(payload_us, 'UTC') AS output_at,
    error_count,
    usage_model,
    usage_requests,
    usage_input,
    usage_output,
    usage_total,
    usage_cache_read,
    usage_cache_write,
    end_bytes,
    display_name
FROM callhouse.calls_in
WHERE kind != 'complete';

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.calls_in_to_payloads TO callhouse.payloads
AS SELECT
    project_id,
    fromUnixTimestamp64Micro(if(kind = 'end', payload_us, started_us), 'UTC') AS at,
    id,
    CAST(multiIf(kind = 'complete', 0, kind = 'start', 1, 2), 'Enum8(\'both\' = 0, \'start\' = 1, \'end\' = 2)') AS part,
    clock,
    odd,
    attributes,
    inputs,
    output,
    summary,
    otel_dump,
    mask,
    mask_hits
FROM callhouse.calls_in
WHERE kind IN ('complete', 'start', 'end');

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.calls_to_deleted TO callhouse.calls_deleted
AS SELECT
    project_id,
    id,
    started_at,
    delete_ver,
    trace_id
FROM callhouse.calls
WHERE delete_ver > 0;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.calls_to_keys TO callhouse.call_keys
AS SELECT
    project_id,
    pair.1 AS kind,
    pair.2 AS key,
    started_at
FROM callhouse.calls
ARRAY JOIN arrayFilter(one -> ((one.2) != ''), [('id', id), ('trace_id', trace_id), ('parent_id', parent_id)]) AS pair;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.calls_to_turns TO callhouse.turns
AS SELECT
    project_id,
    thread_id,
    started_at,
    id,
    ended_at,
    ((delete_ver > 0) OR (moved = 1)) AS hidden,
    version
FROM callhouse.calls
WHERE (turn_id = id) AND (thread_id != '');

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.costs_in_to_costs TO callhouse.costs
AS SELECT
    project_id,
    id,
    if(event = 'purged', bitOr(clock, 9223372036854775808), clock) AS version,
    event = 'purged' AS purged,
    fromUnixTimestamp64Micro(toInt64(intDiv(clock, 1024)), 'UTC') AS created_at,
    user_id AS created_by,
    llm_id,
    provider_id,
    fromUnixTimestamp64Micro(effective_us, 'UTC') AS effective_date,
    prompt_token_cost,
    completion_token_cost,
    cache_read_input_token_cost,
    cache_creation_input_token_cost,
    prompt_token_cost_unit,
    completion_token_cost_unit
FROM callhouse.costs_in;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.erasures_in_to_erasures TO callhouse.erasures
AS SELECT
    project_id,
    id,
    clock,
    status,
    requested_by,
    requested_us,
    deadline_us,
    done_us,
    until_ver,
    reason,
    problem,
    calls,
    missing,
    payload_rows,
    feedback,
    log_rows,
    dead_letters,
    remaining,
    previous,
    hash,
    hidden_us,
    selector_hmac,
    first_ver,
    files,
    bytes,
    held,
    log_records,
    places
FROM callhouse.erasures_in;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.evaluation_jobs_in_to_jobs TO callhouse.evaluation_jobs
AS SELECT
    project_id,
    call_id,
    if(event = 'ended', bitOr(clock, 9223372036854775808), clock) AS version,
    clock,
    if(event = 'ended', 'ended', 'queued') AS state,
    job_type,
    user_id,
    evaluation_ref,
    model_ref
FROM callhouse.evaluation_jobs_in;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.feedback_in_to_by_ref TO callhouse.feedback_by_ref
AS SELECT
    project_id,
    weave_ref,
    id
FROM callhouse.feedback_in
WHERE event = 'created';

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.feedback_in_to_feedback TO callhouse.feedback
AS SELECT
    project_id,
    id,
    clock,
    event = 'purged' AS purged,
    fromUnixTimestamp64Micro(toInt64(intDiv(clock, 1024)), 'UTC') AS created_at,
    weave_ref,
    user_id,
    creator,
    feedback_type,
    annotation_ref,
    runnable_ref,
    call_ref,
    trigger_ref,
    queue_id,
    scorer_tags,
    scorer_tag_reasons,
    scorer_rating_reasons,
    scorer_tag_confidences,
    scorer_ratings,
    scorer_rating_confidences,
    span_agent_name,
    span_agent_version,
    span_conversation_id,
    span_trace_id,
    scorer_trace_id,
    span_status_code,
    payload,
    readable_payload
FROM callhouse.feedback_in;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.files_in_to_files TO callhouse.files
AS SELECT
    project_id,
    digest,
    chunk_index,
    n_chunks,
    name,
    size_bytes,
    blob,
    base64Decode(content) AS content,
    clock
FROM callhouse.files_in;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.finished_calls_in_to_calls TO callhouse.calls
AS SELECT
    project_id,
    fromUnixTimestamp64Micro(started_us, 'UTC') AS started_at,
    id,
    trace_id,
    parent_id,
    thread_id,
    turn_id,
    op_name,
    user_id,
    run_id,
    run_step,
    input_refs,
    start_bytes,
    fromUnixTimestamp64Micro(ended_us, 'UTC') AS ended_at,
    exception,
    run_step_end,
    output_refs,
    started_at AS output_at,
    error_count,
    usage_model,
    usage_requests,
    usage_input,
    usage_output,
    usage_total,
    usage_cache_read,
    usage_cache_write,
    end_bytes,
    '' AS display_name,
    clock AS start_ver,
    clock AS end_ver,
    toUInt64(0) AS name_ver,
    toUInt64(0) AS delete_ver,
    toUInt8(0) AS moved,
    start_ver + end_ver AS version
FROM callhouse.finished_calls_in;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.finished_calls_in_to_payloads TO callhouse.payloads
AS SELECT
    project_id,
    fromUnixTimestamp64Micro(started_us, 'UTC') AS at,
    id,
    CAST(0, 'Enum8(\'both\' = 0, \'start\' = 1, \'end\' = 2)') AS part,
    clock,
    odd,
    attributes,
    inputs,
    output,
    summary,
    otel_dump,
    mask,
    mask_hits
FROM callhouse.finished_calls_in;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.logs_in_to_by_span TO callhouse.logs_by_span
AS SELECT
    project_id,
    trace_id,
    span_id,
    fromUnixTimestamp64Nano(at_ns, 'UTC') AS at,
    id,
    event_name
FROM callhouse.logs_in
WHERE (trace_id != '') OR (span_id != '');

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.logs_in_to_deleted TO callhouse.logs_deleted
AS SELECT
    project_id,
    id,
    fromUnixTimestamp64Nano(at_ns, 'UTC') AS at,
    clock AS delete_ver
FROM callhouse.logs_in
WHERE deleted = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.logs_in_to_evaluations TO callhouse.log_evaluations
AS SELECT
    project_id,
    if((attributes['gen_ai.response.id']) != '', attributes['gen_ai.response.id'], if(body_json = 1, JSONExtractString(body, 'gen_ai.response.id'), '')) AS response_id,
    id AS log_id,
    fromUnixTimestamp64Nano(at_ns, 'UTC') AS at
FROM callhouse.logs_in
WHERE (event_name = 'gen_ai.evaluation.result') AND ((trace_id = '') OR (span_id = '')) AND (response_id != '');

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.logs_in_to_event_joins TO callhouse.log_joins
AS SELECT
    project_id,
    trace_id,
    span_id,
    id AS log_id,
    fromUnixTimestamp64Nano(at_ns, 'UTC') AS at,
    event_name,
    now() AS arrived
FROM callhouse.logs_in
WHERE (trace_id != '') AND (span_id != '') AND (event_name IN ('claude_code.api_request', 'claude_code.api_error', 'claude_code.tool_result', 'claude_code.user_prompt', 'codex.api_request', 'codex.api_error', 'codex.sse_event', 'codex.tool_result', 'codex.user_prompt', 'gemini_cli.api_response', 'gemini_cli.api_error', 'gemini_cli.tool_call', 'gemini_cli.user_prompt'));

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.logs_in_to_joins TO callhouse.log_joins
AS SELECT
    project_id,
    trace_id,
    span_id,
    id AS log_id,
    fromUnixTimestamp64Nano(at_ns, 'UTC') AS at,
    event_name,
    now() AS arrived
FROM callhouse.logs_in
WHERE (event_name = 'gen_ai.evaluation.result') OR ((trace_id != '') AND (span_id != '') AND (event_name IN ('gen_ai.client.inference.operation.details', 'gen_ai.client.operation.exception', 'gen_ai.choice', 'gen_ai.system.message', 'gen_ai.user.message', 'gen_ai.assistant.message', 'gen_ai.tool.message')));

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.logs_in_to_logs TO callhouse.logs
AS SELECT
    project_id,
    fromUnixTimestamp64Nano(at_ns, 'UTC') AS at,
    id,
    clock,
    fromUnixTimestamp64Nano(observed_ns, 'UTC') AS observed_at,
    trace_id,
    span_id,
    severity,
    severity_text,
    event_name,
    body,
    body_json,
    attributes,
    json_keys,
    resource,
    scope
FROM callhouse.logs_in
WHERE deleted = 0;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.logs_in_to_turns TO callhouse.log_turns
AS SELECT
    project_id,
    reinterpretAsUInt128(sipHash128(own)) AS session,
    toUInt8(endsWith(event_name, '.user_prompt')) AS is_prompt,
    fromUnixTimestamp64Nano(at_ns, 'UTC') AS at,
    id
FROM callhouse.logs_in
WHERE (event_name IN ('claude_code.api_request', 'claude_code.api_error', 'claude_code.tool_result', 'claude_code.user_prompt', 'codex.api_request', 'codex.api_error', 'codex.sse_event', 'codex.tool_result', 'codex.user_prompt', 'gemini_cli.api_response', 'gemini_cli.api_error', 'gemini_cli.tool_call', 'gemini_cli.user_prompt')) AND ((trace_id = '') OR (span_id = '')) AND ((if((attributes['session.id']) != '', attributes['session.id'], attributes['conversation.id']) AS own) != '') AND (if((attributes['prompt.id']) != '', attributes['prompt.id'], attributes['prompt_id']) IN ('', own));

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.logs_in_to_turns_due TO callhouse.log_turns_due
AS SELECT
    project_id,
    reinterpretAsUInt128(sipHash128(own)) AS session,
    min(fromUnixTimestamp64Nano(at_ns, 'UTC')) AS at,
    now() AS arrived
FROM callhouse.logs_in
WHERE (event_name IN ('claude_code.api_request', 'claude_code.api_error', 'claude_code.tool_result', 'claude_code.user_prompt', 'codex.api_request', 'codex.api_error', 'codex.sse_event', 'codex.tool_result', 'codex.user_prompt', 'gemini_cli.api_response', 'gemini_cli.api_error', 'gemini_cli.tool_call', 'gemini_cli.user_prompt')) AND ((trace_id = '') OR (span_id = '')) AND ((if((attributes['session.id']) != '', attributes['session.id'], attributes['conversation.id']) AS own) != '') AND (if((attributes['prompt.id']) != '', attributes['prompt.id'], attributes['prompt_id']) IN ('', own))
GROUP BY
    project_id,
    session;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.object_labels_in_to_labels TO callhouse.object_labels
AS SELECT
    project_id,
    object_id,
    label_kind,
    if(label_kind = 'tag', digest, '') AS scope,
    label,
    digest,
    clock,
    is_set
FROM callhouse.object_labels_in;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.objects_in_to_events TO callhouse.object_events
AS SELECT
    project_id,
    object_id,
    kind,
    digest,
    clock,
    event,
    user_id,
    base_object_class
FROM callhouse.objects_in;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.objects_in_to_objects TO callhouse.objects
AS SELECT
    project_id,
    object_id,
    kind,
    digest,
    clock,
    base_object_class,
    leaf_object_class,
    refs,
    size_bytes,
    val
FROM callhouse.objects_in
WHERE event = 'created';

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.tables_in_to_lists TO callhouse.table_lists
AS SELECT
    project_id,
    digest,
    chunk_index,
    bitNot(clock) AS age,
    row_count,
    row_digests
FROM callhouse.tables_in
WHERE kind = 'list';

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.tables_in_to_rows TO callhouse.table_rows
AS SELECT
    project_id,
    digest,
    bitNot(clock) AS age,
    size_bytes,
    val
FROM callhouse.tables_in
WHERE kind = 'row';

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.training_jobs_in_to_jobs TO callhouse.training_jobs
AS SELECT
    project_id,
    id,
    bitNot(clock) AS age,
    fromUnixTimestamp64Micro(toInt64(intDiv(clock, 1024)), 'UTC') AS created_at,
    user_id AS created_by,
    request_key,
    kind,
    'queued' AS state,
    model_id,
    training_data_url,
    config,
    experimental_config
FROM callhouse.training_jobs_in
WHERE event = 'training.job.created';

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.unbilled_begun_calls_in_to_calls TO callhouse.calls
AS SELECT
    project_id,
    fromUnixTimestamp64Micro(started_us, 'UTC') AS started_at,
    id,
    trace_id,
    parent_id,
    thread_id,
    turn_id,
    op_name,
    user_id,
    run_id,
    run_step,
    input_refs,
    start_bytes,
    fromUnixTimestamp64Micro(ended_us, 'UTC') AS ended_at,
    exception,
    run_step_end,
    output_refs,
    started_at AS output_at,
    error_count,
    usage_model,
    usage_requests,
    usage_input,
    usage_output,
    usage_total,
    usage_cache_read,
    usage_cache_write,
    end_bytes,
    '' AS display_name,
    clock AS start_ver,
    if(kind = 'complete', clock, toUInt64(0)) AS end_ver,
    toUInt64(0) AS name_ver,
    toUInt64(0) AS delete_ver,
    toUInt8(0) AS moved,
    start_ver + end_ver AS version
FROM callhouse.unbilled_begun_calls_in;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.unbilled_begun_calls_in_to_patches TO callhouse.call_patches
AS SELECT
    project_id,
    id,
    kind,
    clock,
    fromUnixTimestamp64Micro(started_us, 'UTC') AS started_at,
    trace_id,
    parent_id,
    thread_id,
    turn_id,
    op_name,
    user_id,
    run_id,
    run_step,
    input_refs,
    start_bytes,
    fromUnixTimestamp64Micro(ended_us, 'UTC') AS ended_at,
    exception,
    run_step_end,
    output_refs,
    fromUnixTimestamp64Micro(payload_us, 'UTC') AS output_at,
    error_count,
    usage_model,
    usage_requests,
    usage_input,
    usage_output,
    usage_total,
    usage_cache_read,
    usage_cache_write,
    end_bytes,
    display_name
FROM callhouse.unbilled_begun_calls_in
WHERE kind = 'start';

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.unbilled_begun_calls_in_to_payloads TO callhouse.payloads
AS SELECT
    project_id,
    fromUnixTimestamp64Micro(started_us, 'UTC') AS at,
    id,
    CAST(if(kind = 'complete', 0, 1), 'Enum8(\'both\' = 0, \'start\' = 1, \'end\' = 2)') AS part,
    clock,
    odd,
    attributes,
    inputs,
    output,
    summary,
    otel_dump,
    mask,
    mask_hits,
    CAST([], 'Array(Tuple(model String, inside Int64, apart Int64, cache_read Int64, cache_write Int64, cache_write_1h Int64, more_output Int64))') AS billed_usage,
    (kind = 'start') AND ((otel_dump != '') OR ((position(attributes, 'python-sdk') > 0) AND (JSONExtractString(attributes, 'weave', 'source') = 'python-sdk') AND (arrayMap(n -> toUInt32OrZero(n), splitByChar('.', JSONExtractString(attributes, 'weave', 'client_version'))) >= [0, 54]))) AS counts_cached
FROM callhouse.unbilled_begun_calls_in;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.unbilled_calls_in_to_calls TO callhouse.calls
AS SELECT
    project_id,
    fromUnixTimestamp64Micro(started_us, 'UTC') AS started_at,
    id,
    trace_id,
    parent_id,
    thread_id,
    turn_id,
    op_name,
    user_id,
    run_id,
    run_step,
    input_refs,
    start_bytes,
    fromUnixTimestamp64Micro(ended_us, 'UTC') AS ended_at,
    exception,
    run_step_end,
    output_refs,
    started_at AS output_at,
    error_count,
    usage_model,
    usage_requests,
    usage_input,
    usage_output,
    usage_total,
    usage_cache_read,
    usage_cache_write,
    end_bytes,
    '' AS display_name,
    clock AS start_ver,
    clock AS end_ver,
    toUInt64(0) AS name_ver,
    toUInt64(0) AS delete_ver,
    toUInt8(0) AS moved,
    start_ver + end_ver AS version
FROM callhouse.unbilled_calls_in;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.unbilled_calls_in_to_payloads TO callhouse.payloads
AS SELECT
    project_id,
    fromUnixTimestamp64Micro(started_us, 'UTC') AS at,
    id,
    CAST(0, 'Enum8(\'both\' = 0, \'start\' = 1, \'end\' = 2)') AS part,
    clock,
    odd,
    attributes,
    inputs,
    output,
    summary,
    otel_dump,
    mask,
    mask_hits,
    CAST([], 'Array(Tuple(model String, inside Int64, apart Int64, cache_read Int64, cache_write Int64, cache_write_1h Int64, more_output Int64))') AS billed_usage,
    toUInt8(0) AS counts_cached
FROM callhouse.unbilled_calls_in;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.usage_in_to_minutes TO callhouse.usage_minutes
AS SELECT
    project_id,
    toDateTime(minute_s, 'UTC') AS minute,
    key_id,
    process,
    clock,
    requests,
    refused,
    calls,
    bytes_in,
    bytes_stored,
    reads,
    read_ms,
    read_bytes,
    sampled_out,
    masked
FROM callhouse.usage_in;
