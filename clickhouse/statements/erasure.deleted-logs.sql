-- Part of other statements: log records that are deleted and stored and that nothing holds, with the accept timestamps of
-- the delete and of the record.
SELECT log.project_id AS project_id, log.id AS id, found.deleted AS deleted, log.part AS part, log.at AS at
FROM
(
    SELECT project_id, at, id, max(clock) AS part
    FROM callhouse.logs
    WHERE ${where} AND NOT (${heldRecord}) AND (project_id, at, id) IN (SELECT project_id, at, id FROM (${keys}))
    GROUP BY project_id, at, id
) AS log
INNER JOIN (${keys}) AS found ON log.project_id = found.project_id AND log.at = found.at AND log.id = found.id
