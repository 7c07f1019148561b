// Pages that are not needed for a list of calls, a trace or a dashboard, in one chunk.
import { createLazyRoute } from '@tanstack/react-router'

export { sendKept } from './annotation-queues/outbox.ts'

import { QueueItem } from './annotation-queues/item.tsx'
import { QueueOverview } from './annotation-queues/queue.tsx'
import { Queues } from './annotation-queues/queues.tsx'
import { Dataset } from './datasets/dataset.tsx'
import { Table } from './datasets/table.tsx'
import { DifferencesPage } from './differences/differences.tsx'
import { CompareRuns } from './evaluations/compare.tsx'
import { EvaluationRun } from './evaluations/run.tsx'
import { EvaluationRuns } from './evaluations/runs.tsx'
import { ObjectVersion } from './objects/object-version.tsx'
import { Objects } from './objects/objects.tsx'
import { Playground } from './playground/playground.tsx'
import { PromptVersion } from './prompts/prompt-version.tsx'
import { Prompts } from './prompts/prompts.tsx'
import { Settings } from './settings/settings.tsx'
import { Thread } from './threads/thread.tsx'
import { Threads } from './threads/threads.tsx'

export { ColumnChooser } from './calls/column-chooser.tsx'
export { ExportList } from './calls/export-list.tsx'
export { Fixes } from './calls/fixes.tsx'
export { MarkBar } from './calls/mark-bar.tsx'
export { ValuesOfRow } from './calls/value-menu.tsx'
export { WhatDiffers } from './calls/what-differs.tsx'
export { GroupsOfCalls } from './dashboards/groups-of-calls.tsx'
export { SmallMedia } from './parts/media.tsx'
export { QuickStart } from './parts/quick-start.tsx'
export { loadView } from './views/saved-views.ts'
export { Views } from './views/views.tsx'
export const objectRoute = createLazyRoute('/signed-in/p/$entity/$project/objects/$objectId/$version')({
  component: ObjectVersion,
})
export const objectsRoute = createLazyRoute('/signed-in/p/$entity/$project/objects')({ component: Objects })
export const versionsRoute = createLazyRoute('/signed-in/p/$entity/$project/objects/$objectId')({ component: Objects })
export const evaluationsRoute = createLazyRoute('/signed-in/p/$entity/$project/evaluations')({
  component: EvaluationRuns,
})
export const evaluationRoute = createLazyRoute('/signed-in/p/$entity/$project/evaluations/$runId')({
  component: EvaluationRun,
})
export const compareRoute = createLazyRoute('/signed-in/p/$entity/$project/evaluations/compare')({
  component: CompareRuns,
})
export const queuesRoute = createLazyRoute('/signed-in/p/$entity/$project/queues')({ component: Queues })
export const queueRoute = createLazyRoute('/signed-in/p/$entity/$project/queues/$queueId')({ component: QueueOverview })
export const queueItemRoute = createLazyRoute('/signed-in/p/$entity/$project/queues/$queueId/items/$itemId')({
  component: QueueItem,
})
export const playgroundRoute = createLazyRoute('/signed-in/p/$entity/$project/playground')({ component: Playground })
export const promptsRoute = createLazyRoute('/signed-in/p/$entity/$project/prompts')({ component: Prompts })
export const promptRoute = createLazyRoute('/signed-in/p/$entity/$project/prompts/$objectId/$version')({
  component: PromptVersion,
})
export const threadsRoute = createLazyRoute('/signed-in/p/$entity/$project/threads')({ component: Threads })
export const threadRoute = createLazyRoute('/signed-in/p/$entity/$project/threads/$threadId')({ component: Thread })
export const datasetRoute = createLazyRoute('/signed-in/p/$entity/$project/datasets/$objectId/$version')({
  component: Dataset,
})
export const tableRoute = createLazyRoute('/signed-in/p/$entity/$project/tables/$digest')({ component: Table })
export const differencesRoute = createLazyRoute('/signed-in/p/$entity/$project/diff')({ component: DifferencesPage })
export const settingsRoute = createLazyRoute('/signed-in/settings/$section')({ component: Settings })
export const systemRoute = createLazyRoute('/signed-in/system')({ component: Settings })
