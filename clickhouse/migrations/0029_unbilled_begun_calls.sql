-- As unbilled_calls_in (unbilled_calls.sql), with calls that have only begun. Of these `counts_cached` is told by the start;
-- without anything in `billed_usage` it is 0 for finished ones.
CREATE TABLE IF NOT EXISTS callhouse.unbilled_begun_calls_in AS callhouse.calls_in ENGINE = Null;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.unbilled_begun_calls_in_to_calls TO callhouse.calls AS
SELECT
    project_id, fromUnixTimestamp64Micro(started_us, 'UTC') AS started_at, id, trace_id, parent_id, thread_id, turn_id,
    op_name, user_id, run_id, run_step, input_refs, start_bytes,
    fromUnixTimestamp64Micro(ended_us, 'UTC') AS ended_at, exception, run_step_end, output_refs,
    started_at AS output_at, error_count, usage_model, usage_requests, usage_input, usage_output, usage_total,
    usage_cache_read, usage_cache_write, end_bytes, '' AS display_name,
    clock AS start_ver, if(kind = 'complete', clock, toUInt64(0)) AS end_ver, toUInt64(0) AS name_ver,
    toUInt64(0) AS delete_ver, toUInt8(0) AS moved, start_ver + end_ver AS version
FROM callhouse.unbilled_begun_calls_in;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.unbilled_begun_calls_in_to_payloads TO callhouse.payloads AS
SELECT
    project_id, fromUnixTimestamp64Micro(started_us, 'UTC') AS at, id,
    CAST(if(kind = 'complete', 0, 1), 'Enum8(\'both\' = 0, \'start\' = 1, \'end\' = 2)') AS part,
    clock, odd, attributes, inputs, output, summary, otel_dump,
    CAST([], 'Array(Tuple(model String, inside Int64, apart Int64, cache_read Int64, cache_write Int64, cache_write_1h Int64, more_output Int64))') AS billed_usage,
    kind = 'start' AND (otel_dump != ''
        OR (position(attributes, 'python-sdk') > 0 AND JSONExtractString(attributes, 'weave', 'source') = 'python-sdk'
            AND arrayMap(n -> toUInt32OrZero(n), splitByChar('.', JSONExtractString(attributes, 'weave', 'client_version'))) >= [0, 54])) AS counts_cached
FROM callhouse.unbilled_begun_calls_in;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.unbilled_begun_calls_in_to_patches TO callhouse.call_patches AS
SELECT
    project_id, id, kind, clock, fromUnixTimestamp64Micro(started_us, 'UTC') AS started_at, trace_id, parent_id,
    thread_id, turn_id, op_name, user_id, run_id, run_step, input_refs, start_bytes,
    fromUnixTimestamp64Micro(ended_us, 'UTC') AS ended_at, exception, run_step_end, output_refs,
    fromUnixTimestamp64Micro(payload_us, 'UTC') AS output_at, error_count, usage_model, usage_requests, usage_input,
    usage_output, usage_total, usage_cache_read, usage_cache_write, end_bytes, display_name
FROM callhouse.unbilled_begun_calls_in
WHERE kind = 'start';
