-- Part of other statements: log records that were deleted by themselves and stay as they are held.
SELECT log.project_id AS project_id, log.id AS id, one.deleted AS deleted, log.part AS part
FROM
(
    SELECT project_id, at, id, max(clock) AS part
    FROM callhouse.logs
    WHERE ${where} AND (${heldRecord}) AND (project_id, at, id) IN
        (SELECT project_id, at, id FROM callhouse.logs_deleted WHERE ${where})
    GROUP BY project_id, at, id
) AS log
INNER JOIN (SELECT id, min(delete_ver) AS deleted FROM callhouse.logs_deleted WHERE ${where} GROUP BY id) AS one
    ON log.id = one.id
