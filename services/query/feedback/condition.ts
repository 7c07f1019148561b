// The condition of a feedback query: the query language with this interface's rules for null and for types.

import { fault } from '../../core/http/errors.ts'
import type { ProjectId } from '../../core/ids.ts'
import { isObject } from '../../core/json/objects.ts'
import { param, type Sql, sql } from '../../core/store/sql.ts'
import type { ProjectScope } from '../../events/project-query.ts'
import { deletedAmong } from '../deleted-calls.ts'
import { compileCondition } from '../language/compile.ts'
import { type Operator, operators, parseQuery } from '../language/parse.ts'
import type { Condition, Fields } from '../language/types.ts'
import { feedbackColumn, feedbackFields, isMap } from './fields.ts'

const comparisons = new Set<string>(['$eq', '$gt', '$gte', '$lt', '$lte'])

/** A node's operator and its argument; the query has been parsed, so there is one, beside keys that mean nothing. */
function operatorOf(node: unknown): [operator: Operator | null, argument: unknown] {
  if (!isObject(node)) return [null, undefined]
  const key = Object.keys(node).find((one) => Object.hasOwn(operators, one))
  return key === undefined ? [null, undefined] : [operators[key] as Operator, node[key]]
}

const isNumberLiteral = (node: unknown): boolean => {
  const [operator, value] = operatorOf(node)
  return operator === '$literal' && (typeof value === 'number' || typeof value === 'boolean')
}

function isTextColumn(node: unknown, fields: Fields): string | null {
  const [operator, name] = operatorOf(node)
  if (operator !== '$getField' || typeof name !== 'string') return null
  const field = fields(name)
  return field.is === 'column' && field.column.kind === 'string' ? name : null
}

/** @throws Fault 400 when the first operand is a text column and one of the others a number or boolean */
function checkComparable(operand: unknown, others: readonly unknown[], fields: Fields): void {
  const name = isTextColumn(operand, fields)
  if (name !== null && others.some(isNumberLiteral))
    throw fault(400, `Field ${name.slice(0, 200)} is a text and cannot equal a number`)
}

/** @throws Fault 400 when the substring is a number or boolean, or a map is searched */
function checkContains({ input, substr }: Record<string, unknown>): void {
  if (isNumberLiteral(substr)) throw fault(400, 'The substr of $contains must be a text')
  const [inner, name] = operatorOf(input)
  if (inner === '$getField' && typeof name === 'string' && isMap(name))
    throw fault(400, `Field ${name} is a map and cannot be searched`)
}

/** Checks one operation. Its operands, which are to be checked next. */
function checkOperation(operator: Operator, argument: unknown, fields: Fields): unknown[] {
  if (Array.isArray(argument)) {
    const [first, second] = argument
    if (operator === '$in') {
      checkComparable(first, second as unknown[], fields)
      return [first, ...(second as unknown[])]
    }
    if (comparisons.has(operator)) {
      checkComparable(first, [second], fields)
      checkComparable(second, [first], fields)
    }
    return argument
  }
  if (!isObject(argument)) return []
  if (operator === '$contains') {
    checkContains(argument)
    return [argument.input, argument.substr]
  }
  return [operator === '$convert' ? argument.input : argument]
}

/** @throws Fault 400 where a text column meets a number or boolean, or a substring is none, or a map is searched */
export function checkTypes(root: unknown, fields: Fields): void {
  const pending = [root]
  while (pending.length > 0) {
    const [operator, argument] = operatorOf(pending.pop())
    // One by one: a list may be longer than a call takes arguments.
    if (operator !== null) for (const operand of checkOperation(operator, argument, fields)) pending.push(operand)
  }
}

/** Texts that a conjunct allows a column to have; null when it says nothing about it. */
function allowed(condition: Condition, column: string): string[] | null {
  if (condition.is === 'compare' && condition.op === 'eq') {
    const { left, right } = condition
    for (const [field, value] of [
      [left, right],
      [right, left],
    ] as const)
      if (field.is === 'column' && field.column.name === column && value.is === 'literal') return [String(value.value)]
    return null
  }
  const isListed = condition.is === 'in' && condition.kind === 'string'
  if (!isListed || condition.left.is !== 'column' || condition.left.column.name !== column) return null
  return condition.values as string[]
}

/** Rows that have, or once had, one of these refs: the ids come from the copy that is sorted by ref. */
export const feedbackEverOnRefs = (project: ProjectScope, refs: Sql): Sql =>
  sql`f.id IN (SELECT id ${project.from('feedback_by_ref', { where: sql`weave_ref IN (${refs})` })})`

/** Rows that have one of these refs. */
export const feedbackOnRefs = (project: ProjectScope, refs: readonly string[] | Sql): Sql => {
  const among = 'texts' in refs ? refs : param('Array(String)', refs)
  return sql`${feedbackEverOnRefs(project, among)} AND f.weave_ref IN (${among})`
}

/** The call that a ref names or lies below; '' for other refs. */
const callIdOf = (ref: Sql, prefix: string): Sql =>
  sql`if(startsWith(${ref}, ${param('String', prefix)}),
    substringIndex(substring(${ref}, ${param('UInt32', Buffer.byteLength(prefix) + 1)}), '/', 1), '')`

/** Rows that were not given to a call that is deleted. */
function ofLiveCalls(project: ProjectScope, projectId: ProjectId, refs: readonly string[] | undefined): Sql {
  const prefix = `weave:///${projectId}/call/`
  const ids = refs
    ? param(
        'Array(String)',
        refs.flatMap((ref) => (ref.startsWith(prefix) ? (ref.slice(prefix.length).split('/')[0] ?? []) : [])),
      )
    : sql`SELECT ${callIdOf(sql`weave_ref`, prefix)} ${project.from('feedback_by_ref')}`
  return sql`${callIdOf(sql`f.weave_ref`, prefix)} NOT IN ${deletedAmong(project, ids)}`
}

/**
 * The rows of a query that are not purged and whose call is not deleted, as a condition on `feedback` under the alias `f`, read with FINAL.
 * @throws Fault 400 or 422
 */
export function feedbackCondition(query: unknown, projectId: ProjectId): (project: ProjectScope) => Sql {
  const condition = parseQuery(query, feedbackFields, 'unknown')
  const live = (project: ProjectScope, refs?: readonly string[]) =>
    sql`f.purged = 0 AND ${ofLiveCalls(project, projectId, refs)}`
  if (condition === null) return (project) => live(project)
  checkTypes(
    (query as { $expr?: unknown; expr_?: unknown }).$expr ?? (query as { expr_?: unknown }).expr_,
    feedbackFields,
  )
  const conjuncts = condition.is === 'and' ? condition.of : [condition]
  const refs = conjuncts.map((conjunct) => allowed(conjunct, 'weave_ref')).find((found) => found !== null)
  const where = compileCondition(condition, feedbackColumn)
  return (project) => {
    const rows = sql`${live(project, refs ?? undefined)} AND ${where}`
    return refs ? sql`${feedbackOnRefs(project, refs)} AND ${rows}` : rows
  }
}
