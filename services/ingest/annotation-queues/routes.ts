// Making annotation queues: POST /annotation_queues, the one write of queues that need not read.
import { annotationQueueCreateRequest, annotationQueueCreateResponse } from '../../../schemas/annotation-queues.ts'
import { type Maskings, maskedTextsOf } from '../../content/masking/maskings.ts'
import type { Clock } from '../../core/clock/clock.ts'
import { type Route, route } from '../../core/http/route.ts'
import { orderedUuidv7 } from '../../core/ids.ts'
import type { Log } from '../../core/log/log.ts'
import { formatPositions, positionHeader } from '../../core/log/positions.ts'
import { queueCreatedRecord } from '../../events/annotation-queues.ts'

export type AnnotationQueueWriteDeps = {
  log: Pick<Log, 'append'>
  clock: Clock
  maskings: Maskings
}

export function createAnnotationQueueWriteRoutes({ log, clock, maskings }: AnnotationQueueWriteDeps): Route[] {
  return [
    route({
      name: 'annotation_queues.create',
      method: 'POST',
      path: '/annotation_queues',
      summary: 'Creates an empty annotation queue',
      body: { type: 'json', schema: annotationQueueCreateRequest, check: 'schema' },
      response: annotationQueueCreateResponse,
      topics: ['annotation_queues'],
      async handle({ input, caller, project }) {
        const { scorer_refs: scorerRefs } = input
        const projectId = project(input.project_id)
        const { name, description } = maskedTextsOf(maskings.of(projectId), 'feedback', input, ['name', 'description'])
        const queueId = orderedUuidv7()
        const event = { projectId, queueId, clock: clock.next(), userId: caller.userId }
        const position = await log.append('annotation_queues', [
          queueCreatedRecord(event, { name, description, scorerRefs }),
        ])
        return { json: { id: queueId }, headers: { [positionHeader]: formatPositions([position]) } }
      },
    }),
  ]
}
