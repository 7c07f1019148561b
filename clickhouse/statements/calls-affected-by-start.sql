-- Affected calls: finished rows of the batch whose id is stored with another start time too.
INSERT INTO callhouse.calls_touched
SELECT project_id, key
FROM callhouse.call_keys
WHERE kind = 'id' AND (project_id, key) IN (SELECT project_id, id FROM callhouse.calls_batch WHERE kind = 'complete')
GROUP BY project_id, key
HAVING min(started_at) < max(started_at)
