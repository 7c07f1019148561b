-- Part of other statements: calls that are deleted and stored, with the accept timestamps of the delete and of the oldest
-- fragment that is stored.
SELECT
    project_id,
    id,
    delete_ver AS deleted,
    if(start_ver = 0 OR (end_ver > 0 AND end_ver < start_ver), end_ver, start_ver) AS part
FROM callhouse.calls
WHERE delete_ver > 0 AND ${where}
UNION ALL
SELECT project_id, id, maxIf(clock, kind = 'delete'), minIf(clock, kind != 'delete')
FROM callhouse.call_patches
WHERE (project_id, id) IN (SELECT project_id, id FROM callhouse.call_patches WHERE kind = 'delete') AND ${where}
GROUP BY project_id, id
HAVING countIf(kind != 'delete') > 0
