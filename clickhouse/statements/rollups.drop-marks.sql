-- Drops a partition of dirty buckets.
ALTER TABLE callhouse.${table} DROP PARTITION ${n}
