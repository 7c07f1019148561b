// Jobs of /evaluations/evaluate_model that have not ended, of all projects: for whoever runs them.
import { sql, systemQuery } from '../../core/store/sql.ts'

export const queuedJobsQuery = systemQuery(
  'evaluation-jobs.queued',
  sql`SELECT project_id, call_id, user_id, evaluation_ref, model_ref FROM callhouse.evaluation_jobs FINAL
    WHERE state = 'queued' ORDER BY clock LIMIT 100 BY project_id LIMIT 10000`,
)
