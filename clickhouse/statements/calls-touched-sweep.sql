-- The sweep: calls that show under two start times because both arrived whole in large segments.
INSERT INTO callhouse.calls_touched
SELECT DISTINCT project_id, id
FROM callhouse.calls FINAL
WHERE moved = 0 AND (project_id, started_at, id) IN
(
    SELECT project_id, started_at, id
    FROM callhouse.calls_by_id
    WHERE (project_id, id) IN
    (
        SELECT project_id, id
        FROM callhouse.calls_by_id
        GROUP BY project_id, id, if(length(id) = 16, trace_id, '')
        HAVING uniqExact(started_at) > 1
        SETTINGS optimize_aggregation_in_order = 1
    )
)
GROUP BY project_id, id, if(length(id) = 16, trace_id, '')
HAVING uniqExact(started_at) > 1
SETTINGS do_not_merge_across_partitions_select_final = 1
