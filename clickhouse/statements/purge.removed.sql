-- Rows in the files of a partition by project, and what times those have that are removed.
SELECT
    project_id,
    toString(count()) AS rows,
    toString(countIf(_row_exists = 0)) AS removed,
    toString(minIf(${us}, _row_exists = 0)) AS oldest,
    toString(maxIf(${us}, _row_exists = 0)) AS newest
FROM callhouse.${table}
WHERE _partition_id = {month:String}
GROUP BY project_id
SETTINGS apply_deleted_mask = 0
