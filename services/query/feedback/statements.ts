// The statements that read feedback: a page of rows, their number, and which of some ids are there.

import type { ProjectId } from '../../core/ids.ts'
import { join, param, type Sql, sql } from '../../core/store/sql.ts'
import type { Query } from '../../core/store/store.ts'
import { type ProjectScope, projectQuery } from '../../events/project-query.ts'
import { asFewNumbers, asNumbers, rowReader } from '../compact-rows.ts'
import type { Bounds, ListKey } from '../list-rows.ts'
import type { ShownMember } from './select.ts'

/** A condition on `feedback` under the alias `f`. */
export type Where = (project: ProjectScope) => Sql

export const feedbackCountQuery = (projectId: ProjectId, where: Where): Query =>
  projectQuery('feedback.count', projectId, (project) => {
    const from = project.from('feedback', { alias: 'f', final: true, where: where(project) })
    return sql`SELECT toUInt32(count()) AS count ${from}`
  })

const within = ({ limit, offset }: Bounds): Sql =>
  sql`LIMIT ${param('UInt64', limit ?? Number.MAX_SAFE_INTEGER)} OFFSET ${param('UInt64', offset)}`

const selectedColumns = (members: readonly ShownMember[]): Sql =>
  join(
    members.map((member) => member.sql),
    ', ',
  )

export const feedbackPageQuery = (
  projectId: ProjectId,
  where: Where,
  page: Bounds & { members: readonly ShownMember[]; order: Sql },
): Query =>
  projectQuery('feedback.page', projectId, (project) => {
    const from = project.from('feedback', { alias: 'f', final: true, where: where(project) })
    return sql`SELECT ${selectedColumns(page.members)} ${from}
    ORDER BY ${page.order} ${within(page)} ${asFewNumbers}`
  })

/** Sort values are computed before the rows are sorted: the values themselves are not sorted with them. */
export const feedbackKeys = rowReader<ListKey>({
  key: sql`f.id`,
  sizeBytes: sql`byteSize(f.payload, f.scorer_tags, f.scorer_tag_reasons, f.scorer_rating_reasons) AS size`,
})

/** Ids of a page and the bytes of their rows. */
export const feedbackKeysQuery = (projectId: ProjectId, where: Where, page: Bounds & { order: Sql }): Query =>
  projectQuery('feedback.keys', projectId, (project) => {
    const from = project.from('feedback', { alias: 'f', final: true, where: where(project) })
    return sql`SELECT ${feedbackKeys.select} ${from}
    ORDER BY ${page.order}, size ${within(page)} ${asNumbers}`
  })

/** Some items, with their ids behind the members. */
export const feedbackItemsQuery = (
  projectId: ProjectId,
  ids: readonly string[],
  members: readonly ShownMember[],
): Query =>
  projectQuery('feedback.items', projectId, (project) => {
    const where = sql`f.id IN (${param('Array(String)', ids)}) AND f.purged = 0`
    return sql`SELECT ${selectedColumns(members)}, f.id ${project.from('feedback', { alias: 'f', final: true, where })}
    ${asNumbers}`
  })

export const presentQuery = (projectId: ProjectId, ids: readonly string[]): Query =>
  projectQuery('feedback.present', projectId, (project) => {
    const where = sql`f.id IN (${param('Array(String)', ids)}) AND f.purged = 0`
    return sql`SELECT id, toString(f.clock) AS clock, user_id, weave_ref ${project.from('feedback', { alias: 'f', final: true, where })} ORDER BY id`
  })
