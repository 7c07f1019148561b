-- The calls of some traces as far as their usage is counted: with `every` all of them, else those of traces with at least two
-- that report any.
WITH named AS (SELECT arrayJoin(arrayZip({projects:Array(String)}, {traces:Array(String)})) AS pair, pair.1 AS project_id, pair.2 AS trace_id)
SELECT
    project_id AS project, trace_id AS trace, id, parent_id AS parent, toFloat64(toUnixTimestamp64Micro(started_at)) AS started_us,
    toString(end_ver) AS end_ver, if(has_usage, arrayMap(n -> toFloat64(n), counts), []) AS numbers
FROM
(
    SELECT
        project_id, trace_id, id, parent_id, started_at, end_ver, notEmpty(usage_model) AS has_usage,
        [arraySum(usage_requests), arraySum(usage_input), arraySum(usage_output), arraySum(usage_total),
            arraySum(usage_cache_read), arraySum(usage_cache_write)] AS counts,
        sum(has_usage) OVER (PARTITION BY project_id, trace_id) AS reporting
    FROM callhouse.calls FINAL
    WHERE (project_id, started_at) IN
        (
            SELECT project_id, started_at FROM callhouse.call_keys
            WHERE kind = 'trace_id' AND (project_id, key) IN (SELECT project_id, trace_id FROM named)
        )
        AND (project_id, trace_id) IN (SELECT project_id, trace_id FROM named)
        AND delete_ver = 0 AND moved = 0
)
WHERE reporting > 1 OR {every:UInt8} = 1
