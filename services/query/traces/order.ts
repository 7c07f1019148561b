// Lists traces: those with matching roots that meet the conditions on the whole trace, ordered by one of its figures.

import { type TracesQueryRequest, type TraceWhere, traceNumbers } from '../../../schemas/traces.ts'
import type { ProjectId } from '../../core/ids.ts'
import { join, param, type Sql, sql } from '../../core/store/sql.ts'
import type { Query } from '../../core/store/store.ts'
import { type ProjectScope, projectQuery } from '../../events/project-query.ts'
import type { StatsCache } from '../call-stats/rollup.ts'
import { withFieldTimes } from '../calls/access/field-index.ts'
import { callConditions } from '../calls/conditions/conditions.ts'
import { createRefine, type Refined } from '../calls/conditions/refine.ts'
import { traceKey } from '../calls/conditions/trace-fields.ts'
import type { CallReader } from '../calls/reader.ts'
import { allOf, indexOf, type Range, rangeOf, type Scope } from '../calls/scope.ts'
import { asNumbers, readTuples } from '../compact-rows.ts'
import type { PriceBook } from '../costs/prices.ts'
import { traceValues } from './numbers.ts'
import { type PartColumn, type PartsAsked, rootParts, traceParts } from './parts.ts'
import { floorOf, minuteUs, partsReachOf, readParts } from './read-parts.ts'

type Asked = Pick<TracesQueryRequest, 'where' | 'sort_by' | 'limit' | 'offset' | 'include_counts'>
type Found = { ids: string[]; counts: { traces: number; with_errors: number } | undefined }

const comparisons = { gt: sql`>`, gte: sql`>=`, lt: sql`<`, lte: sql`<=`, eq: sql`=` } as const

function conditionsOn(where: TraceWhere | undefined): Sql[] {
  const conditions = traceNumbers.flatMap((name) =>
    Object.entries(where?.[name] ?? {}).flatMap(([operator, value]) =>
      value === undefined
        ? []
        : [
            sql`${traceValues[name].sql} ${comparisons[operator as keyof typeof comparisons]} ${param('Float64', value)}`,
          ],
    ),
  )
  const { contains, is, is_not: isNot } = where?.model ?? {}
  const isOneOf = (names: readonly string[]) =>
    sql`max(model != '' AND lowerUTF8(model) IN (SELECT lowerUTF8(arrayJoin(${param('Array(String)', names)}))))`
  if (contains !== undefined)
    conditions.push(sql`max(positionCaseInsensitiveUTF8(model, ${param('String', contains)}) > 0 AND model != '') = 1`)
  if (is !== undefined) conditions.push(sql`${isOneOf(is)} = 1`)
  if (isNot !== undefined) conditions.push(sql`${isOneOf(isNot)} = 0`)
  return conditions
}

function columnsFor({ where, sort_by: sortBy, include_counts: counts }: Asked): Set<PartColumn> {
  const names = [...sortBy.map(({ field }) => field), ...traceNumbers.filter((name) => where?.[name] !== undefined)]
  const reads = names.flatMap((name) => traceValues[name].reads)
  return new Set<PartColumn>([
    'begun',
    'root',
    ...reads,
    ...(counts ? (['errors'] as const) : []),
    ...(where?.model ? (['model'] as const) : []),
  ])
}

/** Traces with a matching root that meet what is asked. @param select of each trace; `first_root` is among it */
function matchingTraces(
  project: ProjectScope,
  projectId: ProjectId,
  { asked, where, roots }: { asked: PartsAsked; where: TraceWhere | undefined; roots: Refined | null },
  select: Sql,
): Sql {
  const calls =
    roots &&
    project.from('calls', {
      alias: 'c',
      final: true,
      where: allOf(callConditions(project, roots.scope, roots.conditions)),
    })
  const parts = traceParts(project, projectId, asked, calls ? [rootParts(asked.needs, calls)] : [])
  const having = allOf([sql`first_root > 0`, ...conditionsOn(where)])
  return sql`SELECT ${select} FROM ${parts} GROUP BY trace HAVING ${having}`
}

const firstRoot = sql`minIf(root, root > 0) AS first_root`

/** Rows: trace, the time of its first matching root in us. */
export const orderQuery = (
  projectId: ProjectId,
  asked: PartsAsked,
  { where, sort_by: sortBy, limit, offset }: Asked,
  roots: Refined | null,
): Query =>
  projectQuery('traces.order', projectId, (project) => {
    const terms = sortBy.map(
      ({ field, direction }) => sql`${traceValues[field].sql} ${direction === 'asc' ? sql`ASC` : sql`DESC`}`,
    )
    return sql`${matchingTraces(project, projectId, { asked, where, roots }, sql`toString(trace), toString(${firstRoot})`)}
    ORDER BY ${join([...terms, sql`min(begun) DESC`, sql`trace`], ', ')}
    LIMIT ${param('UInt64', limit)} OFFSET ${param('UInt64', offset)}`
  })

/** One row: traces, those with errors. */
export const countsQuery = (
  projectId: ProjectId,
  asked: PartsAsked,
  where: TraceWhere | undefined,
  roots: Refined | null,
): Query =>
  projectQuery('traces.counts', projectId, (project) => {
    const select = sql`${firstRoot}, ${traceValues.errors.sql} AS failed`
    return sql`SELECT count(), countIf(failed > 0) FROM (${matchingTraces(project, projectId, { asked, where, roots }, select)}) ${asNumbers}`
  })

/** Rows: trace as in `orderQuery`, its id. */
export const idsQuery = (refined: Refined, keys: readonly string[]): Query =>
  projectQuery('traces.ids', refined.scope.projectId, (project) => {
    const { scope, conditions } = refined
    const where = allOf([
      ...callConditions(project, scope, conditions),
      sql`${traceKey(sql`c.trace_id`)} IN (SELECT toUInt128(arrayJoin(${param('Array(String)', keys)})))`,
    ])
    return sql`SELECT DISTINCT toString(${traceKey(sql`c.trace_id`)}), c.trace_id
    ${project.from('calls', { alias: 'c', final: true, where })}`
  })

const edgeMinutes = ({ fromUs, beforeUs }: Range): number[] =>
  [fromUs, beforeUs].flatMap((us) => (us === null || us % minuteUs === 0 ? [] : [floorOf(us) / 1e6]))

const nothing = ({ include_counts: counts }: Asked): Found => ({
  ids: [],
  counts: counts ? { traces: 0, with_errors: 0 } : undefined,
})

/** Ids of the traces of a page, in order; counts of all of them, where they are asked for. @param reader of roots */
export async function readOrder(
  reader: CallReader,
  cache: Pick<StatsCache, 'covered'>,
  book: () => Promise<PriceBook>,
  asked: Asked,
): Promise<Found> {
  const { query, projectId, store, options } = reader
  if (query.facts.nothing) return nothing(asked)
  const roots = rangeOf(query.facts)
  const reach = partsReachOf(roots)
  if (reach.fromUs >= reach.beforeUs) return nothing(asked)
  const read = <Row>(statement: Query) => readTuples<Row>(store, statement, options)
  const parts = await readParts({ store, projectId, options, cache }, book, {
    range: reach,
    needs: columnsFor(asked),
    live: edgeMinutes(roots),
  })

  // Parts know nothing of filters, but for roots and times.
  const scope: Scope = { projectId, range: roots, index: indexOf(query.facts), keys: null }
  const refine = createRefine(reader, false)
  const refined = await refine(query.payload.length > 0 ? await withFieldTimes(reader, scope) : scope)
  if (refined === null) return nothing(asked)
  const isPlain = query.facts.counted === 'roots'
  const partsAsked: PartsAsked = { ...parts, roots: isPlain ? roots : null }
  const from = isPlain ? null : refined
  const [found, [counted]] = await Promise.all([
    read<[key: string, rootUs: string]>(orderQuery(projectId, partsAsked, asked, from)),
    asked.include_counts
      ? read<[traces: number, failed: number]>(countsQuery(projectId, partsAsked, asked.where, from))
      : [],
  ])
  const counts = counted && { traces: counted[0], with_errors: counted[1] }
  if (found.length === 0) return { ids: [], counts }
  const times = [...new Set(found.map(([, us]) => Number(us)))]
  const named = new Map(
    await read<[key: string, id: string]>(
      idsQuery(
        { ...refined, scope: { ...refined.scope, times } },
        found.map(([key]) => key),
      ),
    ),
  )
  return { ids: found.flatMap(([key]) => named.get(key) ?? []), counts }
}
