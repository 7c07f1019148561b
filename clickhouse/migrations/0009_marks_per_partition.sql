-- Marks and covered positions per partition of the log; a log with one partition has the number 0.
ALTER TABLE callhouse.call_marks ADD COLUMN IF NOT EXISTS partition UInt32, MODIFY ORDER BY (project_id, position, minute, partition);

ALTER TABLE callhouse.rollups ADD COLUMN IF NOT EXISTS partition UInt32, MODIFY ORDER BY (name, partition);

-- The revision under which a rollup last wrote: greater than that of every earlier recompute.
ALTER TABLE callhouse.rollups ADD COLUMN IF NOT EXISTS revision UInt64;
