-- Partitions whose files hold removed rows.
SELECT DISTINCT table, partition_id AS id
FROM system.parts
WHERE active AND has_lightweight_delete AND database = currentDatabase() AND table IN {tables:Array(String)}
ORDER BY table, id
