-- Dirty minutes: those marked past the position that the rollup covers, up to `upTo`. Of a minute that is told by its
-- seconds `seconds` are the dirty ones as bits, of others 0: all. What is marked past `upTo` is counted too: another process
-- may have covered it under an earlier revision.
WITH marked AS
(
    SELECT project_id, minute, if(min(call_marks.seconds) = 0, 0, groupBitOr(call_marks.seconds)) AS mask
    FROM callhouse.call_marks
    WHERE position > {minCovered:Int64} AND arrayExists((p, c) -> partition = p AND position > c,
        {partitions:Array(UInt32)}, {covered:Array(Int64)})
    AND (empty({slots:Array(UInt8)}) OR has({slots:Array(UInt8)}, CRC32(project_id) % 64))
    GROUP BY project_id, minute
    HAVING max(arrayExists((p, u) -> partition = p AND position <= u, {partitions:Array(UInt32)}, {upTo:Array(Int64)}))
)
SELECT m.project_id AS project_id, toUInt32(m.minute) AS minute, toString(if(c.n = 60, m.mask, 0)) AS seconds
FROM marked AS m
LEFT JOIN
(
    SELECT project_id, minute, length(calls_by_second) AS n FROM callhouse.call_counts FINAL
    WHERE (project_id, minute) IN (SELECT project_id, minute FROM marked WHERE mask > 0)
) AS c ON c.project_id = m.project_id AND c.minute = m.minute
ORDER BY project_id, minute
