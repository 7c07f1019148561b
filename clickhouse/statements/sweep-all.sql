-- Calls that show under two start times, of all that are stored: after a repair or a rebuild, and where so much changed
-- that looking each id up would read more. In the order of the table, so that no set of all ids is made.
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
LIMIT {limit:UInt64}
SETTINGS do_not_merge_across_partitions_select_final = 1, max_threads = 1
