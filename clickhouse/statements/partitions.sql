-- Partitions of some tables: of the audit log, of log records and of usage, to be dropped by age.
SELECT DISTINCT table, partition_id AS id
FROM system.parts
WHERE active AND database = currentDatabase() AND table IN {tables:Array(String)}
ORDER BY table, id
