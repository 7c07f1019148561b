// Derives facts from a list of conjuncts about columns that have an index: access paths are chosen by these.
import type { Condition, Value } from '../../language/types.ts'
import type { IndexFacts } from './types.ts'

type Lists = {
  id: string[] | null
  trace_id: string[] | null
  parent_id: string[] | null
  thread_id: string[] | null
  turn_id: string[] | null
  op_name: string[] | null
}

const isIndexed = (name: string, lists: Lists): name is keyof Lists => Object.hasOwn(lists, name)

const columnName = (value: Value): string => (value.is === 'column' ? value.column.name : '')

const both = (a: string[] | null, b: string[]): string[] => (a === null ? b : a.filter((value) => b.includes(value)))

/** The values that a column must have for the condition to hold, if it says so. */
function valuesOf(condition: Condition): { column: string; values: string[] } | null {
  if (condition.is === 'in' && condition.kind === 'string')
    return { column: columnName(condition.left), values: [...new Set(condition.values as string[])] }
  if (condition.is === 'compare' && condition.op === 'eq') {
    const [field, other] =
      condition.left.is === 'literal' ? [condition.right, condition.left] : [condition.left, condition.right]
    if (other.is === 'literal' && typeof other.value === 'string')
      return { column: columnName(field), values: [other.value] }
  }
  return null
}

const mirrored = { eq: 'eq', gt: 'lt', gte: 'lte', lt: 'gt', lte: 'gte' } as const

/** Bounds [from, before) that a comparison of started_at sets. */
function boundsOf(condition: Condition): { from: number; before: number } | null {
  if (condition.is !== 'compare') return null
  const swapped = condition.left.is === 'literal'
  const [field, other] = swapped ? [condition.right, condition.left] : [condition.left, condition.right]
  if (columnName(field) !== 'started_at' || other.is !== 'literal' || other.kind !== 'datetime') return null
  const us = Number(other.value)
  switch (swapped ? mirrored[condition.op] : condition.op) {
    case 'eq':
      return { from: us, before: us + 1 }
    case 'gt':
      return { from: us + 1, before: Infinity }
    case 'gte':
      return { from: us, before: Infinity }
    case 'lt':
      return { from: -Infinity, before: us }
    case 'lte':
      return { from: -Infinity, before: us + 1 }
  }
}

/** Name of the parent where a query asks for roots, and calls that stand for roots count too. */
export const rootColumn = 'root_parent'

export const isOfRoots = (condition: Condition): boolean =>
  condition.is === 'isNull' && columnName(condition.of) === rootColumn

/** Facts that follow from all conjuncts together. */
export function factsOf(conjuncts: readonly Condition[]): IndexFacts {
  const lists: Lists = { id: null, trace_id: null, parent_id: null, thread_id: null, turn_id: null, op_name: null }
  let [from, before] = [-Infinity, Infinity]
  let [impossible, rootsOnly, others] = [false, false, 0]
  for (const conjunct of conjuncts) {
    const bounds = boundsOf(conjunct)
    if (bounds !== null) {
      from = Math.max(from, bounds.from)
      before = Math.min(before, bounds.before)
    } else if (isOfRoots(conjunct)) rootsOnly = true
    else if (conjunct.is !== 'constant' || conjunct.value !== true) others++
    if (conjunct.is === 'constant' && conjunct.value !== true) impossible = true
    const found = valuesOf(conjunct)
    if (found !== null && isIndexed(found.column, lists)) lists[found.column] = both(lists[found.column], found.values)
  }
  const empty = Object.values(lists).some((list) => list?.length === 0)
  return {
    nothing: impossible || empty || from >= before,
    ids: lists.id,
    traceIds: lists.trace_id,
    parentIds: lists.parent_id,
    rootsOnly,
    startedFrom: Number.isFinite(from) ? from : null,
    startedBefore: Number.isFinite(before) ? before : null,
    counted: others > 0 ? null : rootsOnly ? 'roots' : 'calls',
  }
}
