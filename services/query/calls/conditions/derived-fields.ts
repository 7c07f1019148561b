// The derived fields of calls as SQL: joined from feedback, queues and whole traces, or looked up behind the refs of a document.
import { identifier, join, param, type Sql, sql } from '../../../core/store/sql.ts'
import type { ProjectScope } from '../../../events/project-query.ts'
import { feedbackTexts } from '../../feedback/call-texts.ts'
import { jsonString } from '../../language/json-sql.ts'
import type { ColumnSql } from '../../language/types.ts'
import { allOf, type Scope, timeConditions } from '../scope.ts'
import { isFeedback } from './joins.ts'
import { queueTexts } from './queue-texts.ts'
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

/** The tables that derived fields are joined from, by their aliases. */
const tables = {
  f: isFeedback,
  q: (name: DerivedField) => name === 'queues',
  t: isTraceField,
}
const aliases = Object.keys(tables) as (keyof typeof tables)[]

/** Undefined for a field behind a ref, which is joined from no table. */
const aliasOf = (name: DerivedField) => aliases.find((alias) => tables[alias](name))

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
  const [first, ...others] = new Set([...derived].map(aliasOf))
  return first !== undefined && others.length === 0 && needs.size + columns.size === 0
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
    const field = fields.refs.find((one) => one.name === name)
    const value = field ? behindSql(field, behind, ofCall) : identifier(`${aliasOf(name)}.${name}`)
    return sql`${value} AS ${identifier(name)}`
  })
  const kept = columns.map((name) => sql`c.${identifier(name)} AS ${identifier(name)}`)
  const joins: Record<keyof typeof tables, (own: ReadonlySet<DerivedField>) => Sql> = {
    f: (own) => sql`(${textsOf(project, scope, fields, own)}) AS f ON f.call_id = c.id`,
    q: (own) => sql`(${textsOf(project, scope, fields, own)}) AS q ON q.call_id = c.id`,
    t: () => sql`(${traceRows(project, fields)}) AS t ON t.trace_key = ${traceKey(sql`c.trace_id`)}`,
  }
  const joined = aliases.flatMap((alias) => {
    const own = new Set([...names].filter(tables[alias]))
    return own.size === 0 ? [] : [sql` LEFT JOIN ${joins[alias](own)}`]
  })
  return sql`(SELECT ${join([...kept, ...texts], ', ')} FROM ${rows} AS c${join(joined, '')})`
}
