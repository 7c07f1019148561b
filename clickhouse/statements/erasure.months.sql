-- Partitions of a table with rows to be removed.
SELECT _partition_id AS month, toString(count()) AS n
FROM callhouse.${table}
WHERE project_id = {project:String} AND (${where})
GROUP BY month
