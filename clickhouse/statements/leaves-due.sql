-- Spans of time, per project, whose payloads may lack leaves: marked minutes after what is covered, up to `upto`.
-- Minutes with less than an hour between them make one span: rows that have leaves already are passed over later.
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
            WHERE position > {least:Int64} AND arrayExists((p, c, u) -> partition = p AND position > c AND position <= u,
                {partitions:Array(UInt32)}, {covered:Array(Int64)}, {upto:Array(Int64)})
        )
    )
)
GROUP BY project_id, span
ORDER BY from_us DESC
