-- Calls: the landing table, the light table, payloads, patches and the thin copies (docs/concepts.md).

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
    otel_dump String
) ENGINE = Null;

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
SETTINGS index_granularity = 1024, min_age_to_force_merge_seconds = 900, min_age_to_force_merge_on_partition_only = 1,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.payloads
(
    project_id String,
    at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    id String,
    part Enum8('both' = 0, 'start' = 1, 'end' = 2),
    clock UInt64,
    odd UInt8,
    attributes String CODEC(ZSTD(1)),
    inputs String CODEC(ZSTD(1)),
    output String CODEC(ZSTD(1)),
    summary String CODEC(ZSTD(1)),
    otel_dump String CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(clock)
PARTITION BY toYYYYMM(at)
ORDER BY (project_id, at, id, part)
SETTINGS index_granularity = 128, merge_selector_base = 16,
    min_age_to_force_merge_seconds = 900, min_age_to_force_merge_on_partition_only = 1,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

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
    display_name String
)
ENGINE = ReplacingMergeTree(clock)
ORDER BY (project_id, id, kind)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

-- The rows of the segment that is being applied; emptied before each segment.
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
) ENGINE = Memory;

-- What the fold of the segment found; copied into calls, then emptied before the next segment.
CREATE TABLE IF NOT EXISTS callhouse.calls_folded AS callhouse.calls ENGINE = Memory;

-- Thin copies: where a call, a trace, a parent's children or a thread's turns are to be found.
CREATE TABLE IF NOT EXISTS callhouse.calls_by_id
(
    project_id String,
    id String,
    started_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    trace_id String
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(started_at)
ORDER BY (project_id, id, started_at)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.calls_by_trace
(
    project_id String,
    trace_id String,
    started_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    id String,
    parent_id String,
    op_name LowCardinality(String),
    ended_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    failed UInt8,
    error_count UInt32,
    usage_model Array(LowCardinality(String)),
    usage_requests Array(Int64),
    usage_input Array(Int64),
    usage_output Array(Int64),
    usage_total Array(Int64),
    usage_cache_read Array(Int64),
    usage_cache_write Array(Int64),
    bytes UInt64,
    hidden UInt8,
    version UInt64
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(started_at)
ORDER BY (project_id, trace_id, started_at, id)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE TABLE IF NOT EXISTS callhouse.calls_by_parent
(
    project_id String,
    parent_id String,
    started_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    id String
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(started_at)
ORDER BY (project_id, parent_id, started_at, id)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

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
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.calls_in_to_calls TO callhouse.calls AS
SELECT
    project_id, fromUnixTimestamp64Micro(started_us, 'UTC') AS started_at, id, trace_id, parent_id, thread_id, turn_id,
    op_name, user_id, run_id, run_step, input_refs, start_bytes,
    fromUnixTimestamp64Micro(ended_us, 'UTC') AS ended_at, exception, run_step_end, output_refs,
    started_at AS output_at, error_count, usage_model, usage_requests, usage_input, usage_output, usage_total,
    usage_cache_read, usage_cache_write, end_bytes, '' AS display_name,
    clock AS start_ver, clock AS end_ver, toUInt64(0) AS name_ver, toUInt64(0) AS delete_ver,
    toUInt8(0) AS moved, start_ver + end_ver AS version
FROM callhouse.calls_in
WHERE kind = 'complete';

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.calls_in_to_payloads TO callhouse.payloads AS
SELECT
    project_id, fromUnixTimestamp64Micro(if(kind = 'end', payload_us, started_us), 'UTC') AS at, id,
    CAST(multiIf(kind = 'complete', 0, kind = 'start', 1, 2), 'Enum8(\'both\' = 0, \'start\' = 1, \'end\' = 2)') AS part,
    clock, odd, attributes, inputs, output, summary, otel_dump
FROM callhouse.calls_in
WHERE kind IN ('complete', 'start', 'end');

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.calls_in_to_patches TO callhouse.call_patches AS
SELECT
    project_id, id, kind, clock, fromUnixTimestamp64Micro(started_us, 'UTC') AS started_at, trace_id, parent_id,
    thread_id, turn_id, op_name, user_id, run_id, run_step, input_refs, start_bytes,
    fromUnixTimestamp64Micro(ended_us, 'UTC') AS ended_at, exception, run_step_end, output_refs,
    fromUnixTimestamp64Micro(payload_us, 'UTC') AS output_at, error_count, usage_model, usage_requests, usage_input,
    usage_output, usage_total, usage_cache_read, usage_cache_write, end_bytes, display_name
FROM callhouse.calls_in
WHERE kind != 'complete';

-- A name that came with a start is a patch of its own: else a finished row with a name would outweigh a newer one without.
CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.calls_in_to_names TO callhouse.call_patches AS
SELECT project_id, id, CAST(4, 'Enum8(\'complete\' = 1, \'start\' = 2, \'end\' = 3, \'name\' = 4, \'delete\' = 5)') AS kind,
    clock, display_name
FROM callhouse.calls_in
WHERE named = 1 AND calls_in.kind IN ('complete', 'start');

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.calls_in_to_batch TO callhouse.calls_batch AS
SELECT
    kind, project_id, id, clock, fromUnixTimestamp64Micro(started_us, 'UTC') AS started_at, trace_id, parent_id,
    thread_id, turn_id, op_name, user_id, run_id, run_step, input_refs, start_bytes,
    fromUnixTimestamp64Micro(ended_us, 'UTC') AS ended_at, exception, run_step_end, output_refs,
    fromUnixTimestamp64Micro(if(kind = 'end', payload_us, started_us), 'UTC') AS output_at, error_count, usage_model,
    usage_requests, usage_input, usage_output, usage_total, usage_cache_read, usage_cache_write, end_bytes
FROM callhouse.calls_in;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.calls_to_by_id TO callhouse.calls_by_id AS
SELECT project_id, id, started_at, trace_id FROM callhouse.calls;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.calls_to_by_trace TO callhouse.calls_by_trace AS
SELECT
    project_id, trace_id, started_at, id, parent_id, op_name, ended_at, exception != '' AS failed, error_count,
    usage_model, usage_requests, usage_input, usage_output, usage_total, usage_cache_read, usage_cache_write,
    start_bytes + end_bytes AS bytes, (delete_ver > 0 OR moved = 1) AS hidden, version
FROM callhouse.calls;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.calls_to_by_parent TO callhouse.calls_by_parent AS
SELECT project_id, parent_id, started_at, id FROM callhouse.calls WHERE parent_id != '';

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.calls_to_turns TO callhouse.turns AS
SELECT project_id, thread_id, started_at, id, ended_at, (delete_ver > 0 OR moved = 1) AS hidden, version
FROM callhouse.calls
WHERE turn_id = id AND thread_id != '';
