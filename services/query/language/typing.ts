// Gives operations their types: inferred casts of JSON fields, datetime literals, text forms, boolean contexts.

import { parseTimestamp } from '../../core/clock/timestamps.ts'
import { fault } from '../../core/http/errors.ts'
import { numberText, stringToDouble, truthOf } from './cast.ts'
import type { CompareOp, Condition, Field, Kind, Scalar, Value } from './types.ts'

type Literal = Extract<Value, { is: 'literal' }>
/** An operand as it was written; `list` fields are only good for $size and $contains. */
export type Operand = Value | Extract<Field, { is: 'list' }>

const conditions = new Set<string>([
  'and',
  'or',
  'not',
  'compare',
  'isNull',
  'exists',
  'in',
  'startsWith',
  'contains',
  'member',
  'anyOf',
  'among',
  'truth',
  'constant',
] satisfies Condition['is'][])

export const isCondition = (value: Value): value is Condition => conditions.has(value.is)

const unknown: Condition = { is: 'constant', value: null }

/** Times beyond this are as good as infinite: they lie outside every stored time and stay exact as numbers. */
const farUs = 8_000_000_000_000_000

/** Kind of a value that is not null. Conditions are booleans. */
export function kindOf(value: Value): Kind {
  switch (value.is) {
    case 'literal':
      return value.kind
    case 'json':
    case 'null':
      return 'string'
    case 'column':
      return value.column.kind
    case 'cast':
      return value.to
    case 'length':
    case 'listLength':
      return 'int'
    default:
      return 'bool'
  }
}

export function literal(value: Scalar): Value {
  if (value === null) return { is: 'null' }
  if (typeof value === 'string') return { is: 'literal', kind: 'string', value }
  if (typeof value === 'boolean') return { is: 'literal', kind: 'bool', value }
  return { is: 'literal', kind: Number.isSafeInteger(Number(value)) ? 'int' : 'double', value }
}

/** The operand as a value; a list column is none. */
export function singleValue(operand: Operand): Value {
  if (operand.is === 'list')
    throw fault(422, `Field ${operand.list.name} is not allowed here: it is a list, use $contains or $size`)
  return operand
}

/** Any value as a condition: boolean context. */
export function conditionOf(value: Value): Condition {
  if (isCondition(value)) return value
  if (value.is === 'null') return unknown
  if (value.is === 'literal') return { is: 'constant', value: truthOf(value.value) }
  return { is: 'truth', of: value }
}

/** Flattens equal operations into one list; a list of one is its element. */
export function junction(is: 'and' | 'or', operands: Condition[]): Condition {
  const of = operands.flatMap((operand) => (operand.is === is ? operand.of : [operand]))
  return of.length === 1 ? (of[0] as Condition) : { is, of }
}

export const negation = (of: Condition): Condition => (of.is === 'not' ? of.of : { is: 'not', of })

/** Text form of a value. */
function textOf(value: Value): Value {
  if (value.is === 'null' || kindOf(value) === 'string') return value
  if (value.is === 'literal') return literal(numberText(value.value as number | boolean))
  return { is: 'cast', to: 'string', of: value }
}

type Family = 'text' | 'number' | 'time'

function familyOf(value: Value): Family {
  const kind = kindOf(value)
  return kind === 'string' ? 'text' : kind === 'datetime' ? 'time' : 'number'
}

/** Unix seconds or a timestamp text, in microseconds; null for booleans. */
function timeOf(value: Literal): number | null {
  if (typeof value.value === 'boolean') return null
  const us =
    typeof value.value === 'number' ? Math.round(value.value * 1e6) : parseTimestamp(String(value.value).trim())
  if (us === null) throw fault(400, `Not a date: ${JSON.stringify(value.value)}`)
  return Math.min(Math.max(us, -farUs), farUs)
}

/** A literal made to fit the other side; null when it can never compare with it. */
function adapt(value: Literal, family: Family): Literal | null {
  if (family === 'time') {
    const us = timeOf(value)
    return us === null ? null : { is: 'literal', kind: 'datetime', value: us }
  }
  if (familyOf(value) === family) return value
  if (family === 'text') return null
  const number = stringToDouble(String(value.value))
  return number === null ? null : (literal(number) as Literal)
}

/** A JSON field takes the type of the literal it meets. */
function inferred(field: Value, other: Value, op: CompareOp): Value {
  if (field.is !== 'json' || field.json.untyped || other.is !== 'literal') return field
  if (other.kind === 'bool') return { is: 'cast', to: 'bool', of: field }
  if (other.kind === 'int') return { is: 'cast', to: op === 'eq' ? 'int' : 'double', of: field }
  return other.kind === 'double' ? { is: 'cast', to: 'double', of: field } : field
}

const isEmptyText = (value: Value): boolean => value.is === 'literal' && value.value === ''
const isNullableText = (value: Value): boolean =>
  value.is === 'column' && value.column.nullable && value.column.kind === 'string'

type Many = Extract<Value, { is: 'json' }> & { json: { many: true } }
const isMany = (value: Value): value is Many => value.is === 'json' && value.json.many === true

/** One of the texts of a list equals or contains a value; a number or a time equals no text. */
function among({ json: { document } }: Many, how: 'equal' | 'contains', value: Value, fold: boolean): Condition {
  if (how === 'equal' && familyOf(value) !== 'text') return unknown
  return { is: 'among', document, how, value, fold }
}

/** An equality that compares no two values: with one of the texts of a list, or with the text of no value. */
function equality(one: Value, other: Value): Condition | undefined {
  if (isMany(one)) return among(one, 'equal', other, false)
  return isNullableText(one) && isEmptyText(other) ? nullTest(one) : undefined
}

export function comparison(op: CompareOp, a: Operand, b: Operand): Condition {
  const first = singleValue(a)
  const second = singleValue(b)
  if (op === 'eq' && second.is === 'null') return nullTest(first)
  if (first.is === 'null' || second.is === 'null') return unknown
  const known = op === 'eq' ? (equality(first, second) ?? equality(second, first)) : undefined
  if (known !== undefined) return known
  const left = inferred(first, second, op)
  const right = inferred(second, first, op)
  const families = [familyOf(left), familyOf(right)] as const
  if (families[0] === families[1]) return { is: 'compare', op, left, right }
  if (right.is === 'literal' && left.is !== 'literal') {
    const fitted = adapt(right, families[0])
    return fitted === null ? unknown : { is: 'compare', op, left, right: fitted }
  }
  if (left.is === 'literal' && right.is !== 'literal') {
    const fitted = adapt(left, families[1])
    return fitted === null ? unknown : { is: 'compare', op, left: fitted, right }
  }
  if (left.is === 'literal') return unknown
  return { is: 'compare', op, left: textOf(left), right: textOf(right) }
}

function nullTest(of: Value): Condition {
  if (isMany(of)) return negation({ is: 'exists', json: of.json })
  if ((of.is === 'json' && !of.json.ref) || of.is === 'literal') return { is: 'constant', value: false }
  return of.is === 'null' ? { is: 'constant', value: true } : { is: 'isNull', of }
}

/** A value equals one of the literals; which of them can match at all, and as what, depends on the value's kind. */
function inLiterals(left: Value, literals: Literal[]): Condition {
  const kinds = new Set(literals.map((element) => element.kind))
  const only = (...allowed: Kind[]): boolean => [...kinds].every((kind) => allowed.includes(kind))
  if (left.is === 'json') {
    const asTexts: Condition = {
      is: 'in',
      left,
      kind: 'string',
      values: literals.map((l) => (textOf(l) as Literal).value as string),
    }
    if (left.json.untyped) return asTexts
    if (only('bool'))
      return {
        is: 'in',
        left: { is: 'cast', to: 'bool', of: left },
        kind: 'int',
        values: literals.map((l) => Number(l.value)),
      }
    if (only('int'))
      return {
        is: 'in',
        left: { is: 'cast', to: 'int', of: left },
        kind: 'int',
        values: literals.map((l) => Number(l.value)),
      }
    if (only('int', 'double'))
      return {
        is: 'in',
        left: { is: 'cast', to: 'double', of: left },
        kind: 'double',
        values: literals.map((l) => Number(l.value)),
      }
    return asTexts
  }
  const family = familyOf(left)
  const values = literals.flatMap((element) => adapt(element, family)?.value ?? [])
  if (family === 'text') return { is: 'in', left, kind: 'string', values: values as string[] }
  const numbers = values.map(Number)
  if (family === 'time') return { is: 'in', left, kind: 'datetime', values: numbers }
  return { is: 'in', left, kind: numbers.every(Number.isSafeInteger) ? 'int' : 'double', values: numbers }
}

export function membership(a: Operand, elements: Operand[]): Condition {
  const left = singleValue(a)
  const values = elements.map(singleValue).filter((element) => element.is !== 'null')
  if (left.is === 'null') return unknown
  if (values.length === 0) return { is: 'constant', value: false }
  if (values.every((element) => element.is === 'literal')) return inLiterals(left, values)
  return junction(
    'or',
    values.map((element) => comparison('eq', left, element)),
  )
}

export function containment(input: Operand, substring: Operand, fold: boolean): Condition {
  const substr = textOf(singleValue(substring))
  if (substr.is === 'null') return unknown
  if (input.is === 'list') return { is: 'member', list: input.list, value: substr, fold }
  if (isMany(input)) return among(input, 'contains', substr, fold)
  const text = textOf(input)
  return text.is === 'null' ? unknown : { is: 'contains', input: text, substr, fold }
}

export type ConvertTo = 'double' | 'string' | 'int' | 'bool' | 'exists'

export function conversion(operand: Operand, to: ConvertTo): Value {
  const of = singleValue(operand)
  if (to === 'exists') {
    if (of.is === 'json') return { is: 'exists', json: of.json }
    const test = nullTest(of)
    return test.is === 'constant' ? { is: 'constant', value: test.value !== true } : negation(test)
  }
  return of.is === 'null' ? of : { is: 'cast', to, of }
}

export function size(operand: Operand): Value {
  if (operand.is === 'list') return { is: 'listLength', list: operand.list }
  return operand.is === 'null' ? operand : { is: 'length', of: textOf(operand) }
}
