// Joins alternatives that compare one value with literals into one list: long chains of them are what clients send.
import type { Condition, Value } from './types.ts'

type Listed = Extract<Condition, { is: 'in' }>

/** Key that distinguishes simple values; null for values that are not worth it. */
function keyOf(value: Value): string | null {
  if (value.is === 'column') return value.column.name
  if (value.is === 'json') return JSON.stringify(value.json)
  return value.is === 'cast' && value.of.is === 'json' ? `${value.to} ${JSON.stringify(value.of.json)}` : null
}

/** `x = literal` as a list of one. */
function asList(condition: Condition): Listed | null {
  if (condition.is === 'in') return condition
  if (condition.is !== 'compare' || condition.op !== 'eq' || condition.right.is !== 'literal') return null
  const { kind, value } = condition.right
  if (kind === 'bool') return { is: 'in', left: condition.left, kind: 'int', values: [Number(value)] }
  return { is: 'in', left: condition.left, kind, values: [value as string | number] }
}

function joinLists(alternatives: readonly Condition[]): Condition[] {
  const groups = new Map<string, { place: number; list: Listed }>()
  const joined: Condition[] = []
  for (const alternative of alternatives) {
    const list = asList(alternative)
    const key = list && keyOf(list.left)
    const group = list === null || key === null ? undefined : groups.get(`${list.kind} ${key}`)
    if (list !== null && group !== undefined) {
      for (const value of list.values) group.list.values.push(value)
      joined[group.place] = group.list
      continue
    }
    if (list !== null && key !== null)
      groups.set(`${list.kind} ${key}`, { place: joined.length, list: { ...list, values: [...list.values] } })
    joined.push(alternative)
  }
  return joined
}

/** The same condition with fewer parts. Works on the and/or/not skeleton; operands of comparisons stay. */
export function simplify(condition: Condition): Condition {
  switch (condition.is) {
    case 'and':
      return { is: 'and', of: condition.of.map(simplify) }
    case 'or': {
      const of = joinLists(condition.of.map(simplify))
      return of.length === 1 ? (of[0] as Condition) : { is: 'or', of }
    }
    case 'not':
      return { is: 'not', of: simplify(condition.of) }
    default:
      return condition
  }
}
