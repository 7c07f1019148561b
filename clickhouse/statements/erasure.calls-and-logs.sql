-- Part of other statements: calls and log records that are deleted and stored, by what is told of either.
SELECT project_id, id, deleted, part
FROM (${calls})
UNION ALL
SELECT project_id, id, deleted, part
FROM (${logs})
