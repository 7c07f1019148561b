-- Dirty minutes: those marked past the position that the rollup covers, up to `upTo`. Of a minute that is told by its
-- seconds `seconds` are the dirty ones as bits, of others 0: all. What is marked past `upTo` is counted too: another process
-- may have covered it under an earlier revision.
-- A minute with many calls is made of its seconds once all of these have rows (`secondRows` in all) that are no older than its own.
WITH
    marked AS
    (
        SELECT project_id, minute, if(min(call_marks.seconds) = 0, 0, groupBitOr(call_marks.seconds)) AS mask
        FROM callhouse.call_marks
        WHERE position > {minCovered:Int64} AND arrayExists((p, c) -> partition = p AND position > c,
            {partitions:Array(UInt32)}, {covered:Array(Int64)})
        AND (empty({slots:Array(UInt8)}) OR has({slots:Array(UInt8)}, CRC32(project_id) % 64))
        -- the calls of these minutes may be removed, and what was counted of them is still seen
        AND toInt64(toUnixTimestamp(minute)) >= transform(project_id, {agedProjects:Array(String)}, {countedFrom:Array(Int64)}, toInt64(0))
        GROUP BY project_id, minute
        HAVING max(arrayExists((p, u) -> partition = p AND position <= u, {partitions:Array(UInt32)}, {upTo:Array(Int64)}))
    ),
    parts AS
    (
        SELECT
            project_id, toStartOfMinute(bucket) AS minute, sumIf(calls, seconds = 60) AS calls,
            countIf(seconds = 1) AS seconds_there, maxIf(revision, seconds = 1) = maxIf(revision, seconds = 60) AS is_made_of_them
        FROM callhouse.${table} FINAL
        WHERE seconds IN (1, 60) AND (project_id, toStartOfMinute(bucket)) IN (SELECT project_id, minute FROM marked WHERE mask > 0)
        GROUP BY project_id, minute
    )
SELECT
    m.project_id AS project_id, toUInt32(m.minute) AS minute,
    toString(multiIf(p.calls < {manyCalls:UInt64}, 0, p.seconds_there = ${secondRows} AND p.is_made_of_them, m.mask,
        m.mask > 0, bitShiftLeft(toUInt64(1), 60) - 1, 0)) AS seconds
FROM marked AS m
LEFT JOIN parts AS p ON p.project_id = m.project_id AND p.minute = m.minute
ORDER BY project_id, minute
