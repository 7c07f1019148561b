// Reads the parts of traces: from the table for the minutes that it covers, from the calls for the others.

import type { ProjectId } from '../../core/ids.ts'
import { join, sql } from '../../core/store/sql.ts'
import type { Query } from '../../core/store/store.ts'
import { projectQuery } from '../../events/project-query.ts'
import { bucketConditions, readSplit, type Split, type StatsCache } from '../call-stats/rollup.ts'
import { compileCallsQuery } from '../calls/conditions/compile-query.ts'
import type { CallReader } from '../calls/reader.ts'
import { allOf, type Range, type Scope, scopeConditions } from '../calls/scope.ts'
import { readTuples } from '../compact-rows.ts'
import type { PriceBook } from '../costs/prices.ts'
import type { PartColumn, PartsAsked } from './parts.ts'
import { priceGrid } from './price-grid.ts'

/** Distance from a root within which calls of its trace count for order and conditions; figures in answers count all of them. */
const reachUs = 86_400_000_000
export const minuteUs = 60_000_000
/** All times that calls have, in whole minutes. */
const allTimes = { fromUs: 0, beforeUs: 3_999_960_000_000_000 }

export const floorOf = (us: number): number => Math.floor(us / minuteUs) * minuteUs
/** Where parts of traces lie whose roots are within a range. */
export function partsReachOf({ fromUs, beforeUs }: Range): { fromUs: number; beforeUs: number } {
  return {
    fromUs: fromUs === null ? allTimes.fromUs : Math.max(allTimes.fromUs, floorOf(fromUs - reachUs)),
    beforeUs: beforeUs === null ? allTimes.beforeUs : Math.min(allTimes.beforeUs, floorOf(beforeUs + reachUs)),
  }
}

/** Models that parts have. */
export const traceModelsQuery = (projectId: ProjectId, split: Split | null, range: Range): Query =>
  projectQuery('traces.models', projectId, (project) => {
    const scope: Scope = { projectId, range, index: null, keys: null, ...(split && { within: split.live }) }
    const calls = project.from('calls', { alias: 'c', final: true, where: allOf(scopeConditions(project, scope)) })
    const parts = project.from('trace_parts', { final: true, where: bucketConditions(split?.whole ?? [], false) })
    const all = [
      sql`SELECT groupUniqArrayArray(c.usage_model) AS models ${calls}`,
      ...(split ? [sql`SELECT groupUniqArrayArray(usage_model) AS models ${parts}`] : []),
    ]
    return sql`SELECT toString(arrayJoin(groupUniqArrayArray(models))) FROM (${join(all, ' UNION ALL ')})`
  })

export type PartsSource = Pick<CallReader, 'store' | 'projectId' | 'options'> & { cache: Pick<StatsCache, 'covered'> }

/**
 * @param asked.range where parts lie, in whole minutes
 * @param asked.live minutes in seconds that are read from the calls in any case
 */
export async function readParts(
  source: PartsSource,
  book: () => Promise<PriceBook>,
  asked: { range: { fromUs: number; beforeUs: number }; needs: ReadonlySet<PartColumn>; live: readonly number[] },
): Promise<Omit<PartsAsked, 'roots'>> {
  const { store, projectId, options } = source
  const { range, needs } = asked
  const split = (live: readonly number[]) =>
    readSplit(
      source,
      { startUs: range.fromUs, endUs: range.beforeUs },
      { rollup: 'trace_parts', live: [...asked.live, ...live] },
    )
  const models = async (of: Split | null) =>
    (await readTuples<[string]>(store, traceModelsQuery(projectId, of, range), options)).map(([model]) => model)
  let parts = await split([])
  const grid = needs.has('top_cost') ? priceGrid(await book(), await models(parts), range) : null
  if (grid !== null && grid.splitMinutes.length > 0) parts = await split(grid.splitMinutes)
  return { split: parts, range, needs, grid, query: compileCallsQuery({ projectId }) }
}
