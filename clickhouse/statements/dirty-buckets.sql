-- Marks the minutes that a batch changed as dirty, and their seconds where `by_second` is 1: those of its calls, and of the
-- payloads of ends that came alone. Written after its rows and before its position moves, for each partition that rows of the project came from,
-- as any of them may be reassigned alone. `sets` are numbers of partitions; the first holds all, for projects not listed.
INSERT INTO callhouse.call_marks (project_id, partition, position, minute, seconds)
SELECT project_id, {partitions:Array(UInt32)}[place], {positions:Array(UInt64)}[place], minute, seconds
FROM
(
    SELECT project_id, toStartOfMinute(time) AS minute, groupBitOr(bitShiftLeft(toUInt64({by_second:UInt8}), toSecond(time))) AS seconds
    FROM
    (
        SELECT project_id, started_at AS time FROM callhouse.calls_batch WHERE kind = 'complete'
        UNION ALL
        SELECT project_id, output_at FROM callhouse.calls_batch WHERE kind IN ('start', 'end')
        UNION ALL
        SELECT project_id, started_at FROM callhouse.calls_folded
    )
    GROUP BY project_id, minute
)
ARRAY JOIN {sets:Array(Array(UInt32))}[transform(project_id, {projects:Array(String)}, {set_of:Array(UInt32)}, toUInt32(1))] AS place
