-- jobs that have not ended (evaluation-jobs.queued)
-- {}
SELECT
    project_id,
    call_id,
    user_id,
    evaluation_ref,
    model_ref
FROM callhouse.evaluation_jobs
FINAL
WHERE state = 'queued'
ORDER BY clock ASC
LIMIT 100 BY project_id
LIMIT 10000
