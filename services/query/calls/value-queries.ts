// The statements behind /calls/fields and /calls/values: over the field index, over call headers, over feedback.

import type { ProjectId } from '../../core/ids.ts'
import { join, param, type Sql, sql } from '../../core/store/sql.ts'
import type { Query } from '../../core/store/store.ts'
import { type ProjectScope, projectQuery } from '../../events/project-query.ts'
import { asNumbers } from '../compact-rows.ts'
import { feedbackOnRefs } from '../feedback/condition.ts'
import type { Column } from '../language/types.ts'
import { inRange } from './access/field-index-queries.ts'
import { ofHeader } from './conditions/conditions.ts'
import type { Sample } from './sample.ts'
import { allOf, scopeConditions } from './scope.ts'

/** Values as a set that is looked up once. */
const setOf = (us: readonly number[]): Sql =>
  sql`(SELECT toInt64(arrayJoin(${param('Array(String)', us.map(String))})))`

function boundsOf(sample: Sample) {
  let fromUs = Number.POSITIVE_INFINITY
  let beforeUs = Number.NEGATIVE_INFINITY
  for (const { startedUs } of sample.calls) {
    if (startedUs < fromUs) fromUs = startedUs
    if (startedUs >= beforeUs) beforeUs = startedUs + 1
  }
  return { fromUs, beforeUs }
}

/** Rows (path, form, s) of the values of a sample's calls in the field index: form is a kind, or `bool`. */
function indexed(project: ProjectScope, sample: Sample, where: Sql): Sql {
  const values = sql`multiIf(kind = 'number', arrayMap(x -> toString(x), num), kind IN ('text', 'numeral'), str, arrayMap(x -> '', at))`
  const rows = project.from('payload_leaves', { where: allOf([where, ...inRange(boundsOf(sample), true)]) })
  const ofSample = [
    sql`(part != 'end' AND us IN ${setOf([...new Set(sample.calls.map(({ startedUs }) => startedUs))])})`,
  ]
  if (sample.endUs.length > 0) ofSample.push(sql`(part = 'end' AND us IN ${setOf([...new Set(sample.endUs)])})`)
  return sql`(SELECT path, if(kind = 'text' AND s IN ('true', 'false'), 'bool', toString(kind)) AS form, s
    FROM (SELECT path, kind, part, arrayJoin(arrayZip(at, ${values})) AS one, one.1 AS us, one.2 AS s ${rows})
    WHERE ${join(ofSample, ' OR ')})`
}

/** Rows (path, values per form as `[form, calls]`, calls): the commonest first. */
export const fieldsQuery = (projectId: ProjectId, sample: Sample, prefix: string, limit: number): Query =>
  projectQuery(
    'calls.fields',
    projectId,
    (project) => sql`SELECT path, groupArray((form, n)), sum(n) AS calls FROM
    (SELECT path, form, count() AS n FROM ${indexed(project, sample, sql`startsWith(path, ${param('String', prefix)})`)}
      GROUP BY path, form)
    GROUP BY path ORDER BY calls DESC, path LIMIT ${param('UInt64', limit)} ${asNumbers}`,
  )

/** Rows (path, form, value, calls) of some paths, at most `limit` values of each; `others` are rows without a value. */
export const indexedValuesQuery = (
  projectId: ProjectId,
  sample: Sample,
  ask: { paths: readonly string[]; prefix: string; limit: number },
): Query =>
  projectQuery('calls.values', projectId, (project) => {
    const starts = sql`(form IN ('long', 'hollow', 'opaque') OR positionCaseInsensitiveUTF8(s, ${param('String', ask.prefix)}) = 1)`
    const prefixed = ask.prefix === '' ? sql`1` : starts
    return sql`SELECT path, form, s, count() AS calls
    FROM ${indexed(project, sample, sql`path IN ${param('Array(String)', ask.paths)}`)} WHERE ${prefixed}
    GROUP BY path, form, s ORDER BY calls DESC, s LIMIT ${param('UInt64', ask.limit)} BY path ${asNumbers}`
  })

/** Rows (place of the column, value as text, calls). */
export const columnValuesQuery = (
  projectId: ProjectId,
  sample: Sample,
  ask: { columns: readonly Column[]; prefix: string; limit: number },
): Query =>
  projectQuery('calls.column-values', projectId, (project) => {
    const scope = { projectId, range: boundsOf(sample), index: null, keys: sample.calls }
    const pairs = ask.columns.map(
      (column, n) => sql`(${param('UInt8', n)}, ifNull(toString(${column.sql(ofHeader)}), ''))`,
    )
    const rows = project.from('calls', { alias: 'c', final: true, where: allOf(scopeConditions(project, scope)) })
    const prefixed =
      ask.prefix === '' ? sql`1` : sql`positionCaseInsensitiveUTF8(s, ${param('String', ask.prefix)}) = 1`
    return sql`SELECT n, s, count() AS calls
    FROM (SELECT arrayJoin([${join(pairs, ', ')}]) AS pair, pair.1 AS n, pair.2 AS s ${rows})
    WHERE s != '' AND ${prefixed} GROUP BY n, s ORDER BY calls DESC, s LIMIT ${param('UInt64', ask.limit)} BY n ${asNumbers}`
  })

/** Rows (feedback type, key of its payload, JSON type of the value, calls) of what a sample's calls were given. */
export const feedbackFieldsQuery = (projectId: ProjectId, sample: Sample, limit: number): Query =>
  projectQuery('calls.fields-feedback', projectId, (project) => {
    const before = param('String', `weave:///${projectId}/call/`)
    const refs = sql`SELECT concat(${before}, arrayJoin(${param(
      'Array(String)',
      sample.calls.map(({ id }) => id),
    )}))`
    const rows = project.from('feedback', {
      alias: 'f',
      final: true,
      where: sql`${feedbackOnRefs(project, refs)} AND f.purged = 0`,
    })
    return sql`SELECT feedback_type, member.1, toString(JSONType(member.2)) AS type, uniqExact(weave_ref) AS calls
    FROM (SELECT f.feedback_type AS feedback_type, f.weave_ref AS weave_ref,
      arrayJoin(JSONExtractKeysAndValuesRaw(f.payload)) AS member ${rows})
    GROUP BY feedback_type, member.1, type ORDER BY calls DESC, feedback_type, member.1 LIMIT ${param('UInt64', limit)} ${asNumbers}`
  })
