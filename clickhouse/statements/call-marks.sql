-- Marks the minutes that the segment touched. Written after its rows and before its position moves.
INSERT INTO callhouse.call_marks
SELECT DISTINCT project_id, {position:UInt64}, toStartOfMinute(started_at)
FROM
(
    SELECT project_id, started_at FROM callhouse.calls_batch WHERE kind = 'complete'
    UNION ALL
    SELECT project_id, started_at FROM callhouse.calls_folded
)
