-- Partitions of a table of the field index with something of payloads at some times.
SELECT DISTINCT _partition_id AS month
FROM callhouse.${table}
WHERE project_id IN {projects:Array(String)} AND most >= {least:Int64} AND least <= {most:Int64}
    AND arrayExists(us -> us IN {times:Array(Int64)}, at)
