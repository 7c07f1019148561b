-- Stored calls by project, trace and id, of one fragment alone. Their payloads: log-joins-payloads.
SELECT
    project_id, id, toString(start_ver) AS clock, trace_id,
    toString(toUnixTimestamp64Micro(started_at)) AS started_us, toString(toUnixTimestamp64Micro(ended_at)) AS ended_us,
    parent_id, thread_id, turn_id, op_name, exception, user_id, run_id,
    toString(run_step) AS run_step, toString(run_step_end) AS run_step_end,
    input_refs, output_refs, error_count, usage_model,
    arrayMap(n -> toString(n), usage_requests) AS usage_requests, arrayMap(n -> toString(n), usage_input) AS usage_input,
    arrayMap(n -> toString(n), usage_output) AS usage_output, arrayMap(n -> toString(n), usage_total) AS usage_total,
    arrayMap(n -> toString(n), usage_cache_read) AS usage_cache_read,
    arrayMap(n -> toString(n), usage_cache_write) AS usage_cache_write
FROM callhouse.calls FINAL
WHERE (project_id, started_at, id) IN
    (
        SELECT project_id, started_at, key FROM callhouse.call_keys
        WHERE kind = 'id' AND (project_id, key) IN arrayZip({projects:Array(String)}, {ids:Array(String)})
    )
    AND (project_id, trace_id, id) IN arrayZip({projects:Array(String)}, {traces:Array(String)}, {ids:Array(String)})
    AND moved = 0 AND delete_ver = 0 AND end_ver = start_ver
