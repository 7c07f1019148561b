-- Calls stored under two start times, among all calls: after a repair or a rebuild, and where so much changed that
-- looking each id up would read more. In the order of the table, so that no set of all ids is built.
SELECT DISTINCT project_id, id
FROM callhouse.calls FINAL
WHERE moved = 0 AND (project_id, started_at, id) IN
(
    SELECT project_id, started_at, key
    FROM callhouse.call_keys
    WHERE kind = 'id' AND (project_id, key) IN
    (
        SELECT project_id, key
        FROM callhouse.call_keys
        WHERE kind = 'id'
        GROUP BY project_id, key
        HAVING min(started_at) < max(started_at)
        SETTINGS optimize_aggregation_in_order = 1
    )
)
GROUP BY project_id, id, if(length(id) = 16, trace_id, '')
HAVING uniqExact(started_at) > 1
LIMIT {limit:UInt64}
SETTINGS do_not_merge_across_partitions_select_final = 1, max_threads = 1
