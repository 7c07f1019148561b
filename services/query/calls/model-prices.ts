// Prices of the models that a project's calls name, for requests whose conditions or order read what calls cost.

import type { RouteContext } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'
import type { Freshness } from '../../core/log/freshness.ts'
import { sql } from '../../core/store/sql.ts'
import type { Query, Store } from '../../core/store/store.ts'
import { projectQuery } from '../../events/project-query.ts'
import { readTuples } from '../compact-rows.ts'
import type { Prices } from '../costs/prices.ts'
import { costFieldName, type ModelPrices, modelPrices } from './conditions/usage-fields.ts'

/** Models of all versions of calls: a model too many changes nothing. */
export const modelsQuery = (projectId: ProjectId): Query =>
  projectQuery(
    'costs.models',
    projectId,
    (project) => sql`SELECT DISTINCT arrayJoin(usage_model) AS model ${project.from('calls')} ORDER BY model`,
  )

const spelled = `"${costFieldName}"`

/** Undefined where nothing of the request reads what a call costs. */
export async function pricesFor(
  { store, prices, freshness }: { store: Pick<Store, 'bytes'>; prices: Prices; freshness: Freshness },
  projectId: ProjectId,
  context: RouteContext<unknown>,
): Promise<ModelPrices | undefined> {
  const { body, signal } = context
  if (!body.bytes.includes(spelled)) return undefined
  await freshness.wait(context, ['calls', 'costs'])
  const [book, models] = await Promise.all([
    prices.of(projectId, { signal }),
    readTuples<[string]>(store, modelsQuery(projectId), { signal }),
  ])
  return modelPrices(
    book,
    models.map(([model]) => model),
  )
}
