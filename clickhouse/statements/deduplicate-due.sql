-- Number of calls in the minutes that the next deduplication looks at.
WITH due AS
(
    SELECT DISTINCT project_id, minute FROM callhouse.call_unswept
    WHERE position > {minCovered:Int64} AND arrayExists((p, c, u) -> partition = p AND position > c AND position <= u,
        {partitions:Array(UInt32)}, {covered:Array(Int64)}, {upTo:Array(Int64)})
)
SELECT toFloat64(count()) AS n
FROM callhouse.calls
WHERE started_at >= (SELECT min(minute) FROM due) AND started_at < toDateTime64((SELECT max(minute) + INTERVAL 1 MINUTE FROM due), 6, 'UTC')
    AND (project_id, toStartOfMinute(started_at)) IN (SELECT project_id, minute FROM due)
SETTINGS max_threads = 1
