// The texts that call queries read from feedback: one per call and field, made from the feedback of the call.
import type { ProjectId } from '../../core/ids.ts'
import { identifier, join, param, type Sql, sql } from '../../core/store/sql.ts'
import type { ProjectScope } from '../../events/project-query.ts'
import { jsonString } from '../language/json-sql.ts'
import type { PathSegment } from '../language/types.ts'
import { feedbackColumn } from './fields.ts'

/** A text made from the feedback of a call. */
export type FeedbackText = {
  name: `feedback_${number}`
  /** Feedback type; null = any. */
  type: string | null
  column: 'payload' | 'runnable_ref' | 'trigger_ref'
  path: readonly PathSegment[]
  /**
   * `oldest`: the column of the oldest row, as JSON text. `first`: the first value that is not empty, as a JSON string.
   * `all`: all of those, as a JSON list.
   */
  pick: 'oldest' | 'first' | 'all'
}

/** A value of one row as text, '' when it has none. */
function valueSql({ column, path }: FeedbackText): Sql {
  if (column === 'payload') return jsonString({ document: 'payload', path }, feedbackColumn)
  return sql`ifNull(${identifier(`f.${column}`)}, '')`
}

const age = sql`(f.created_at, f.id)`

function textSql(field: FeedbackText): Sql {
  const ofType = field.type === null ? sql`1` : sql`f.feedback_type = ${param('String', field.type)}`
  if (field.pick === 'oldest') {
    const text =
      field.column === 'payload'
        ? feedbackColumn('payload')
        : sql`if(isNull(${identifier(`f.${field.column}`)}), 'null', toJSONString(${valueSql(field)}))`
    return sql`argMinIf(${text}, ${age}, ${ofType})`
  }
  const value = valueSql(field)
  const isFound = sql`${ofType} AND ${value} != ''`
  if (field.pick === 'first') return sql`argMinIf(toJSONString(${value}), ${age}, ${isFound})`
  const rows = sql`groupArrayIf((f.created_at, f.id, ${value}), ${isFound})`
  return sql`toJSONString(arrayMap(row -> row.3, arraySort(${rows})))`
}

/** Types of the fields; null = any. */
function typesOf(fields: readonly FeedbackText[]): string[] | null {
  const types = fields.flatMap(({ type }) => type ?? [])
  return types.length < fields.length ? null : [...new Set(types)]
}

const ofTypes = (column: Sql, types: string[] | null): Sql =>
  types === null ? sql`1` : sql`${column} IN (${param('Array(String)', types)})`

/**
 * SELECT of `call_id` and the fields' texts, for calls that have such feedback.
 * @param calls subquery of the ids to look at, a superset; null = all
 */
export function feedbackTexts(
  project: ProjectScope,
  projectId: ProjectId,
  fields: readonly FeedbackText[],
  calls: Sql | null,
): Sql {
  const prefix = `weave:///${projectId}/call/`
  const [ref, types] = [param('String', prefix), typesOf(fields)]
  // Versions that a later event replaced are among the ids: FINAL decides.
  const ids = calls
    ? project.from('feedback_by_ref', { where: sql`weave_ref IN (SELECT concat(${ref}, id) FROM ${calls})` })
    : project.from('feedback', { where: ofTypes(sql`feedback_type`, types) })
  const where = sql`f.id IN (SELECT id ${ids}) AND f.purged = 0 AND startsWith(f.weave_ref, ${ref})
    AND ${ofTypes(sql`f.feedback_type`, types)}`
  const texts = fields.map((field) => sql`${textSql(field)} AS ${identifier(field.name)}`)
  const start = param('UInt32', Buffer.byteLength(prefix) + 1)
  return sql`SELECT substring(f.weave_ref, ${start}) AS call_id, ${join(texts, ', ')}
    ${project.from('feedback', { alias: 'f', final: true, where })} GROUP BY call_id`
}

/** Number of rows of the fields' types, versions that were replaced included. */
export const feedbackRows = (project: ProjectScope, fields: readonly FeedbackText[]): Sql =>
  sql`SELECT count() AS rows ${project.from('feedback', { where: ofTypes(sql`feedback_type`, typesOf(fields)) })}`
