// Chooses what a time series is read from: the statistics of minutes and hours, or the calls.
import type { ProjectId } from '../../core/ids.ts'
import type { Query, QueryOptions, Store } from '../../core/store/store.ts'
import type { CompiledCallsQuery } from '../calls/conditions/types.ts'
import type { Aggregate } from './aggregates.ts'
import { readIsBilled, readSplit, rolledCallsQuery, rolledUsageQuery, type StatsCache } from './rollup.ts'
import { callSeriesQuery, seriesOf, usageSeriesQuery } from './series.ts'

export type SeriesPlan = {
  calls(aggregates: readonly Aggregate[]): Query
  /** @param options see `usageSeriesQuery` */
  usage(aggregates: readonly Aggregate[], options: { exactTotals: boolean; most: number }): Query
}

export async function planSeries(
  source: { store: Pick<Store, 'bytes'>; projectId: ProjectId; options: QueryOptions; cache: StatsCache },
  asked: {
    query: CompiledCallsQuery
    /** The same without `trace_roots_only`, which means something else for usage. */
    usageQuery: CompiledCallsQuery
    rootsOnly: boolean
    withCosts: boolean
    time: { startUs: number; endUs: number; granularity: number }
  },
): Promise<SeriesPlan> {
  const { projectId } = source
  const { query, usageQuery, rootsOnly, withCosts, time } = asked
  // Parts of a bucket know nothing of filters, but for roots.
  const canMerge = query.facts.counted !== null && time.granularity % 60 === 0
  const split = canMerge ? await readSplit(source, time) : null
  const hasUsage = split !== null && (!withCosts || (await readIsBilled(source)))
  const isMerged = (aggregates: readonly Aggregate[]) => aggregates.every(({ merged }) => merged !== null)
  return {
    calls(aggregates) {
      const series = seriesOf(projectId, query, time)
      if (split === null || !isMerged(aggregates)) return callSeriesQuery(series, aggregates)
      const byHour = !aggregates.some(({ isPercentile }) => isPercentile)
      return rolledCallsQuery(series, aggregates, { split, rootsOnly, byHour })
    },
    usage(aggregates, { exactTotals, most }) {
      const series = seriesOf(projectId, usageQuery, time)
      if (split === null || !hasUsage || !isMerged(aggregates))
        return usageSeriesQuery(series, aggregates, { rootsOrSpans: rootsOnly, exactTotals, most })
      return rolledUsageQuery(series, aggregates, { split, rootsOnly, most })
    },
  }
}
