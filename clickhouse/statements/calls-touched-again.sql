-- Finished rows of the segment whose id is stored with another start time too.
INSERT INTO callhouse.calls_touched
SELECT DISTINCT project_id, id
FROM callhouse.calls_by_id
WHERE (project_id, id) IN (SELECT project_id, id FROM callhouse.calls_batch WHERE kind = 'complete')
GROUP BY project_id, id, if(length(id) = 16, trace_id, '')
HAVING uniqExact(started_at) > 1
