-- Ranges of time, per project, whose payloads the field index may lack: dirty minutes past what is covered, up to
-- `upTo`. Minutes with less than an hour between them share a range: indexed rows in it are left out later.
SELECT project_id, toString(min(m)) AS from_us, toString(max(m) + 60000000) AS before_us
FROM
(
    SELECT project_id, m, sum(gap > 3600000000) OVER (PARTITION BY project_id ORDER BY m) AS span
    FROM
    (
        SELECT project_id, m, m - lagInFrame(m, 1, m) OVER (PARTITION BY project_id ORDER BY m) AS gap
        FROM
        (
            SELECT DISTINCT project_id, toInt64(toUnixTimestamp(minute)) * 1000000 AS m
            FROM callhouse.call_marks
            WHERE position > {minCovered:Int64} AND arrayExists((p, c, u) -> partition = p AND position > c AND position <= u,
                {partitions:Array(UInt32)}, {covered:Array(Int64)}, {upTo:Array(Int64)})
            AND (empty({slots:Array(UInt8)}) OR has({slots:Array(UInt8)}, CRC32(project_id) % 64))
        )
    )
)
GROUP BY project_id, span
ORDER BY from_us DESC
