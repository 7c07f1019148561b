// Evaluates a typed tree on one row in JS, with the same three-valued logic as the SQL of `compile.ts`.

import { formatTimestamp } from '../../core/clock/timestamps.ts'
import { compareCodePoints } from '../../core/json/canonical.ts'
import { holdsOwnValues } from '../../core/json/own-value.ts'
import { numberText, numberToInt, stringToBool, stringToDouble, stringToInt, truthOf } from './cast.ts'
import { attributeForm, stringForm, valueAt } from './json-text.ts'
import type { CastKind, CompareOp, Condition, JsonField, Kind, Row, Scalar, Value } from './types.ts'
import { isCondition, kindOf } from './typing.ts'

/** JSON text of the value that the field names; null when it is missing. */
function jsonValue({ document, path, over }: JsonField, row: Row): string | null {
  if (over !== undefined && row[over.document]) return valueAt(String(row[over.document]), over.path)
  return valueAt(String(row[document] ?? ''), path)
}

export const jsonPresent = (json: JsonField, row: Row): boolean => {
  const value = jsonValue(json, row)
  return value !== null && value !== 'null'
}

type Cast = (value: Exclude<Scalar, null>) => Scalar

/** A boolean as the number that it is: one from a text may be any number up to 255. */
const numberOf = (value: Exclude<Scalar, null>) =>
  typeof value === 'boolean' ? Number(value) : (value as number | bigint)

const castsTo: Record<CastKind, { [From in Kind]?: Cast } & { others: Cast }> = {
  string: {
    string: String,
    bool: (value) => String(Number(value) !== 0),
    datetime: (us) => formatTimestamp(Number(us)),
    others: (value) => numberText(value as number | bigint),
  },
  int: {
    string: (text) => stringToInt(String(text)),
    datetime: (us) => BigInt(Math.trunc(Number(us) / 1e6)),
    others: (value) => numberToInt(numberOf(value)),
  },
  double: {
    string: (text) => stringToDouble(String(text)),
    datetime: (us) => Number(us) / 1e6,
    others: Number,
  },
  bool: {
    string: (text) => stringToBool(String(text)),
    bool: numberOf,
    others: (value) => Number(value) !== 0,
  },
}

const cast = (to: CastKind, from: Kind, value: Scalar): Scalar =>
  value === null ? null : (castsTo[to][from] ?? castsTo[to].others)(value)

/** Negative, zero or positive; texts in byte order of UTF-8, integers exactly. */
export function compareScalars(a: Exclude<Scalar, null>, b: Exclude<Scalar, null>): number {
  if (typeof a === 'string' && typeof b === 'string') return compareCodePoints(a, b)
  return a < b ? -1 : a > b ? 1 : 0
}

const holds: Record<CompareOp, (order: number) => boolean> = {
  eq: (order) => order === 0,
  gt: (order) => order > 0,
  gte: (order) => order >= 0,
  lt: (order) => order < 0,
  lte: (order) => order <= 0,
}

function contains(input: Scalar, substr: Scalar, fold: boolean): boolean | null {
  if (input === null || substr === null) return null
  const [text, part] = [String(input), String(substr)]
  return fold ? text.toLowerCase().includes(part.toLowerCase()) : text.includes(part)
}

const listOf = (row: Row, column: string): readonly string[] => {
  const list = row[column]
  return Array.isArray(list) ? list : []
}

/** The texts of a JSON list. */
function textsOf(row: Row, document: string): string[] {
  const list: unknown = JSON.parse(String(row[document] ?? '') || '[]')
  return Array.isArray(list) ? list.map(String) : []
}

const startsWithAny = (text: string, prefixes: readonly string[]): boolean =>
  prefixes.some((prefix) => text.startsWith(prefix))

function junction(is: 'and' | 'or', of: Condition[], row: Row): boolean | null {
  const decisive = is === 'or'
  let unknown = false
  for (const operand of of) {
    const value = evaluateCondition(operand, row)
    if (value === decisive) return decisive
    if (value === null) unknown = true
  }
  return unknown ? null : !decisive
}

/** True, false or NULL. */
export function evaluateCondition(node: Condition, row: Row): boolean | null {
  switch (node.is) {
    case 'and':
    case 'or':
      return junction(node.is, node.of, row)
    case 'not': {
      const value = evaluateCondition(node.of, row)
      return value === null ? null : !value
    }
    case 'compare': {
      const left = evaluateValue(node.left, row)
      const right = evaluateValue(node.right, row)
      return left === null || right === null ? null : holds[node.op](compareScalars(left, right))
    }
    case 'isNull':
      return evaluateValue(node.of, row) === null
    case 'exists':
      return jsonPresent(node.json, row)
    case 'in': {
      if (node.values.length === 0) return false
      const left = evaluateValue(node.left, row)
      return left === null ? null : node.values.some((value) => compareScalars(left, value) === 0)
    }
    case 'startsWith': {
      const input = evaluateValue(node.input, row)
      return input === null ? null : startsWithAny(String(input), node.prefixes)
    }
    case 'contains':
      return contains(evaluateValue(node.input, row), evaluateValue(node.substr, row), node.fold)
    case 'member': {
      const value = evaluateValue(node.value, row)
      const form = (text: string): string => (node.fold ? text.toLowerCase() : text)
      return value !== null && listOf(row, node.list.column).some((ref) => form(ref) === form(String(value)))
    }
    case 'anyOf':
      return listOf(row, node.list.column).some((ref) => node.values.includes(ref) || startsWithAny(ref, node.prefixes))
    case 'among': {
      const value = evaluateValue(node.value, row)
      if (value === null) return false
      const holds = (text: string) =>
        node.how === 'equal' ? text === value : contains(text, value, node.fold) === true
      return textsOf(row, node.document).some(holds)
    }
    case 'truth': {
      const value = evaluateValue(node.of, row)
      return truthOf(value)
    }
    case 'constant':
      return node.value
  }
}

export function evaluateValue(node: Value, row: Row): Scalar {
  if (isCondition(node)) return evaluateCondition(node, row)
  switch (node.is) {
    case 'literal':
      return node.value
    case 'null':
      return null
    case 'json':
      if (node.json.ref && !row[node.json.document]) return null
      return (holdsOwnValues(node.json.document) ? attributeForm : stringForm)(jsonValue(node.json, row))
    case 'column':
      return node.column.read(row)
    case 'cast':
      return cast(node.to, kindOf(node.of), evaluateValue(node.of, row))
    case 'length': {
      const text = evaluateValue(node.of, row)
      return text === null ? null : BigInt(Buffer.byteLength(String(text)))
    }
    case 'listLength':
      return BigInt(listOf(row, node.list.column).length)
  }
}
