-- Removes the rows in a partition that are too old.
DELETE FROM callhouse.${table} IN PARTITION ID '${month}'
WHERE project_id IN {projects:Array(String)} AND ${us} < {before:Int64}${others}
