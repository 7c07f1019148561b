-- Copies the merged calls of a range of start times into the table.
INSERT INTO callhouse.calls
SELECT * FROM callhouse.calls_folded
WHERE toUnixTimestamp64Micro(started_at) >= {from:Int64} AND toUnixTimestamp64Micro(started_at) < {before:Int64}
SETTINGS max_partitions_per_insert_block = 16, throw_on_max_partitions_per_insert_block = 1
