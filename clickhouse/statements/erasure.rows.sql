-- Removes rows of one partition: files of others are not touched.
DELETE FROM callhouse.${table} IN PARTITION ID '${month}'
WHERE project_id IN {projects:Array(String)} AND (${where})
