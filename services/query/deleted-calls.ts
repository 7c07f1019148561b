// Calls that are deleted, among some: their feedback and queue items are hidden with them.
import { type Sql, sql } from '../core/store/sql.ts'
import type { ProjectScope } from '../events/project-query.ts'

/**
 * Those of some calls that are deleted, as a set for IN.
 * @param ids list or subquery of their ids: what is read follows from it, not from how much is deleted
 */
export const deletedAmong = (project: ProjectScope, ids: Sql): Sql =>
  sql`(SELECT id ${project.from('calls_deleted', { where: sql`id IN (${ids})` })})`
