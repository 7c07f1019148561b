-- How many fragments of hidden calls there are, by project.
SELECT project_id, toString(count()) AS n
FROM callhouse.call_patches
WHERE ${where}
GROUP BY project_id
