// Runs the command `explain-cost` inside the server.

import { type Freshness, latestOfLog } from '../../core/log/freshness.ts'
import type { ControlHandler } from '../../core/process/control-socket.ts'
import type { CostExplainer } from '../../query/costs/explain.ts'

export const costCommands =
  (deps: { explainer: CostExplainer; freshness: Freshness }): ControlHandler =>
  async ({ command, args: [callId = '', projectId] }) => {
    if (command !== 'costs.explain') throw new Error(`Unknown command ${command}`)
    await deps.freshness.wait(latestOfLog(), ['calls', 'costs'])
    return deps.explainer.explain(callId, projectId ?? null)
  }
