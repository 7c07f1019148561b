-- Marks the minutes that the segment touched: of its calls, and of the payloads of ends that came alone. Written after
-- its rows and before its position moves; for every partition that its rows came from, as any of them may move alone.
INSERT INTO callhouse.call_marks (project_id, partition, position, minute)
SELECT DISTINCT project_id, part.1, part.2, toStartOfMinute(started_at)
FROM
(
    SELECT project_id, started_at FROM callhouse.calls_batch WHERE kind = 'complete'
    UNION ALL
    SELECT project_id, output_at FROM callhouse.calls_batch WHERE kind IN ('start', 'end')
    UNION ALL
    SELECT project_id, started_at FROM callhouse.calls_folded
)
ARRAY JOIN arrayZip({partitions:Array(UInt32)}, {positions:Array(UInt64)}) AS part
