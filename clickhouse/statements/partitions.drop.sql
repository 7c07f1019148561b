-- Drops one partition of a table.
ALTER TABLE callhouse.${table} DROP PARTITION ID '${id}'
