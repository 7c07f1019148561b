-- Partitions of some tables.
SELECT DISTINCT table, partition_id AS id
FROM system.parts
WHERE active AND database = currentDatabase() AND table IN {tables:Array(String)}
ORDER BY table, id
