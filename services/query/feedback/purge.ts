// Purging feedback: which of the named ids are there.
import type { ProjectId } from '../../core/ids.ts'
import { param, projectQuery, sql } from '../../core/store/sql.ts'
import type { Query } from '../../core/store/store.ts'

export const presentQuery = (projectId: ProjectId, ids: readonly string[]): Query =>
  projectQuery('feedback.present', projectId, (project) => {
    const where = sql`f.id IN (${param('Array(String)', ids)}) AND f.purged = 0`
    return sql`SELECT id ${project.from('feedback', { alias: 'f', final: true, where })} ORDER BY id`
  })
