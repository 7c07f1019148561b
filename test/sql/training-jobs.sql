-- the job of a key (training_jobs.of_key)
-- {"v0":"ent/proj","v1":"key"}
SELECT
    id,
    toUnixTimestamp64Micro(created_at) AS created_us
FROM callhouse.training_jobs
FINAL
WHERE (project_id = {v0:String}) AND (request_key = {v1:String})
ORDER BY created_at DESC
LIMIT 1
