// Checks an untrusted `query` and turns it into a typed condition; bounded in depth and size before anything is built.

import { tooLarge } from '../../core/errors.ts'
import { type Detail, fault, invalid } from '../../core/http/errors.ts'
import { isObject } from '../../core/json/objects.ts'
import { simplify } from './simplify.ts'
import type { CompareOp, Condition, Fields, Value } from './types.ts'
import * as typing from './typing.ts'
import { checkWeight } from './weight.ts'

/** Containers inside one another; bodies nested deeper are refused before they get here. */
const maxDepth = 600
/** Nodes of one expression, and literals of its `$in` lists. */
const maxNodes = 10_000
const maxListed = 20_000

type Loc = (string | number)[]
export type Operator =
  | '$and'
  | '$or'
  | '$not'
  | `$${CompareOp}`
  | '$in'
  | '$contains'
  | '$literal'
  | '$getField'
  | '$convert'
  | '$size'

/** Operators by every spelling. */
export const operators: Readonly<Record<string, Operator>> = {
  $and: '$and',
  $or: '$or',
  $not: '$not',
  $eq: '$eq',
  $gt: '$gt',
  $gte: '$gte',
  $lt: '$lt',
  $lte: '$lte',
  $in: '$in',
  $contains: '$contains',
  $literal: '$literal',
  $getField: '$getField',
  $convert: '$convert',
  $size: '$size',
  and_: '$and',
  or_: '$or',
  not_: '$not',
  eq_: '$eq',
  gt_: '$gt',
  gte_: '$gte',
  lt_: '$lt',
  lte_: '$lte',
  in_: '$in',
  contains_: '$contains',
  literal_: '$literal',
  get_field_: '$getField',
  convert_: '$convert',
  size_: '$size',
}

/** A name without its sign, case and underscores: what a member means that its writer took for an operator's. */
const lettersOf = (name: string): string => name.replaceAll(/[^a-z]/gi, '').toLowerCase()
const operatorLetters = new Set(Object.keys(operators).map(lettersOf))

/** Other members beside an operator count for nothing; these would have been a part of the condition. */
const isMeantAsOperator = (key: string): boolean =>
  !Object.hasOwn(operators, key) && (key.startsWith('$') || operatorLetters.has(lettersOf(key)))

const operands = new Set<Operator>(['$literal', '$getField', '$convert', '$size'])
const convertible = new Set(['double', 'string', 'int', 'bool', 'exists'])

function malformed(loc: Loc, msg: string, type: string): never {
  const detail: Detail = { loc: ['body', ...loc], msg, type }
  throw invalid(detail)
}

/** The meaning of `$eq` with null: a test for null, or unknown like every other comparison with null. */
type Nulls = 'tested' | 'unknown'

class Parser {
  private readonly fields: Fields
  private readonly nulls: Nulls
  private nodes = 0
  private listed = 0

  constructor(fields: Fields, nulls: Nulls) {
    this.fields = fields
    this.nulls = nulls
  }

  /** The node's one operator and its argument. */
  private operator(node: unknown, loc: Loc, depth: number): [Operator, unknown, Loc] {
    if (depth > maxDepth) throw tooLarge()
    if (++this.nodes > maxNodes) throw fault(400, `The query has more than ${maxNodes} nodes`)
    if (!isObject(node)) malformed(loc, 'Input should be an object', 'dict_type')
    const keys = Object.keys(node).filter((key) => Object.hasOwn(operators, key))
    if (keys.length === 0) malformed(loc, 'Input should have an operator such as $eq or $getField', 'missing')
    const unknown = Object.keys(node).find(isMeantAsOperator)
    if (unknown !== undefined) malformed([...loc, unknown], 'There is no such operator', 'extra_forbidden')
    if (keys.length > 1) malformed(loc, `Input should have one operator, not ${keys.join(' and ')}`, 'value_error')
    const key = keys[0] as string
    return [operators[key] as Operator, node[key], [...loc, key]]
  }

  operation(node: unknown, loc: Loc, depth: number): Condition {
    const [operator, argument, at] = this.operator(node, loc, depth)
    if (operands.has(operator)) malformed(at, `${operator} is an operand, not an operation`, 'value_error')
    return this.condition(operator, argument, at, depth)
  }

  private operand(node: unknown, loc: Loc, depth: number): typing.Operand {
    const [operator, argument, at] = this.operator(node, loc, depth)
    switch (operator) {
      case '$literal':
        return this.literal(argument, at)
      case '$getField': {
        if (typeof argument !== 'string') malformed(at, 'Input should be a valid string', 'string_type')
        const field = this.fields(argument)
        return field
      }
      case '$convert':
        return this.convert(argument, at, depth)
      case '$size':
        return typing.size(this.operand(argument, at, depth + 1))
      default:
        return this.condition(operator, argument, at, depth)
    }
  }

  private list(argument: unknown, loc: Loc, length?: number): unknown[] {
    if (!Array.isArray(argument)) malformed(loc, 'Input should be a valid list', 'list_type')
    if (length !== undefined && argument.length < length)
      malformed([...loc, argument.length], 'Field required', 'missing')
    if (length !== undefined && argument.length > length)
      malformed(loc, `List should have exactly ${length} item${length > 1 ? 's' : ''}`, 'too_long')
    return argument
  }

  private condition(operator: Operator, argument: unknown, loc: Loc, depth: number): Condition {
    switch (operator) {
      case '$and':
      case '$or': {
        const list = this.list(argument, loc)
        if (list.length === 0) throw fault(400, `Empty ${operator === '$and' ? 'AND' : 'OR'} operation`)
        const of = list.map((item, i) => this.conditionAt(item, [...loc, i], depth + 2))
        return typing.junction(operator === '$and' ? 'and' : 'or', of)
      }
      case '$not': {
        const [item] = this.list(argument, loc, 1)
        return typing.negation(this.conditionAt(item, [...loc, 0], depth + 2))
      }
      case '$in': {
        const [left, elements] = this.list(argument, loc, 2)
        return this.membership(left, elements, loc, depth)
      }
      case '$contains':
        return this.contains(argument, loc, depth)
      default: {
        const [left, right] = this.list(argument, loc, 2)
        const a = this.operand(left, [...loc, 0], depth + 2)
        const b = this.operand(right, [...loc, 1], depth + 2)
        if (this.nulls === 'unknown' && (a.is === 'null' || b.is === 'null')) return { is: 'constant', value: null }
        return typing.comparison(operator.slice(1) as CompareOp, a, b)
      }
    }
  }

  private conditionAt(node: unknown, loc: Loc, depth: number): Condition {
    return typing.conditionOf(typing.singleValue(this.operand(node, loc, depth)))
  }

  private membership(left: unknown, elements: unknown, loc: Loc, depth: number): Condition {
    const value = this.operand(left, [...loc, 0], depth + 2)
    const list = this.list(elements, [...loc, 1])
    this.listed += list.length
    if (this.listed > maxListed) throw fault(400, `The $in lists of the query have more than ${maxListed} elements`)
    const parsed = list.map((item, i) => {
      const operand = this.operand(item, [...loc, 1, i], depth + 3)
      // Literals of lists have a bound of their own.
      if (operand.is === 'literal' || operand.is === 'null') this.nodes--
      return operand
    })
    return typing.membership(value, parsed)
  }

  /** The members of an operator that has them by name; one that is a known name in another writing is refused. */
  private members(argument: object, required: string[], optional: string[], loc: Loc): void {
    for (const key of required) if (!Object.hasOwn(argument, key)) malformed([...loc, key], 'Field required', 'missing')
    const known = [...required, ...optional]
    const letters = known.map(lettersOf)
    for (const key of Object.keys(argument))
      if (!known.includes(key) && letters.includes(lettersOf(key)))
        malformed([...loc, key], 'There is no such member', 'extra_forbidden')
  }

  private contains(argument: unknown, loc: Loc, depth: number): Condition {
    if (!isObject(argument)) malformed(loc, 'Input should be an object', 'dict_type')
    this.members(argument, ['input', 'substr'], ['case_insensitive'], loc)
    const fold = argument.case_insensitive ?? false
    if (typeof fold !== 'boolean')
      malformed([...loc, 'case_insensitive'], 'Input should be a valid boolean', 'bool_type')
    const input = this.operand(argument.input, [...loc, 'input'], depth + 2)
    return typing.containment(input, this.operand(argument.substr, [...loc, 'substr'], depth + 2), fold)
  }

  private convert(argument: unknown, loc: Loc, depth: number): Value {
    if (!isObject(argument)) malformed(loc, 'Input should be an object', 'dict_type')
    this.members(argument, ['input', 'to'], [], loc)
    const { to } = argument
    if (typeof to !== 'string' || !convertible.has(to))
      malformed([...loc, 'to'], "Input should be 'double', 'string', 'int', 'bool' or 'exists'", 'literal_error')
    return typing.conversion(this.operand(argument.input, [...loc, 'input'], depth + 2), to as typing.ConvertTo)
  }

  private literal(value: unknown, loc: Loc): Value {
    if (value === null || typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number')
      return typing.literal(value)
    const elements = typeof value === 'object' ? Object.values(value) : []
    if (!elements.every((element) => isObject(element) && Object.hasOwn(element, '$literal')))
      malformed(loc, 'Input should be a string, number, boolean or null', 'value_error')
    throw fault(400, 'Object and list literals are not supported')
  }
}

/**
 * The condition of a `query` object, null when there is none.
 * @throws Fault 422 for malformed trees and unknown fields, 400 for empty lists, bad dates and oversized queries
 */
export function parseQuery(query: unknown, fields: Fields, nulls: Nulls = 'tested'): Condition | null {
  if (query === null || query === undefined) return null
  if (!isObject(query)) malformed(['query'], 'Input should be an object', 'dict_type')
  const key = Object.hasOwn(query, '$expr') ? '$expr' : 'expr_'
  if (!Object.hasOwn(query, key)) malformed(['query', '$expr'], 'Field required', 'missing')
  for (const other of Object.keys(query))
    if (other !== key) malformed(['query', other], 'Extra inputs are not permitted', 'extra_forbidden')
  const condition = simplify(new Parser(fields, nulls).operation(query[key], ['query', key], 0))
  checkWeight([{ of: condition, times: 1 }])
  return condition
}
