-- Partitions of a table.
SELECT DISTINCT partition_id AS month
FROM system.parts
WHERE active AND database = currentDatabase() AND table = {table:String}
ORDER BY month
