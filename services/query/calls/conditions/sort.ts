// The order of call queries: `sort_by` as ORDER BY terms, and as a comparison of rows in JS.
import type { SortTerm } from '../../../../schemas/query.ts'
import { fault } from '../../../core/http/errors.ts'
import { join, type Sql, sql } from '../../../core/store/sql.ts'
import { stringToDouble } from '../../language/cast.ts'
import { compileValue } from '../../language/compile.ts'
import { compareScalars, evaluateValue, jsonPresent } from '../../language/evaluate.ts'
import { jsonExists } from '../../language/json-sql.ts'
import { columnsOf } from '../../language/tree.ts'
import type { ColumnSql, Field, Fields, Row, Scalar, Value } from '../../language/types.ts'
import { distinctTerms } from '../../sort-terms.ts'
import { callColumn, readsBySource } from './fields.ts'
import type { CompiledSort, EvaluatedRow } from './types.ts'

type Direction = 'asc' | 'desc'
type Sortable = Exclude<Field, { is: 'list' }>
type Term = { field: Sortable; direction: Direction }

const words: Record<Direction, Sql> = { asc: sql`ASC`, desc: sql`DESC` }

const asDouble = (field: Value): Value => ({ is: 'cast', to: 'double', of: field })

/** NULL last in both directions; the keys of a JSON field: present, then as number, then as text. */
function termSql({ field, direction }: Term, of: ColumnSql): Sql {
  const word = words[direction]
  const value = compileValue(field, of)
  if (field.is === 'column') return sql`${value} ${word}${field.column.nullable ? sql` NULLS LAST` : sql``}`
  return sql`${jsonExists(field.json, of)} DESC, ${compileValue(asDouble(field), of)} ${word} NULLS LAST, ${value} ${word}`
}

function compareNullsLast(a: Scalar, b: Scalar, direction: Direction): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1
  const order = compareScalars(a, b)
  return direction === 'asc' ? order : -order
}

function compareTerm({ field, direction }: Term, a: Row, b: Row): number {
  const left = evaluateValue(field, a)
  const right = evaluateValue(field, b)
  if (field.is === 'column') return compareNullsLast(left, right, direction)
  const presence = Number(jsonPresent(field.json, b)) - Number(jsonPresent(field.json, a))
  if (presence !== 0) return presence
  const numbers = compareNullsLast(stringToDouble(String(left)), stringToDouble(String(right)), direction)
  return numbers || compareNullsLast(left, right, direction)
}

const named = (name: string, direction: Direction): Term => ({
  field: { is: 'column', column: callColumn(name) },
  direction,
})

const nameOf = ({ field }: Term | { field: Sortable }): string => (field.is === 'column' ? field.column.name : '')

function termsOf(sortBy: readonly SortTerm[] | null | undefined, fields: Fields): Term[] {
  if (!sortBy) return [named('started_at', 'asc'), named('id', 'asc')]
  const terms = distinctTerms(sortBy).map(({ field: name, direction }): Term => {
    const field = fields(name)
    if (field.is === 'list' || (field.is === 'json' && field.json.document === 'queues'))
      throw fault(422, `Field ${name} is not allowed for sorting`)
    return { field, direction }
  })
  const last = terms.at(-1)
  if (last === undefined || terms.some((term) => nameOf(term) === 'id')) return terms
  return [...terms, named('id', nameOf(last) === 'started_at' ? last.direction : 'desc')]
}

function fieldOrder(terms: readonly Term[]): CompiledSort['byField'] {
  const [first, second, third] = terms
  if (first?.field.is !== 'json' || second === undefined || nameOf(second) !== 'id' || third) return null
  return { json: first.field.json, direction: first.direction, idDirection: second.direction }
}

/**
 * The order of a query; `fields` says what the names mean.
 * @throws Fault 422 for a field that may not be sorted by, 400 when there are too many
 */
export function compileSort(
  sortBy: readonly SortTerm[] | null | undefined,
  fields: Fields,
  defaultSources: ColumnSql,
): CompiledSort {
  const terms = termsOf(sortBy, fields)
  const reads = terms.flatMap(({ field }) => [...columnsOf(field)])
  const names = terms.map(nameOf)
  const byTime = names[0] === 'started_at' && names[1] === 'id'
  return {
    ...readsBySource(reads),
    fields: terms.map(({ field }) => field),
    orderBy: (of = defaultSources) =>
      terms.length === 0
        ? null
        : join(
            terms.map((term) => termSql(term, of)),
            ', ',
          ),
    startedAtOnly: byTime ? (terms[0] as Term).direction : null,
    idDirection: byTime ? (terms[1] as Term).direction : null,
    byField: fieldOrder(terms),
    compare(a: EvaluatedRow, b: EvaluatedRow): number {
      for (const term of terms) {
        const order = compareTerm(term, a, b)
        if (order !== 0) return order
      }
      return 0
    },
  }
}
