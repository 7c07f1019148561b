-- Affected calls of the batch, with fragments elsewhere: its patches, finished rows with earlier patches, and finished
-- rows that came twice in the batch with different start times.
INSERT INTO callhouse.calls_touched
SELECT project_id, id FROM callhouse.calls_batch WHERE kind != 'complete'
UNION DISTINCT
SELECT project_id, id FROM callhouse.call_patches
WHERE (project_id, id) IN (SELECT project_id, id FROM callhouse.calls_batch WHERE kind = 'complete')
UNION DISTINCT
SELECT project_id, id FROM callhouse.calls_batch WHERE kind = 'complete'
GROUP BY project_id, id HAVING uniqExact(started_at) > 1
