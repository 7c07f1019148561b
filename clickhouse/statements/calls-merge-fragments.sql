-- Merges the fragments of each affected call: the newest start, the newest end, the newest name and any delete, from the
-- stored rows (all versions), the batch's own rows and the patches. A span id may occur in several traces, each with a
-- row of its own (identity scope). Rows under an earlier start time of the same call are marked superseded, one version
-- below. The batch's rows are read from the batch and not from the table, where a merge may already have dropped them:
-- so any order of arrival gives one answer. Times and keys are tested alone, too: that is cheaper than pairs, and comes
-- first for all rows of the granules.
INSERT INTO callhouse.calls_folded
WITH
    stored_fragments AS
    (
        SELECT
            project_id, id, started_at, trace_id, parent_id, thread_id, turn_id, op_name, user_id, run_id, run_step,
            input_refs, start_bytes, ended_at, exception, run_step_end, output_refs, output_at, error_count,
            usage_model, usage_requests, usage_input, usage_output, usage_total, usage_cache_read, usage_cache_write,
            end_bytes, if(moved = 1, 0, start_ver) AS start_ver, if(moved = 1, 0, end_ver) AS end_ver, display_name,
            name_ver, delete_ver, toUInt8(1) AS is_row
        FROM callhouse.calls
        WHERE (project_id, id) IN (SELECT project_id, id FROM callhouse.calls_touched) AND started_at IN
        (
            SELECT started_at FROM callhouse.call_keys
            WHERE kind = 'id' AND key IN (SELECT id FROM callhouse.calls_touched)
                AND (project_id, key) IN (SELECT project_id, id FROM callhouse.calls_touched)
        )
        UNION ALL
        SELECT
            project_id, id, started_at, trace_id, parent_id, thread_id, turn_id, op_name, user_id, run_id, run_step,
            input_refs, start_bytes, ended_at, exception, run_step_end, output_refs, output_at, error_count,
            usage_model, usage_requests, usage_input, usage_output, usage_total, usage_cache_read, usage_cache_write,
            end_bytes, clock, if(kind = 'complete', clock, 0), '', toUInt64(0), toUInt64(0), kind = 'complete'
        FROM callhouse.calls_batch
        WHERE kind IN ('complete', 'start')
            AND (project_id, id) IN (SELECT project_id, id FROM callhouse.calls_touched)
        UNION ALL
        SELECT
            project_id, id, started_at, trace_id, parent_id, thread_id, turn_id, op_name, user_id, run_id, run_step,
            input_refs, start_bytes, ended_at, exception, run_step_end, output_refs, output_at, error_count,
            usage_model, usage_requests, usage_input, usage_output, usage_total, usage_cache_read, usage_cache_write,
            end_bytes, clock, toUInt64(0), '', toUInt64(0), toUInt64(0), toUInt8(0)
        FROM callhouse.call_patches
        WHERE kind = 'start' AND (project_id, id) IN (SELECT project_id, id FROM callhouse.calls_touched)
    ),
    patched AS
    (
        SELECT
            project_id, id,
            argMaxIf((ended_at, exception, run_step_end, output_refs, output_at, error_count, usage_model,
                usage_requests, usage_input, usage_output, usage_total, usage_cache_read, usage_cache_write, end_bytes),
                clock, kind = 'end') AS end,
            maxIf(clock, kind = 'end') AS end_ver,
            argMaxIf(display_name, clock, kind = 'name') AS display_name,
            maxIf(clock, kind = 'name') AS name_ver,
            maxIf(clock, kind = 'delete') AS delete_ver
        FROM callhouse.call_patches
        WHERE kind IN ('end', 'name', 'delete')
            AND (project_id, id) IN (SELECT project_id, id FROM callhouse.calls_touched)
        GROUP BY project_id, id
    ),
    by_identity AS
    (
        SELECT
            project_id, id, if(length(id) = 16, trace_id, '') AS identity_scope,
            argMax((started_at, trace_id, parent_id, thread_id, turn_id, op_name, user_id, run_id, run_step,
                input_refs, start_bytes), start_ver) AS start,
            max(start_ver) AS max_start,
            argMax((ended_at, exception, run_step_end, output_refs, output_at, error_count, usage_model,
                usage_requests, usage_input, usage_output, usage_total, usage_cache_read, usage_cache_write, end_bytes),
                end_ver) AS end,
            max(end_ver) AS max_end,
            argMax(display_name, name_ver) AS name,
            max(name_ver) AS max_name,
            max(delete_ver) AS max_delete,
            groupUniqArrayIf(started_at, is_row = 1) AS row_times
        FROM stored_fragments
        GROUP BY project_id, id, identity_scope
        HAVING max_start > 0
    ),
    merged AS
    (
        SELECT
            j.project_id AS project_id, j.id AS id, j.start AS start, j.row_times AS row_times,
            if(p.end_ver > j.max_end, p.end, j.end) AS end,
            if(p.name_ver > j.max_name, p.display_name, j.name) AS name,
            j.max_start AS s, greatest(j.max_end, p.end_ver) AS e, greatest(j.max_name, p.name_ver) AS n,
            greatest(j.max_delete, p.delete_ver) AS d
        FROM by_identity AS j
        LEFT JOIN patched AS p ON p.project_id = j.project_id AND p.id = j.id
    )
SELECT
    project_id, row_time AS started_at, id, start.2, start.3, start.4, start.5, start.6, start.7, start.8, start.9,
    start.10, start.11, end.1, end.2, if(e = 0, -1, end.3), end.4, if(e = 0, start.1, end.5), end.6, end.7, end.8,
    end.9, end.10, end.11, end.12, end.13, end.14, name, s, e, n, d, row_time != start.1 AS is_moved,
    s + e + n + d - is_moved
FROM merged
ARRAY JOIN arrayDistinct(arrayPushBack(row_times, start.1)) AS row_time
