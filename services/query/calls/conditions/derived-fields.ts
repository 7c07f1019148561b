// The derived fields of calls as SQL: joined from feedback, queues and whole traces, or looked up behind the refs of a document.
import { identifier, join, param, type Sql, sql } from '../../../core/store/sql.ts'
import type { ProjectScope } from '../../../events/project-query.ts'
import { queueTexts } from '../../annotation-queues/call-texts.ts'
import { feedbackTexts } from '../../feedback/call-texts.ts'
import { jsonString } from '../../language/json-sql.ts'
import type { ColumnSql } from '../../language/types.ts'
import { allOf, type Scope, timeConditions } from '../access/scope.ts'
import { isFeedback, isRefField } from './joins.ts'
import { isTraceField, traceKey } from './trace-fields.ts'
import type { CompiledCondition, DerivedField, DerivedFields, RefField } from './types.ts'

/** Values behind refs: the texts of refs and, at the same places, the documents behind them. */
export type Behind = ReadonlyMap<RefField['name'], { refs: string[]; documents: string[] }>

export type DerivedTexts = { fields: DerivedFields; behind: Behind }

/** Ids of the calls of a scope as a subquery, a superset; null = all of the project. */
function idsOf(project: ProjectScope, { projectId, range, index, keys }: Scope): Sql | null {
  const ids = keys?.map((key) => key.id)
  if (ids) return sql`(SELECT arrayJoin(${param('Array(String)', ids)}) AS id)`
  const where = timeConditions(project, sql`started_at`, { projectId, range, index, keys })
  return where.length === 0 ? null : sql`(SELECT id ${project.from('calls', { where: allOf(where) })})`
}

/** The tables that derived fields are joined from. */
const tablesOf = (names: ReadonlySet<DerivedField>): { feedback: boolean; queues: boolean; traces: boolean } => ({
  feedback: [...names].some(isFeedback),
  queues: names.has('queues'),
  traces: readsTraces(names),
})

export const readsTraces = (names: ReadonlySet<DerivedField>): boolean => [...names].some(isTraceField)

function traceRows(project: ProjectScope, { traces }: Pick<DerivedFields, 'traces'>): Sql {
  if (traces.rows === null) throw new Error('whole traces were not looked up')
  return traces.rows(project)
}

/** Texts of the calls that have any, with their `call_id`, from the one table that the names are of. */
function textsOf(
  project: ProjectScope,
  scope: Scope,
  { feedback }: Pick<DerivedFields, 'feedback'>,
  names: ReadonlySet<DerivedField>,
): Sql {
  const calls = idsOf(project, scope)
  if (names.has('queues')) return queueTexts(project, calls)
  const fields = feedback.filter(({ name }) => names.has(name))
  return feedbackTexts(project, scope.projectId, fields, calls)
}

/** True when all derived fields of a condition come from one table, and it reads nothing else. */
export function isOfOneTable({ derived, needs, columns }: CompiledCondition): boolean {
  const tables = Object.values(tablesOf(derived)).filter((isRead) => isRead)
  return tables.length === 1 && needs.size + columns.size === 0 && ![...derived].some(isRefField)
}

const ofTexts: ColumnSql = (column) => identifier(`g.${column}`)

/** Whether a call without any such text meets the condition. */
export const holdsWithout = (condition: CompiledCondition): boolean => condition.evaluate({})

/** Conditions on nothing but whole traces, for calls under the alias `c`: all of them go over the traces once. */
export function traceCondition(
  project: ProjectScope,
  fields: DerivedFields,
  conditions: readonly CompiledCondition[],
): Sql {
  const holds = allOf(conditions.map((condition) => sql`(${condition.sql(ofTexts)})`))
  return sql`${traceKey(sql`c.trace_id`)} IN (SELECT g.trace_key FROM (${traceRows(project, fields)}) AS g WHERE ${holds})`
}

/** A condition on texts of one table, for calls under the alias `c`. */
export function preFilterCondition(
  project: ProjectScope,
  scope: Scope,
  fields: DerivedFields,
  condition: CompiledCondition,
): Sql {
  const texts = sql`(${textsOf(project, scope, fields, condition.derived)}) AS g`
  const holds = condition.sql(ofTexts)
  return holdsWithout(condition)
    ? sql`c.id NOT IN (SELECT g.call_id FROM ${texts} WHERE NOT ifNull(${holds}, false))`
    : sql`c.id IN (SELECT g.call_id FROM ${texts} WHERE ${holds})`
}

/** Ids of the calls with texts that meet conditions which all read texts of one table. */
export function preFilteredIdsSql(
  project: ProjectScope,
  scope: Scope,
  fields: DerivedFields,
  conditions: CompiledCondition[],
): Sql {
  const names = new Set(conditions.flatMap((condition) => [...condition.derived]))
  const holds = allOf(conditions.map((condition) => sql`(${condition.sql(ofTexts)})`))
  return sql`SELECT g.call_id FROM (${textsOf(project, scope, fields, names)}) AS g WHERE ${holds}`
}

function behindSql({ name, ref }: RefField, behind: Behind, of: ColumnSql): Sql {
  const { refs, documents } = behind.get(name) ?? { refs: [], documents: [] }
  if (refs.length === 0) return sql`''`
  return sql`transform(${jsonString(ref, of)}, ${param('Array(String)', refs)}, ${param('Array(String)', documents)}, '')`
}

/**
 * Adds derived fields to the rows of a subquery: `SELECT … FROM <this> AS c`.
 * @param columns of the subquery, among them `id`, the documents in which refs stand, and `trace_id` for whole traces
 */
export function withDerivedFields(
  project: ProjectScope,
  scope: Scope,
  rows: Sql,
  columns: readonly string[],
  names: ReadonlySet<DerivedField>,
  { fields, behind }: DerivedTexts,
): Sql {
  if (names.size === 0) return rows
  const ofCall: ColumnSql = (column) => identifier(`c.${column}`)
  const texts = [...names].map((name) => {
    if (!isRefField(name)) {
      const table = isFeedback(name) ? 'f' : isTraceField(name) ? 't' : 'q'
      return sql`${identifier(`${table}.${name}`)} AS ${identifier(name)}`
    }
    const field = fields.refs.find((one) => one.name === name) as RefField
    return sql`${behindSql(field, behind, ofCall)} AS ${identifier(name)}`
  })
  const kept = columns.map((name) => sql`c.${identifier(name)} AS ${identifier(name)}`)
  const { feedback, queues, traces } = tablesOf(names)
  const ofFeedback = new Set([...names].filter(isFeedback))
  const tables = [
    feedback ? sql` LEFT JOIN (${textsOf(project, scope, fields, ofFeedback)}) AS f ON f.call_id = c.id` : sql``,
    queues ? sql` LEFT JOIN (${textsOf(project, scope, fields, new Set(['queues']))}) AS q ON q.call_id = c.id` : sql``,
    traces ? sql` LEFT JOIN (${traceRows(project, fields)}) AS t ON t.trace_key = ${traceKey(sql`c.trace_id`)}` : sql``,
  ]
  return sql`(SELECT ${join([...kept, ...texts], ', ')} FROM ${rows} AS c${join(tables, '')})`
}
