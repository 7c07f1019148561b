-- Rows in a partition that are too old, by project.
SELECT project_id, toString(count()) AS n
FROM callhouse.${table}
WHERE _partition_id = {month:String} AND project_id IN {projects:Array(String)} AND ${us} < {before:Int64}${others}
GROUP BY project_id
