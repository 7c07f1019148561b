// The virtual texts of calls as SQL: joined from feedback and queues, or looked up behind the refs of a document.
import { identifier, join, type ProjectScope, param, type Sql, sql } from '../../../core/store/sql.ts'
import { queueTexts } from '../../annotation-queues/call-texts.ts'
import { feedbackTexts } from '../../feedback/call-texts.ts'
import { jsonString } from '../../language/json-sql.ts'
import type { Sources } from '../../language/types.ts'
import { allOf, type Scope, timeConditions } from '../access/scope.ts'
import { isFeedback, isRef } from './joins.ts'
import type { CompiledCondition, Joins, RefField, Virtual } from './types.ts'

/** What stands behind refs: the texts of refs and, at the same places, the documents behind them. */
export type Behind = ReadonlyMap<RefField['name'], { refs: string[]; documents: string[] }>

export type VirtualTexts = { joins: Joins; behind: Behind }

/** Ids of the calls of a scope as a subquery, a superset; null = all of the project. */
function idsOf(project: ProjectScope, { projectId, range, index, keys }: Scope): Sql | null {
  const ids = keys?.map((key) => key.id)
  if (ids) return sql`(SELECT arrayJoin(${param('Array(String)', ids)}) AS id)`
  const where = timeConditions(project, sql`started_at`, { projectId, range, index, keys })
  return where.length === 0 ? null : sql`(SELECT id ${project.from('calls', { where: allOf(where) })})`
}

/** Which tables virtual texts are joined from. */
const tablesOf = (names: ReadonlySet<Virtual>): { feedback: boolean; queues: boolean } => ({
  feedback: [...names].some(isFeedback),
  queues: names.has('queues'),
})

/** Texts of the calls that have any, with their `call_id`, from the one table that the names are of. */
function textsOf(
  project: ProjectScope,
  scope: Scope,
  { feedback }: Pick<Joins, 'feedback'>,
  names: ReadonlySet<Virtual>,
): Sql {
  const calls = idsOf(project, scope)
  if (names.has('queues')) return queueTexts(project, calls)
  const fields = feedback.filter(({ name }) => names.has(name))
  return feedbackTexts(project, scope.projectId, fields, calls)
}

/** True when all virtual texts of a condition come from one table, and it reads nothing else. */
export function isOfOneTable({ joins, needs, columns }: CompiledCondition): boolean {
  const { feedback, queues } = tablesOf(joins)
  return joins.size > 0 && needs.size + columns.size === 0 && feedback !== queues
}

const given: Sources = (column) => identifier(`g.${column}`)

/** Whether a call without any such text meets the condition. */
export const holdsWithout = (condition: CompiledCondition): boolean => condition.evaluate({})

/** A condition on texts of one table, for calls under the alias `c`. */
export function givenCondition(project: ProjectScope, scope: Scope, joins: Joins, condition: CompiledCondition): Sql {
  const texts = sql`(${textsOf(project, scope, joins, condition.joins)}) AS g`
  const holds = condition.sql(given)
  return holdsWithout(condition)
    ? sql`c.id NOT IN (SELECT g.call_id FROM ${texts} WHERE NOT ifNull(${holds}, false))`
    : sql`c.id IN (SELECT g.call_id FROM ${texts} WHERE ${holds})`
}

/** Ids of the calls with texts that meet conditions which all read texts of one table. */
export function givenIds(project: ProjectScope, scope: Scope, joins: Joins, conditions: CompiledCondition[]): Sql {
  const names = new Set(conditions.flatMap((condition) => [...condition.joins]))
  const holds = allOf(conditions.map((condition) => sql`(${condition.sql(given)})`))
  return sql`SELECT g.call_id FROM (${textsOf(project, scope, joins, names)}) AS g WHERE ${holds}`
}

function behindSql({ name, ref }: RefField, behind: Behind, of: Sources): Sql {
  const { refs, documents } = behind.get(name) ?? { refs: [], documents: [] }
  if (refs.length === 0) return sql`''`
  return sql`transform(${jsonString(ref, of)}, ${param('Array(String)', refs)}, ${param('Array(String)', documents)}, '')`
}

/**
 * Adds virtual texts to the rows of a subquery: `SELECT … FROM <this> AS c`.
 * @param columns of the subquery, among them `id` and the documents in which refs stand
 */
export function withVirtual(
  project: ProjectScope,
  scope: Scope,
  rows: Sql,
  columns: readonly string[],
  names: ReadonlySet<Virtual>,
  { joins, behind }: VirtualTexts,
): Sql {
  if (names.size === 0) return rows
  const light: Sources = (column) => identifier(`c.${column}`)
  const texts = [...names].map((name) => {
    if (!isRef(name)) return sql`${identifier(`${isFeedback(name) ? 'f' : 'q'}.${name}`)} AS ${identifier(name)}`
    const field = joins.refs.find((one) => one.name === name) as RefField
    return sql`${behindSql(field, behind, light)} AS ${identifier(name)}`
  })
  const kept = columns.map((name) => sql`c.${identifier(name)} AS ${identifier(name)}`)
  const { feedback, queues } = tablesOf(names)
  const ofFeedback = new Set([...names].filter(isFeedback))
  const joined = [
    feedback ? sql` LEFT JOIN (${textsOf(project, scope, joins, ofFeedback)}) AS f ON f.call_id = c.id` : sql``,
    queues ? sql` LEFT JOIN (${textsOf(project, scope, joins, new Set(['queues']))}) AS q ON q.call_id = c.id` : sql``,
  ]
  return sql`(SELECT ${join([...kept, ...texts], ', ')} FROM ${rows} AS c${join(joined, '')})`
}
