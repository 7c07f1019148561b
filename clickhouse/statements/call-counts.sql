-- Counts some minutes from the calls. A minute with many calls is told by its seconds from now on. The bounds are times of
-- the column's own type: against a `DateTime` the index leaves out what begins within the last second.
INSERT INTO callhouse.call_counts (project_id, minute, calls, roots, position, calls_by_second, roots_by_second)
WITH due AS
(
    SELECT one.1 AS project_id, toDateTime(one.2, 'UTC') AS minute
    FROM (SELECT arrayJoin(arrayZip({projects:Array(String)}, {buckets:Array(UInt32)})) AS one)
)
SELECT
    d.project_id, d.minute, arraySum(c.n), arraySum(c.r), {revision:UInt64},
    if(arraySum(c.n) < {manyCalls:UInt64}, [], arrayMap(s -> c.n[indexOf(c.seconds, s)], range(60))),
    if(arraySum(c.n) < {manyCalls:UInt64}, [], arrayMap(s -> c.r[indexOf(c.seconds, s)], range(60)))
FROM due AS d
LEFT JOIN
(
    SELECT project_id, minute, groupArray(second) AS seconds, groupArray(calls) AS n, groupArray(roots) AS r
    FROM
    (
        SELECT
            project_id, toStartOfMinute(started_at) AS minute, toSecond(started_at) AS second,
            toUInt32(count()) AS calls, toUInt32(countIf(parent_id = '' OR (project_id, started_at, id) IN
            (
                SELECT project_id, started_at, id FROM callhouse.orphan_roots FINAL
                WHERE is_orphan = 1 AND project_id IN (SELECT project_id FROM due)
                    AND started_at >= toDateTime64({from:Int64}, 6, 'UTC') AND started_at < toDateTime64({before:Int64}, 6, 'UTC')
            ))) AS roots
        FROM callhouse.calls FINAL
        WHERE delete_ver = 0 AND moved = 0
            AND started_at >= toDateTime64({from:Int64}, 6, 'UTC') AND started_at < toDateTime64({before:Int64}, 6, 'UTC')
            AND (project_id, toStartOfMinute(started_at)) IN (SELECT project_id, minute FROM due)
        GROUP BY project_id, minute, second
    )
    GROUP BY project_id, minute
) AS c ON c.project_id = d.project_id AND c.minute = d.minute
SETTINGS do_not_merge_across_partitions_select_final = 1
