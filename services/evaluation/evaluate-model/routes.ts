// POST /evaluations/evaluate_model: takes the job and answers the id of the evaluation's call at once.
import { evaluateModelRequest, evaluateModelResponse } from '../../../schemas/evaluation-runs.ts'
import type { Clock } from '../../core/clock/clock.ts'
import { fault } from '../../core/http/errors.ts'
import { type Route, route } from '../../core/http/route.ts'
import { orderedUuidv7 } from '../../core/ids.ts'
import type { Log } from '../../core/log/log.ts'
import { formatPositions, positionHeader } from '../../core/log/positions.ts'
import { evaluationJobRecord } from '../../events/evaluation-jobs.ts'

type Deps = { log: Pick<Log, 'append'>; clock: Clock; config: { evaluateDispatch: boolean } }

export const evaluateModelRoute = ({ log, clock, config }: Deps): Route =>
  route({
    name: 'evaluations.evaluate_model',
    method: 'POST',
    path: '/evaluations/evaluate_model',
    summary: 'Runs an LLM-as-a-judge evaluation of a completion model in the background',
    body: { type: 'json', schema: evaluateModelRequest, check: 'schema' },
    response: evaluateModelResponse,
    topics: ['evaluation_jobs'],
    async handle({ input, caller, project }) {
      const projectId = project(input.project_id)
      if (!config.evaluateDispatch)
        throw fault(503, 'This server does not run evaluations; see CALLHOUSE_EVALUATE_DISPATCH')
      const callId = orderedUuidv7()
      const job = {
        projectId,
        callId,
        userId: caller.userId,
        evaluationRef: input.evaluation_ref,
        modelRef: input.model_ref,
      }
      const position = await log.append('evaluation_jobs', [evaluationJobRecord(job, 'queued', clock.next())])
      return { json: { call_id: callId }, headers: { [positionHeader]: formatPositions([position]) } }
    },
  })
