-- Projects with rows in a partition.
SELECT DISTINCT project_id
FROM callhouse.${table}
WHERE _partition_id = {month:String}
