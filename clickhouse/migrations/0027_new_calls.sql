-- Batches of calls that nothing is stored of land in tables of their own: nothing that only a merge needs is filled from
-- them (docs/adr/0045). The same columns as calls_in. First: all of them finished.
CREATE TABLE IF NOT EXISTS callhouse.finished_calls_in AS callhouse.calls_in ENGINE = Null;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.finished_calls_in_to_calls TO callhouse.calls AS
SELECT
    project_id, fromUnixTimestamp64Micro(started_us, 'UTC') AS started_at, id, trace_id, parent_id, thread_id, turn_id,
    op_name, user_id, run_id, run_step, input_refs, start_bytes,
    fromUnixTimestamp64Micro(ended_us, 'UTC') AS ended_at, exception, run_step_end, output_refs,
    started_at AS output_at, error_count, usage_model, usage_requests, usage_input, usage_output, usage_total,
    usage_cache_read, usage_cache_write, end_bytes, '' AS display_name,
    clock AS start_ver, clock AS end_ver, toUInt64(0) AS name_ver, toUInt64(0) AS delete_ver,
    toUInt8(0) AS moved, start_ver + end_ver AS version
FROM callhouse.finished_calls_in;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.finished_calls_in_to_payloads TO callhouse.payloads AS
SELECT
    project_id, fromUnixTimestamp64Micro(started_us, 'UTC') AS at, id,
    CAST(0, 'Enum8(\'both\' = 0, \'start\' = 1, \'end\' = 2)') AS part,
    clock, odd, attributes, inputs, output, summary, otel_dump
FROM callhouse.finished_calls_in;

-- The same with calls that have only begun, whose starts stay fragments too.
CREATE TABLE IF NOT EXISTS callhouse.begun_calls_in AS callhouse.calls_in ENGINE = Null;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.begun_calls_in_to_calls TO callhouse.calls AS
SELECT
    project_id, fromUnixTimestamp64Micro(started_us, 'UTC') AS started_at, id, trace_id, parent_id, thread_id, turn_id,
    op_name, user_id, run_id, run_step, input_refs, start_bytes,
    fromUnixTimestamp64Micro(ended_us, 'UTC') AS ended_at, exception, run_step_end, output_refs,
    started_at AS output_at, error_count, usage_model, usage_requests, usage_input, usage_output, usage_total,
    usage_cache_read, usage_cache_write, end_bytes, '' AS display_name,
    clock AS start_ver, if(kind = 'complete', clock, toUInt64(0)) AS end_ver, toUInt64(0) AS name_ver,
    toUInt64(0) AS delete_ver, toUInt8(0) AS moved, start_ver + end_ver AS version
FROM callhouse.begun_calls_in;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.begun_calls_in_to_payloads TO callhouse.payloads AS
SELECT
    project_id, fromUnixTimestamp64Micro(started_us, 'UTC') AS at, id,
    CAST(if(kind = 'complete', 0, 1), 'Enum8(\'both\' = 0, \'start\' = 1, \'end\' = 2)') AS part,
    clock, odd, attributes, inputs, output, summary, otel_dump
FROM callhouse.begun_calls_in;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.begun_calls_in_to_patches TO callhouse.call_patches AS
SELECT
    project_id, id, kind, clock, fromUnixTimestamp64Micro(started_us, 'UTC') AS started_at, trace_id, parent_id,
    thread_id, turn_id, op_name, user_id, run_id, run_step, input_refs, start_bytes,
    fromUnixTimestamp64Micro(ended_us, 'UTC') AS ended_at, exception, run_step_end, output_refs,
    fromUnixTimestamp64Micro(payload_us, 'UTC') AS output_at, error_count, usage_model, usage_requests, usage_input,
    usage_output, usage_total, usage_cache_read, usage_cache_write, end_bytes, display_name
FROM callhouse.begun_calls_in
WHERE kind = 'start';
