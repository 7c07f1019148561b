-- Marks the minutes of a batch whose finished calls were not looked up one by one, for the deduplication. Written
-- before the position moves, for the partitions that dirty-buckets names.
INSERT INTO callhouse.call_unswept (project_id, partition, position, minute)
SELECT project_id, {partitions:Array(UInt32)}[place], {positions:Array(UInt64)}[place], minute
FROM (SELECT DISTINCT project_id, toStartOfMinute(started_at) AS minute FROM callhouse.calls_batch WHERE kind = 'complete')
ARRAY JOIN {sets:Array(Array(UInt32))}[transform(project_id, {projects:Array(String)}, {set_of:Array(UInt32)}, toUInt32(1))] AS place
