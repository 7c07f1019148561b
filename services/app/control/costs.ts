// Runs the command `explain-cost` inside the server.

import { type Freshness, latestOfLog } from '../../core/log/freshness.ts'
import type { CommandTable } from '../../core/process/services.ts'
import type { CostExplainer } from '../../query/call-costs/explain.ts'

export const costCommands = (deps: { explainer: CostExplainer; freshness: Freshness }): CommandTable => ({
  async 'costs.explain'([callId = '', projectId]) {
    await deps.freshness.wait(latestOfLog(), ['calls', 'costs'])
    return deps.explainer.explain(callId, projectId ?? null)
  },
})
