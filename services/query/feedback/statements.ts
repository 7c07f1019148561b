// The statements that read feedback: a page of rows, their number, and which of some ids are there.
import type { ProjectId } from '../../core/ids.ts'
import { join, type ProjectScope, param, projectQuery, type Sql, sql } from '../../core/store/sql.ts'
import type { Query } from '../../core/store/store.ts'
import { asNumbers } from '../calls/light.ts'
import type { Member } from './select.ts'

/** A condition on `feedback` under the alias `f`. */
export type Where = (project: ProjectScope) => Sql

export const countQuery = (projectId: ProjectId, where: Where): Query =>
  projectQuery('feedback.count', projectId, (project) => {
    const from = project.from('feedback', { alias: 'f', final: true, where: where(project) })
    return sql`SELECT toUInt32(count()) AS count ${from}`
  })

export const pageQuery = (
  projectId: ProjectId,
  where: Where,
  page: { members: readonly Member[]; order: Sql; limit: number | null; offset: number },
): Query =>
  projectQuery('feedback.page', projectId, (project) => {
    const columns = page.members.map((member) => member.sql)
    const from = project.from('feedback', { alias: 'f', final: true, where: where(project) })
    const limit = param('UInt64', page.limit ?? Number.MAX_SAFE_INTEGER)
    return sql`SELECT ${join(columns, ', ')} ${from}
    ORDER BY ${page.order} LIMIT ${limit} OFFSET ${param('UInt64', page.offset)} ${asNumbers}`
  })

export const presentQuery = (projectId: ProjectId, ids: readonly string[]): Query =>
  projectQuery('feedback.present', projectId, (project) => {
    const where = sql`f.id IN (${param('Array(String)', ids)}) AND f.purged = 0`
    return sql`SELECT id ${project.from('feedback', { alias: 'f', final: true, where })} ORDER BY id`
  })
