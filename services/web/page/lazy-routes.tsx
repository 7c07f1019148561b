// Pages that are not needed for a list of calls, in one chunk: of several, what they share with the entry becomes a chunk
// that the entry waits for.
import { createLazyRoute } from '@tanstack/react-router'
import { CompareRuns } from './evaluations/compare.tsx'
import { EvaluationRun } from './evaluations/run.tsx'
import { EvaluationRuns } from './evaluations/runs.tsx'
import { ObjectVersion } from './objects/object-version.tsx'
import { CallLink } from './traces/call-link.tsx'
import { Trace } from './traces/trace.tsx'

export { ColumnChooser } from './calls/column-chooser.tsx'
export const traceRoute = createLazyRoute('/signed-in/p/$entity/$project/traces/$traceId')({ component: Trace })
export const callRoute = createLazyRoute('/signed-in/p/$entity/$project/calls/$id')({ component: CallLink })
export const objectRoute = createLazyRoute('/signed-in/p/$entity/$project/objects/$objectId/$version')({
  component: ObjectVersion,
})
export const evaluationsRoute = createLazyRoute('/signed-in/p/$entity/$project/evaluations')({
  component: EvaluationRuns,
})
export const evaluationRoute = createLazyRoute('/signed-in/p/$entity/$project/evaluations/$runId')({
  component: EvaluationRun,
})
export const compareRoute = createLazyRoute('/signed-in/p/$entity/$project/evaluations/compare')({
  component: CompareRuns,
})
