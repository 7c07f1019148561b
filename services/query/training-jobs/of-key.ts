// The latest training job that was made with a key of a request.
import type { ProjectId } from '../../core/ids.ts'
import { param, sql } from '../../core/store/sql.ts'
import type { Query } from '../../core/store/store.ts'
import { projectQuery } from '../../events/project-query.ts'

export const jobOfKeyQuery = (projectId: ProjectId, requestKey: string): Query =>
  projectQuery('training_jobs.of_key', projectId, (project) => {
    const jobs = project.from('training_jobs', {
      final: true,
      where: sql`request_key = ${param('String', requestKey)}`,
    })
    return sql`SELECT id, toUnixTimestamp64Micro(created_at) AS created_us ${jobs} ORDER BY created_at DESC LIMIT 1`
  })
