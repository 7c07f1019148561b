-- Calls stored under two start times, in the minutes that large batches marked past what is covered, up to `upTo`.
-- Reads only these minutes and the places of their ids.
WITH due AS
(
    SELECT DISTINCT project_id, minute FROM callhouse.call_unswept
    WHERE position > {minCovered:Int64} AND arrayExists((p, c, u) -> partition = p AND position > c AND position <= u,
        {partitions:Array(UInt32)}, {covered:Array(Int64)}, {upTo:Array(Int64)})
)
SELECT DISTINCT project_id, id
FROM callhouse.calls FINAL
WHERE moved = 0 AND (project_id, started_at, id) IN
(
    SELECT project_id, arrayJoin(groupUniqArray(started_at)), key
    FROM callhouse.call_keys
    WHERE kind = 'id' AND (project_id, key) IN
    (
        SELECT project_id, id
        FROM callhouse.calls
        WHERE started_at >= (SELECT min(minute) FROM due) AND started_at < toDateTime64((SELECT max(minute) + INTERVAL 1 MINUTE FROM due), 6, 'UTC')
            AND (project_id, toStartOfMinute(started_at)) IN (SELECT project_id, minute FROM due)
    )
    GROUP BY project_id, key
    HAVING min(started_at) < max(started_at)
)
GROUP BY project_id, id, if(length(id) = 16, trace_id, '')
HAVING uniqExact(started_at) > 1
LIMIT {limit:UInt64}
SETTINGS do_not_merge_across_partitions_select_final = 1, max_threads = 1
