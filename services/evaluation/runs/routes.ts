// The routes of evaluation runs, predictions and scores, over one view of calls.
import type { Route } from '../../core/http/route.ts'
import { createPredictionRoutes } from '../predictions/predictions.ts'
import { createScoreRoutes } from '../scores/scores.ts'
import { createEvaluationStatusRoutes } from '../status.ts'
import { createRunCache } from './cache.ts'
import { createCalls, type EvaluationDeps } from './calls.ts'
import { createEvaluationRunRoutes } from './runs.ts'

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
