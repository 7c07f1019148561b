// The routes of evaluation runs, predictions and scores, over one view of calls.
import type { Route } from '../core/http/route.ts'
import { createPredictionRoutes } from './predictions/predictions.ts'
import { createRunCache } from './runs/cache.ts'
import { createCalls, type EvaluationDeps } from './runs/calls.ts'
import { createEvaluationRunRoutes } from './runs/runs.ts'
import { createScoreRoutes } from './scores/scores.ts'
import { createEvaluationStatusRoutes } from './status.ts'

export function createRunRoutes(deps: EvaluationDeps): Route[] {
  const calls = createCalls(deps)
  const all = { ...deps, calls, cache: createRunCache(calls) }
  return [
    ...createEvaluationRunRoutes(all),
    ...createPredictionRoutes(all),
    ...createScoreRoutes(all),
    ...createEvaluationStatusRoutes(all),
  ]
}
