// Chooses the conditions that can be tried on the field index (short values of payloads, kept as columns), and how: see
// ADR 0011.
import { childPath } from '../../../content/field-paths.ts'
import { doubleText, stringToDouble } from '../../../core/json/number-text.ts'
import { ownValueKey } from '../../../core/json/own-value.ts'
import { identifier, type Sql, sql } from '../../../core/store/sql.ts'
import { compileCondition } from '../../language/compile.ts'
import { evaluateCondition } from '../../language/evaluate.ts'
import { children } from '../../language/tree.ts'
import type { Column, Condition, JsonField, Value } from '../../language/types.ts'
import { isCondition } from '../../language/typing.ts'
import type { CompiledCondition } from '../conditions/types.ts'

/** Possible places of a field's values in the field index. */
export type FieldPath = {
  path: string
  /** Paths of what the value lies in. */
  around: string[]
}

/**
 * A condition on one field, as the field index tests it: `number` of `n`, `text` of `s`, null where no value meets it.
 * Calls without the field do not meet it. `texts`: all texts that do, where they are known.
 */
type FieldTest = FieldPath & { number: Sql | null; text: Sql | null; texts: string[] | null }

/** A condition that holds only where one of these does. */
export type FieldTests = FieldTest[]

export function fieldPath({ document, path, over, ref }: JsonField): FieldPath | null {
  // The value of an object itself has the path of the object.
  if (over !== undefined || ref !== undefined || path.includes(ownValueKey)) return null
  const around: string[] = []
  let at = document
  for (const segment of path) {
    around.push(at)
    at = childPath(at, String(segment))
  }
  return { path: at, around }
}

/** The only JSON field of a tree; null when there is none or another. */
function onlyField(root: Condition): JsonField | null {
  let field: JsonField | null = null
  let isOnly = true
  const visit = (node: Value): void => {
    if (node.is === 'json' || node.is === 'exists') {
      if (field !== null && JSON.stringify(field) !== JSON.stringify(node.json)) isOnly = false
      field = node.json
    }
    for (const child of children(node)) visit(child)
  }
  visit(root)
  return isOnly ? field : null
}

type Form = 'number' | 'text'

const column = (name: string, kind: Column['kind'], nullable: boolean, of: Sql): Value => ({
  is: 'column',
  column: { name, kind, nullable, reads: [], sql: () => of, read: () => null },
})
const n = identifier('n')

const textForm: Record<Form, Value> = {
  number: column('text form of n', 'string', false, sql`toString(${n})`),
  text: column('s', 'string', false, identifier('s')),
}
/** Casts of a number that need not go through its text. */
const numberCasts = {
  double: column('n', 'double', false, n),
  int: column('n as integer', 'int', true, sql`accurateCastOrNull(${n}, 'Int64')`),
}

const constant = (value: boolean): Condition => ({ is: 'constant', value })

/** Texts that a number can equal, as that number. */
const numberOf = (text: unknown): number[] => {
  const value = stringToDouble(String(text))
  return value !== null && doubleText(value) === text ? [value] : []
}

const doubles = (values: readonly number[]): Condition =>
  values.length === 0 ? constant(false) : { is: 'in', left: numberCasts.double, kind: 'double', values: [...values] }

/** The condition with the indexed value of the field in place of the field. */
function onFieldValue(node: Condition, form: Form): Condition {
  const value = (of: Value): Value => {
    if (isCondition(of)) return onFieldValue(of, form)
    if (of.is === 'json') return textForm[form]
    if (of.is === 'cast') {
      if (form === 'number' && of.of.is === 'json' && (of.to === 'double' || of.to === 'int')) return numberCasts[of.to]
      return { ...of, of: value(of.of) }
    }
    return of.is === 'length' ? { ...of, of: value(of.of) } : of
  }
  switch (node.is) {
    case 'and':
    case 'or':
      return { is: node.is, of: node.of.map((operand) => onFieldValue(operand, form)) }
    case 'not':
      return { is: 'not', of: onFieldValue(node.of, form) }
    case 'compare':
      if (form === 'number' && node.op === 'eq' && node.left.is === 'json' && node.right.is === 'literal')
        return doubles(numberOf(node.right.value))
      return { ...node, left: value(node.left), right: value(node.right) }
    case 'in':
      if (form === 'number' && node.left.is === 'json') return doubles(node.values.flatMap(numberOf))
      return { ...node, left: value(node.left) }
    case 'isNull':
    case 'truth':
      return { ...node, of: value(node.of) }
    case 'exists':
      return constant(true)
    case 'startsWith':
      return { ...node, input: value(node.input) }
    case 'contains':
      return { ...node, input: value(node.input), substr: value(node.substr) }
    case 'member':
    case 'among':
      return { ...node, value: value(node.value) }
    case 'anyOf':
    case 'constant':
      return node
  }
}

const none = () => identifier('none')

/** Whether a condition is constantly false. */
function isNever(condition: Condition): boolean {
  if (condition.is === 'constant') return condition.value !== true
  if (condition.is === 'and') return condition.of.some(isNever)
  return condition.is === 'or' && condition.of.every(isNever)
}

/** Rows of values are looked through for each of them. */
const maxTexts = 8

/** The texts that a field must be for a condition on it to hold, if it names few. */
function textsOf(condition: Condition): string[] | null {
  if (condition.is === 'in' && condition.left.is === 'json' && condition.kind === 'string')
    return condition.values.length <= maxTexts ? (condition.values as string[]) : null
  if (condition.is !== 'compare' || condition.op !== 'eq' || condition.left.is !== 'json') return null
  const { right } = condition
  return right.is === 'literal' && typeof right.value === 'string' ? [right.value] : null
}

/** Tests of which one holds wherever the condition does; null when there are none. */
function testsOf(condition: Condition): FieldTests | null {
  const field = onlyField(condition)
  if (field !== null) {
    const place = fieldPath(field)
    if (place === null || evaluateCondition(condition, {}) === true) return null
    const compiled = (form: Form) => {
      const test = onFieldValue(condition, form)
      return isNever(test) ? null : compileCondition(test, none)
    }
    return [{ ...place, number: compiled('number'), text: compiled('text'), texts: textsOf(condition) }]
  }
  if (condition.is === 'or') {
    const all = condition.of.map(testsOf)
    return all.every((tests) => tests !== null) ? all.flat() : null
  }
  if (condition.is === 'and')
    for (const operand of condition.of) {
      const tests = testsOf(operand)
      if (tests !== null) return tests
    }
  return null
}

/** Most tests of one condition: each is a statement part of its own. */
const maxTests = 20

export function fieldTests({ tree, columns, derived }: CompiledCondition): FieldTests | null {
  if (columns.size > 0 || derived.size > 0) return null
  const tests = testsOf(tree)
  return tests !== null && tests.length <= maxTests ? tests : null
}
