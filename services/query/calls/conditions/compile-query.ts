// Compiles what a call query requests (filter, query, sort_by) into conjuncts, index facts and an order.
import type { CallsFilter, SortTerm } from '../../../../schemas/query.ts'
import { identifier } from '../../../core/store/sql.ts'
import { compileCondition } from '../../language/compile.ts'
import { evaluateCondition } from '../../language/evaluate.ts'
import { parseQuery } from '../../language/parse.ts'
import { columnsOf } from '../../language/tree.ts'
import type { ColumnSql, Condition } from '../../language/types.ts'
import { checkWeight } from '../../language/weight.ts'
import { conditionsOf, copiesFor, mixedReads } from './conditions.ts'
import { expandedPaths } from './expanded.ts'
import { factsOf, isOfRoots } from './facts.ts'
import { callFields, isDocument, readsBySource } from './fields.ts'
import { filterConditions } from './filter.ts'
import { derivedFieldFactory } from './joins.ts'
import { compileSort } from './sort.ts'
import type { CompiledCallsQuery, CompiledCondition, Document } from './types.ts'
import type { ModelPrices } from './usage-fields.ts'

/** Columns of a call header are under the alias `c`, those of documents under `p`. */
const usualColumnSql: ColumnSql = (column) => identifier(`${isDocument(column) ? 'p' : 'c'}.${column}`)

function compiled(condition: Condition): CompiledCondition {
  return {
    ...readsBySource([...columnsOf(condition)]),
    tree: condition,
    isOfRoots: isOfRoots(condition),
    sql: (of = usualColumnSql) => compileCondition(condition, of),
    evaluate: (row) => evaluateCondition(condition, row) === true,
  }
}

const conjunctsOf = (condition: Condition | null): Condition[] =>
  condition === null ? [] : condition.is === 'and' ? condition.of : [condition]

/**
 * A call query, compiled. Pure: all faults of the request come from here, before any
 * row is read.
 * @throws Fault 400 or 422, as the query language says
 */
export function compileCallsQuery(request: {
  filter?: CallsFilter | null | undefined
  /** The `query` member as it came; checked here. */
  query?: unknown
  sort_by?: readonly SortTerm[] | null | undefined
  projectId: string
  /** First word of special feedback types, beside `wandb`. */
  feedbackPrefix?: string
  /** Dotted paths at which conditions and order are read through refs. */
  expand_columns?: readonly string[] | null | undefined
  /** Prices, where conditions and order may read costs of calls (calls/model-prices.ts). */
  prices?: ModelPrices | undefined
  /** Where conditions and order may read what whole traces come to: the rows are looked up then (traces/whole-traces.ts). */
  wholeTraces?: boolean | undefined
}): CompiledCallsQuery {
  const derived = derivedFieldFactory(request.feedbackPrefix ?? 'wandb')
  const { prices, wholeTraces } = request
  const fields = callFields({
    derived,
    expand: expandedPaths(request.expand_columns),
    prices,
    wholeTraces,
    errors: true,
  })
  const conjuncts = [
    ...filterConditions(request.filter, request.projectId),
    ...conjunctsOf(parseQuery(request.query, fields)),
  ]
  const conditions = conjuncts.filter((condition) => condition.is !== 'constant' || condition.value !== true)
  const all = conditions.map(compiled)
  const isHeader = ({ needs, derived }: CompiledCondition): boolean => needs.size === 0 && derived.size === 0
  const header = all.filter(isHeader)
  const payload = all.filter((condition) => !isHeader(condition))
  const { fields: derivedFields } = derived
  const sort = compileSort(request.sort_by, fields, usualColumnSql)
  const conditionsBySide = conditionsOf({ header, payload, derivedFields })
  const ofMixed = conditionsBySide.mixed.length > 0 ? copiesFor(mixedReads(conditionsBySide)) : 0
  const ofSort = copiesFor(sort)
  checkWeight([
    ...header.map(({ tree }) => ({ of: tree, times: ofSort * (1 + ofMixed) })),
    ...payload.map(({ tree }) => ({ of: tree, times: ofSort })),
    ...sort.fields.map((field) => ({ of: field, times: 3 })),
  ])
  return {
    header,
    payload,
    derivedFields,
    needs: new Set<Document>(payload.flatMap((condition) => [...condition.needs])),
    facts: factsOf(conditions),
    sort,
  }
}
