// Figures of whole traces: spans, errors, times, tokens and costs, from the calls themselves.

import type { TraceFigures } from '../../../schemas/traces.ts'
import { formatTimestamp } from '../../core/clock/timestamps.ts'
import type { ProjectId } from '../../core/ids.ts'
import { join, param, type Sql, sql } from '../../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../../core/store/store.ts'
import { projectQuery } from '../../events/project-query.ts'
import { billedMetrics } from '../call-stats/metrics.ts'
import { isRootOrSpan, livePoints, type Series } from '../call-stats/series.ts'
import { compileCallsQuery } from '../calls/conditions/compile-query.ts'
import { callConditions, conditionsOf } from '../calls/conditions/conditions.ts'
import { allOf, everything, isRoot, type Scope } from '../calls/scope.ts'
import { asNumbers, rowReader } from '../compact-rows.ts'
import { type Billed, nothingBilled } from '../costs/billed.ts'
import { type PriceBook, totalsOf } from '../costs/prices.ts'

/** Start times that one statement names; of more the table of keys is asked again. */
const maxTimes = 20_000
/** Roots of one trace that are named. */
const maxRoots = 20

const startedUs = sql`toUnixTimestamp64Micro(c.started_at)`

/** The last that is known of a call: its end, or its start while it runs or ended before it. */
export const lastUs = sql`toUnixTimestamp64Micro(if(c.end_ver > 0, greatest(c.ended_at, c.started_at), c.started_at))`

/** A total that is not reported is that of both, but for what a span counts beyond those below it. */
export const totalOfPoint = sql`toFloat64(if(nested = 0 AND point.4 = 0, point.2 + point.3, point.4))`

/** The numbers that costs are made of, in a data point, in the order of `Billed` behind the tokens. */
export const costSums: readonly Sql[] = [
  sql`toFloat64(point.2)`,
  sql`toFloat64(point.3)`,
  ...Object.values(billedMetrics).map(({ value }) => sql`assumeNotNull(${value})`),
]

/** Costs of sums in the order of `costSums`. */
export function costOf(book: PriceBook, model: string, us: number, sums: readonly number[]): number | null {
  const price = book.at(model, us)
  if (price === null) return null
  const [prompt = 0, completion = 0, ...numbers] = sums
  const billed = Object.fromEntries(Object.keys(nothingBilled).map((name, n) => [name, numbers[n] ?? 0])) as Billed
  return totalsOf(price, { prompt, completion }, billed).reduce((a, b) => a + b)
}

/**
 * Data points of calls with what tells them apart: `trace`, `is_top` (of a root or a span, whose parents carry no usage of
 * theirs) and what `more` adds.
 */
export const tracePoints = (
  project: Parameters<typeof livePoints>[0],
  scope: Scope,
  asked: { query: Series['query']; trace: Sql; at: Sql; billed: boolean },
): Sql =>
  livePoints(
    project,
    {
      scope,
      query: asked.query,
      granularity: 60,
      keys: [
        { name: 'trace', sql: asked.trace },
        { name: 'is_top', sql: sql`toUInt8(${isRootOrSpan(project, scope)})` },
        { name: 'priced_at', sql: asked.at },
      ],
    },
    { rootsOrSpans: false, billed: asked.billed },
  )

const ofTraces = (projectId: ProjectId, ids: readonly string[]) => ({
  scope: { projectId, range: everything, index: { column: 'trace_id', values: ids }, keys: null } satisfies Scope,
  query: compileCallsQuery({ projectId, filter: { trace_ids: [...ids] } }),
})

type FigureRow = {
  trace: string
  spans: number
  errors: number
  running: number
  begunUs: number
  endUs: number
  /** Ids, the earliest first. */
  roots: string[]
  /** Whether the roots stand for one that never came. */
  isOrphan: 0 | 1
  /** Start times of calls with usage. */
  reportedUs: number[]
}

const figureReader = rowReader<FigureRow>({
  trace: sql`c.trace_id`,
  spans: sql`count()`,
  errors: sql`countIf(c.exception != '')`,
  running: sql`countIf(c.end_ver = 0)`,
  begunUs: sql`min(${startedUs})`,
  endUs: sql`max(${lastUs})`,
  roots: sql`arraySlice(arrayMap(root -> root.2, arraySort(roots)), 1, ${param('UInt32', maxRoots)})`,
  isOrphan: sql`countIf(c.parent_id = '') = 0 AND notEmpty(roots)`,
  reportedUs: sql`groupUniqArrayIf(${startedUs}, notEmpty(c.usage_model))`,
})

/** Figures of some traces, from their calls. */
export const figuresQuery = (projectId: ProjectId, ids: readonly string[]): Query =>
  projectQuery('traces.figures', projectId, (project) => {
    const { scope, query } = ofTraces(projectId, ids)
    const where = allOf(callConditions(project, scope, conditionsOf(query)))
    return sql`WITH groupArrayIf((c.started_at, c.id), ${isRoot(project)}) AS roots
    SELECT ${figureReader.select}
    ${project.from('calls', { alias: 'c', final: true, where })} GROUP BY c.trace_id ${asNumbers}`
  })

type UsageRow = {
  trace: string
  /** Whether it is that of roots and spans. */
  isTop: 0 | 1
  model: string
  /** From when on the price of the model holds. */
  pricedUs: number
  totalTokens: number
  /** Those that costs are made of. */
  sums: number[]
}

const usageReader = rowReader<UsageRow>({
  trace: sql`trace`,
  isTop: sql`is_top`,
  model: sql`toString(point.1) AS model`,
  pricedUs: sql`priced_at`,
  totalTokens: sql`sum(${totalOfPoint})`,
  sums: sql`sumForEach([${join(costSums, ', ')}])`,
})

/**
 * Usage of some traces by model and price.
 * @param times of calls with usage, null = there are too many
 */
export const tracesUsageQuery = (
  projectId: ProjectId,
  ids: readonly string[],
  times: readonly number[] | null,
  changesUs: readonly number[],
): Query =>
  projectQuery('traces.usage', projectId, (project) => {
    const { scope: ofIds, query } = ofTraces(projectId, ids)
    const scope: Scope = times === null ? ofIds : { ...ofIds, index: null, times }
    const at = sql`roundDown(${startedUs}, ${param('Array(Int64)', [0, ...changesUs])})`
    const points = tracePoints(project, scope, { query, trace: sql`c.trace_id`, at, billed: true })
    return sql`SELECT ${usageReader.select}
    FROM ${points} GROUP BY trace, is_top, model, priced_at ${asNumbers}`
  })

function usageOf(rows: readonly UsageRow[], book: PriceBook) {
  const tops = rows.filter(({ isTop }) => isTop)
  const found = { input_tokens: 0, output_tokens: 0, total_tokens: 0, cost: null as number | null }
  const models = new Set<string>()
  const unpriced = new Set<string>()
  for (const { model, pricedUs, totalTokens, sums } of tops.length > 0 ? tops : rows) {
    models.add(model)
    found.input_tokens += sums[0] ?? 0
    found.output_tokens += sums[1] ?? 0
    found.total_tokens += totalTokens
    const cost = costOf(book, model, pricedUs, sums)
    if (cost !== null) found.cost = (found.cost ?? 0) + cost
    else if (totalTokens > 0 || sums.some((sum) => sum !== 0)) unpriced.add(model)
  }
  if (found.total_tokens === 0) found.cost ??= 0
  return { ...found, models: [...models].sort(), unpriced: [...unpriced].sort() }
}

/** The traces that there are, in the order of their ids. */
export async function readFigures(
  source: { store: Pick<Store, 'bytes'>; projectId: ProjectId; options: QueryOptions },
  ids: readonly string[],
  book: PriceBook,
): Promise<TraceFigures[]> {
  if (ids.length === 0) return []
  const { store, projectId, options } = source
  const figures = await figureReader.read(store, figuresQuery(projectId, ids), options)
  const times = [...new Set(figures.flatMap(({ reportedUs }) => reportedUs))]
  const named = times.length > maxTimes ? null : times
  const usage =
    times.length === 0
      ? []
      : await usageReader.read(store, tracesUsageQuery(projectId, ids, named, book.changesUs()), options)
  const figuresOf = new Map(figures.map((row) => [row.trace, row]))
  const usageBy = Map.groupBy(usage, ({ trace }) => trace)
  return [...new Set(ids)].flatMap((id): TraceFigures[] => {
    const row = figuresOf.get(id)
    if (row === undefined) return []
    const { spans, errors, running, begunUs, endUs, roots, isOrphan } = row
    const { models, unpriced, ...tokens } = usageOf(usageBy.get(id) ?? [], book)
    return [
      {
        trace_id: id,
        root_ids: roots,
        ...(isOrphan && { is_orphan: true as const }),
        started_at: formatTimestamp(begunUs),
        ended_at: running > 0 ? null : formatTimestamp(endUs),
        duration_ms: (endUs - begunUs) / 1000,
        is_running: running > 0,
        spans,
        errors,
        ...tokens,
        models,
        ...(unpriced.length > 0 && { unpriced_models: unpriced }),
      },
    ]
  })
}
