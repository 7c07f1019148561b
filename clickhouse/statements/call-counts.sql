-- Recomputes the counters of the minutes that were marked after the rollup's position, up to `upto`.
INSERT INTO callhouse.call_counts
SELECT d.project_id, d.minute, c.calls, c.roots, {upto:UInt64}
FROM
(
    SELECT DISTINCT project_id, minute FROM callhouse.call_marks
    WHERE position > {covered:UInt64} AND position <= {upto:UInt64}
) AS d
LEFT JOIN
(
    SELECT project_id, toStartOfMinute(started_at) AS minute, count() AS calls, countIf(parent_id = '') AS roots
    FROM callhouse.calls FINAL
    WHERE delete_ver = 0 AND moved = 0
        AND started_at >= (SELECT min(minute) FROM callhouse.call_marks WHERE position > {covered:UInt64} AND position <= {upto:UInt64})
        AND started_at < (SELECT max(minute) + INTERVAL 1 MINUTE FROM callhouse.call_marks WHERE position > {covered:UInt64} AND position <= {upto:UInt64})
        AND (project_id, toStartOfMinute(started_at)) IN
        (
            SELECT project_id, minute FROM callhouse.call_marks
            WHERE position > {covered:UInt64} AND position <= {upto:UInt64}
        )
    GROUP BY project_id, minute
) AS c ON c.project_id = d.project_id AND c.minute = d.minute
SETTINGS do_not_merge_across_partitions_select_final = 1
