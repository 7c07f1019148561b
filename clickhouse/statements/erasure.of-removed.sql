-- Which of some projects a table has rows of; with a mask of 0 also rows that are removed and still in a file.
SELECT DISTINCT project_id
FROM callhouse.${table}
WHERE project_id IN {projects:Array(String)}
SETTINGS apply_deleted_mask = ${mask}
