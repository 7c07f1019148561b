-- Partitions of a table in which some rows were removed: others need no look into their rows.
SELECT DISTINCT partition_id AS month
FROM system.parts
WHERE active AND has_lightweight_delete AND database = currentDatabase() AND table = {table:String}
