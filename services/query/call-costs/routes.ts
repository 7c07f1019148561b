// The route that explains what a call cost: POST /cost/explain.
import { costExplainRequest, costExplainResponse } from '../../../schemas/costs.ts'
import { type Route, route } from '../../core/http/route.ts'
import type { Freshness } from '../../core/log/freshness.ts'
import type { Store } from '../../core/store/store.ts'
import type { Prices } from '../costs/prices.ts'
import { createCostExplainer } from './explain.ts'

type Deps = { store: Pick<Store, 'rows' | 'bytes'>; prices: Prices; freshness: Freshness }

export function explainCostRoute({ store, prices, freshness }: Deps): Route {
  const explainer = createCostExplainer({ store, prices })
  return route({
    name: 'costs.explain',
    countsAll: true,
    method: 'POST',
    path: '/cost/explain',
    summary: 'The cost of a call: its usage, the prices that apply, and the calculation for each kind of token',
    body: { type: 'json', schema: costExplainRequest, check: 'schema' },
    response: costExplainResponse,
    tables: ['calls', 'call_keys', 'payloads', 'costs'],
    async handle(context) {
      const { input, signal } = context
      const projectId = context.project(input.project_id)
      const headers = await freshness.wait(context, ['calls', 'costs'])
      return { json: await explainer.explain(input.call_id, projectId, { signal }), headers }
    },
  })
}
