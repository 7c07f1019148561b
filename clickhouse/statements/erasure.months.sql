-- Rows to be removed, by partition and project.
SELECT _partition_id AS month, project_id, toString(count()) AS n
FROM callhouse.${table}
WHERE project_id IN {projects:Array(String)} AND ${partition} AND (${where})
GROUP BY month, project_id
