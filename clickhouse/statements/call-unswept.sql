-- The minutes of a segment whose finished calls were not looked up one by one; written before its position moves.
INSERT INTO callhouse.call_unswept (project_id, partition, position, minute)
SELECT DISTINCT project_id, part.1, part.2, toStartOfMinute(started_at)
FROM callhouse.calls_batch
ARRAY JOIN arrayZip({partitions:Array(UInt32)}, {positions:Array(UInt64)}) AS part
WHERE kind = 'complete'
