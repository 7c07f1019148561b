-- Counts the dirty seconds of minutes with many calls (call-counts-due); their other seconds stay as they are.
INSERT INTO callhouse.call_counts (project_id, minute, calls, roots, position, calls_by_second, roots_by_second)
WITH
    hot AS
    (
        SELECT one.1 AS project_id, toDateTime(one.2, 'UTC') AS minute, one.3 AS mask
        FROM (SELECT arrayJoin(arrayZip({projects:Array(String)}, {buckets:Array(UInt32)}, {seconds:Array(UInt64)})) AS one)
    ),
    due AS (SELECT project_id, minute + s AS second FROM hot ARRAY JOIN arrayFilter(s -> bitTest(mask, s), range(60)) AS s)
SELECT
    h.project_id, h.minute, arraySum(new_calls), arraySum(new_roots), {revision:UInt64},
    arrayMap((old, s) -> if(bitTest(h.mask, s), c.n[indexOf(c.seconds, s)], old), k.calls_by_second, range(60)) AS new_calls,
    arrayMap((old, s) -> if(bitTest(h.mask, s), c.r[indexOf(c.seconds, s)], old), k.roots_by_second, range(60)) AS new_roots
FROM hot AS h
LEFT JOIN
(
    SELECT * FROM callhouse.call_counts FINAL WHERE (project_id, minute) IN (SELECT project_id, minute FROM hot)
) AS k ON k.project_id = h.project_id AND k.minute = h.minute
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
            AND (project_id, toDateTime(started_at, 'UTC')) IN (SELECT project_id, second FROM due)
        GROUP BY project_id, minute, second
    )
    GROUP BY project_id, minute
) AS c ON c.project_id = h.project_id AND c.minute = h.minute
SETTINGS do_not_merge_across_partitions_select_final = 1
