-- Sums the counts of the hours whose minutes were recomputed for the same dirty buckets. The version of an hour is the sum
-- of those of its minutes: of two workers that recompute at the same time, the one that read the later minutes wins.
INSERT INTO callhouse.call_counts_hourly
SELECT project_id, toStartOfHour(minute) AS hour, sum(calls), sum(roots), sum(position)
FROM callhouse.call_counts FINAL
WHERE (project_id, toStartOfHour(minute)) IN
(
    SELECT project_id, toStartOfHour(minute) FROM callhouse.call_marks
    WHERE position > {minCovered:Int64} AND arrayExists((p, c, u) -> partition = p AND position > c AND position <= u,
        {partitions:Array(UInt32)}, {covered:Array(Int64)}, {upTo:Array(Int64)})
    AND (empty({slots:Array(UInt8)}) OR has({slots:Array(UInt8)}, CRC32(project_id) % 64))
)
GROUP BY project_id, hour
