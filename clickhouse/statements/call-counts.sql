-- Recomputes the counts of dirty minutes: those marked past the position that the rollup covers, up to `upTo`.
INSERT INTO callhouse.call_counts
WITH due AS
(
    SELECT DISTINCT project_id, minute FROM callhouse.call_marks
    WHERE position > {minCovered:Int64} AND arrayExists((p, c, u) -> partition = p AND position > c AND position <= u,
        {partitions:Array(UInt32)}, {covered:Array(Int64)}, {upTo:Array(Int64)})
    AND (empty({slots:Array(UInt8)}) OR has({slots:Array(UInt8)}, CRC32(project_id) % 64))
)
SELECT d.project_id, d.minute, c.calls, c.roots, {revision:UInt64}
FROM due AS d
LEFT JOIN
(
    SELECT project_id, toStartOfMinute(started_at) AS minute, count() AS calls, countIf(parent_id = '') AS roots
    FROM callhouse.calls FINAL
    WHERE delete_ver = 0 AND moved = 0
        AND started_at >= (SELECT min(minute) FROM due)
        AND started_at < (SELECT max(minute) + INTERVAL 1 MINUTE FROM due)
        AND (project_id, toStartOfMinute(started_at)) IN (SELECT project_id, minute FROM due)
    GROUP BY project_id, minute
) AS c ON c.project_id = d.project_id AND c.minute = d.minute
SETTINGS do_not_merge_across_partitions_select_final = 1
