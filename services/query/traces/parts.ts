// Parts of traces, from the table of them (trace_parts) and from the calls of minutes that it does not cover: what traces are
// ordered and filtered by, a row per trace, minute and kind of number.
import { identifier, join, param, type Sql, sql } from '../../core/store/sql.ts'
import type { ProjectScope } from '../../events/project-query.ts'
import { bucketConditions, type Split } from '../call-stats/rollup.ts'
import { traceKey } from '../calls/conditions/trace-fields.ts'
import type { CompiledCallsQuery } from '../calls/conditions/types.ts'
import { allOf, isRoot, type Range, type Scope, scopeConditions } from '../calls/scope.ts'
import { costSums, lastUs, totalOfPoint, tracePoints } from './figures.ts'
import type { PriceGrid } from './price-grid.ts'

/** Columns of a part, with what they are where a row says nothing of them. */
const nothing = {
  spans: sql`toUInt64(0)`,
  errors: sql`toUInt64(0)`,
  begun: sql`toInt64(9000000000000000)`,
  ended: sql`toInt64(0)`,
  root: sql`toInt64(0)`,
  has_top: sql`toUInt8(0)`,
  top_input: sql`toFloat64(0)`,
  top_output: sql`toFloat64(0)`,
  top_total: sql`toFloat64(0)`,
  top_cost: sql`toFloat64(0)`,
  other_input: sql`toFloat64(0)`,
  other_output: sql`toFloat64(0)`,
  other_total: sql`toFloat64(0)`,
  other_cost: sql`toFloat64(0)`,
  is_priced: sql`toUInt8(0)`,
  model: sql`''`,
} as const
export type PartColumn = keyof typeof nothing
type Columns = Partial<Record<PartColumn, Sql>>

export type PartsAsked = {
  /** The parts of time that the table answers, and the others; null = it says nothing. */
  split: Split | null
  /** Range of the parts. */
  range: Range
  /** Range of the roots that count as such; null = other conditions say which these are. */
  roots: Range | null
  needs: ReadonlySet<PartColumn>
  /** Prices for costs; null = the request asks for none. */
  grid: PriceGrid | null
  /** All calls. */
  query: CompiledCallsQuery
}

const bucketUs = sql`toInt64(toUnixTimestamp(bucket)) * 1000000`
const startedUs = sql`toUnixTimestamp64Micro(c.started_at)`
const tokens = ['input', 'output', 'total'] as const

/** Rows of one kind, with all columns that are needed. */
const rowsOf = (trace: Sql, columns: Columns, needs: ReadonlySet<PartColumn>, from: Sql): Sql => {
  const all = [...needs].map((name) => sql`${columns[name] ?? nothing[name]} AS ${identifier(name)}`)
  return sql`SELECT ${trace} AS trace, ${join(all, ', ')} ${from}`
}

const rootWithin = (us: Sql, { roots }: PartsAsked): Sql => {
  if (roots === null) return nothing.root
  const { fromUs, beforeUs } = roots
  const bounds = [
    ...(fromUs === null ? [] : [sql`${us} >= ${param('Int64', fromUs)}`]),
    ...(beforeUs === null ? [] : [sql`${us} < ${param('Int64', beforeUs)}`]),
  ]
  return sql`if(${allOf([sql`${us} > 0`, ...bounds])}, ${us}, 0)`
}

/** The lists of the table that are joined, by the names that their elements get. */
function joined(project: ProjectScope, { split }: PartsAsked, lists: readonly (readonly [list: string, as: string])[]) {
  const where = bucketConditions(split?.whole ?? [], false)
  const arrays = lists.map(([list, as]) => sql`${identifier(list)} AS ${identifier(as)}`)
  // The elements have names of their own: a list and an expression over its elements may not share one.
  const names = lists.map(([, as]) => identifier(as))
  return sql`FROM (SELECT bucket, ${join(names, ', ')} FROM (SELECT * ${project.from('trace_parts', { final: true, where })})
    ARRAY JOIN ${join(arrays, ', ')})`
}

function countedParts(project: ProjectScope, asked: PartsAsked): Sql {
  const { needs } = asked
  const lists = ['trace', 'begun', 'root_at', 'spans', 'errors', 'ended', 'has_top'].filter(
    (list) => list === 'trace' || needs.has(list === 'root_at' ? 'root' : (list as PartColumn)),
  )
  const sums = ['top', 'other']
    .flatMap((of) => tokens.map((name) => `${of}_${name}`))
    .filter((name) => needs.has(name as PartColumn))
  const named = [...lists, ...sums].map((name) => [name, `p_${name}`] as const)
  const columns: Columns = {
    spans: sql`toUInt64(p_spans)`,
    errors: sql`toUInt64(p_errors)`,
    begun: sql`${bucketUs} + p_begun`,
    ended: sql`${bucketUs} + p_ended`,
    root: rootWithin(sql`if(p_root_at = 0, toInt64(0), ${bucketUs} + p_root_at - 1)`, asked),
    has_top: sql`toUInt8(p_has_top)`,
    ...Object.fromEntries(sums.map((name) => [name, identifier(`p_${name}`)])),
  }
  return rowsOf(sql`p_trace`, columns, needs, joined(project, asked, named))
}

/** The columns of a data point of `model` that is one of roots and spans, or not. */
function pointColumns(isTop: Sql, model: Sql, us: Sql, grid: PriceGrid | null, sums: readonly Sql[]): Columns {
  const columns = { has_top: isTop, model }
  if (grid === null) return columns
  const cost = grid.cost(model, us, sums)
  return {
    ...columns,
    top_cost: sql`if(${isTop} = 1, ${cost}, 0)`,
    other_cost: sql`if(${isTop} = 1, 0, ${cost})`,
    is_priced: grid.isPriced(model, us),
  }
}

function billedParts(project: ProjectScope, asked: PartsAsked): Sql {
  const { grid, needs } = asked
  const names = ['input', 'output', 'inside', 'apart', 'billed_read', 'billed_write', 'billed_write_1h', 'more_output']
  const lists = ['trace', 'model', 'top', ...(grid ? names : [])].map((name) => [`usage_${name}`, `u_${name}`] as const)
  const sums = names.map((name) => identifier(`u_${name}`))
  const columns = pointColumns(sql`u_top`, sql`toString(u_model)`, bucketUs, grid, sums)
  return rowsOf(sql`u_trace`, columns, needs, joined(project, asked, lists))
}

/** Scope of the calls that the table does not cover; null = none. */
function liveScope(projectId: Scope['projectId'], { split, range }: PartsAsked): Scope | null {
  const scope = { projectId, range, index: null, keys: null }
  if (split === null) return scope
  return split.live.length === 0 ? null : { ...scope, within: split.live }
}

function liveParts(project: ProjectScope, scope: Scope, asked: PartsAsked): Sql[] {
  const { grid, needs, query } = asked
  const calls: Columns = {
    spans: sql`toUInt64(1)`,
    errors: sql`toUInt64(c.exception != '')`,
    begun: startedUs,
    ended: lastUs,
    root: sql`if(${isRoot(project)}, ${rootWithin(startedUs, asked)}, 0)`,
  }
  const where = allOf(scopeConditions(project, scope))
  const ofCalls = rowsOf(
    traceKey(sql`c.trace_id`),
    calls,
    needs,
    project.from('calls', { alias: 'c', final: true, where }),
  )
  if (!needs.has('has_top') && !needs.has('model')) return [ofCalls]
  const points = tracePoints(project, scope, {
    query,
    trace: traceKey(sql`c.trace_id`),
    at: startedUs,
    billed: grid !== null,
  })
  const model = sql`toString(point.1)`
  const values = { input: sql`toFloat64(point.2)`, output: sql`toFloat64(point.3)`, total: totalOfPoint }
  const sums = tokens.flatMap((name) => [
    [`top_${name}`, sql`if(is_top = 1, ${values[name]}, 0)`],
    [`other_${name}`, sql`if(is_top = 1, 0, ${values[name]})`],
  ])
  const columns = { ...pointColumns(sql`is_top`, model, sql`priced_at`, grid, costSums), ...Object.fromEntries(sums) }
  return [ofCalls, rowsOf(sql`trace`, columns, needs, sql`FROM ${points}`)]
}

/** All parts, as a subquery. */
export function traceParts(
  project: ProjectScope,
  projectId: Scope['projectId'],
  asked: PartsAsked,
  more: readonly Sql[] = [],
): Sql {
  const live = liveScope(projectId, asked)
  const isBilled = asked.grid !== null || asked.needs.has('model')
  const parts = [
    ...(asked.split ? [countedParts(project, asked)] : []),
    ...(asked.split && isBilled ? [billedParts(project, asked)] : []),
    ...(live ? liveParts(project, live, asked) : []),
    ...more,
  ]
  return sql`(${join(parts, ' UNION ALL ')})`
}

/** Roots that are looked up otherwise, as parts. */
export const rootParts = (needs: ReadonlySet<PartColumn>, from: Sql): Sql =>
  rowsOf(traceKey(sql`c.trace_id`), { root: startedUs }, needs, from)
