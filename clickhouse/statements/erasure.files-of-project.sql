-- How many files a project has, and their bytes.
SELECT toFloat64(count()) AS files, toFloat64(sum(size)) AS bytes
FROM
(
    SELECT digest, any(size_bytes) AS size
    FROM callhouse.files
    WHERE project_id = {project:String}
    GROUP BY digest
)
