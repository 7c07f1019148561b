-- projects that have a call (costs.project-of-call)
-- {"v0":"c"}
SELECT DISTINCT project_id
FROM callhouse.calls
WHERE (id = {v0:String}) AND ((project_id, started_at) IN (
    SELECT
        project_id,
        started_at
    FROM callhouse.call_keys
    WHERE (kind = 'id') AND (key = {v0:String})
))
ORDER BY project_id ASC
LIMIT 10
