// Asking for training jobs: POST /v1/preview/sft-training-jobs. A job is stored and waits; whoever trains reads the topic.
import { randomUUID } from 'node:crypto'
import { artifactAddress, sftTrainingJobRequest, sftTrainingJobResponse } from '../../schemas/training-jobs.ts'
import type { Clock } from '../core/clock/clock.ts'
import { type Route, type RouteContext, route } from '../core/http/route.ts'
import { members } from '../core/json/canonical.ts'
import type { Log } from '../core/log/log.ts'
import { formatPositions, positionHeader } from '../core/log/positions.ts'
import { quoted } from '../events/declaration.ts'
import { trainingJobRecord } from '../events/training-jobs.ts'
import { idempotencyKey, type JobOfKeyDeps, jobOfKey, requestKeyOf } from './idempotency.ts'

export type TrainingDeps = JobOfKeyDeps & {
  log: Pick<Log, 'append'>
  clock: Clock
}

/** The data's project; without one what the request names, else the key's own. */
function projectOf(context: RouteContext, dataUrl: string): string {
  const [, ofData] = artifactAddress.exec(dataUrl) ?? []
  const named = () =>
    context.header('openai-project') || context.header('project_id') || context.query.get('project_id')
  return ofData ?? (named() || `${context.caller.entity}/inference`)
}

/** The text of an object of the body, numbers as they were sent; '' when there is none. */
function objectText(text: string | undefined): string {
  return text?.startsWith('{') ? text : ''
}

/** The same with numbers for the numbers that were sent as texts. */
function configText(text: string | undefined, parsed: Record<string, unknown> | undefined): string {
  const found = members(objectText(text) || '{}')
  if (!parsed || !found) return ''
  for (const name of ['batch_size', 'learning_rate'])
    if (found.get(name)?.startsWith('"')) found.set(name, String(parsed[name]))
  return `{${[...found].map(([name, value]) => `${quoted(name)}:${value}`).join(',')}}`
}

export function createTrainingRoutes(deps: TrainingDeps): Route[] {
  const { log, clock } = deps
  return [
    route({
      name: 'training_jobs.create_sft',
      method: 'POST',
      path: '/v1/preview/sft-training-jobs',
      summary: 'Stores a job of supervised fine-tuning for an executor',
      body: { type: 'json', schema: sftTrainingJobRequest, check: 'schema' },
      response: sftTrainingJobResponse,
      topics: ['training_jobs'],
      tables: ['training_jobs'],
      async handle(context) {
        const { input, caller, body, signal } = context
        const projectId = context.project(projectOf(context, input.training_data_url))
        const key = idempotencyKey(context.header('idempotency-key'))
        const requestKey = key === undefined ? '' : requestKeyOf(caller.userId, key)
        const at = clock.next()
        let id: string = randomUUID()
        if (requestKey) {
          const job = await jobOfKey(deps, { projectId, requestKey, nowUs: Number(at / 1024n), signal })
          if (job.isThere) return { json: { id: job.id } }
          id = job.id
        }
        const sent = members(body.bytes.toString())
        const record = trainingJobRecord({
          projectId,
          id,
          clock: at,
          userId: caller.userId,
          requestKey,
          modelId: input.model_id.toLowerCase(),
          trainingDataUrl: input.training_data_url,
          config: configText(sent?.get('config'), input.config),
          experimentalConfig: objectText(sent?.get('experimental_config')),
        })
        const position = await log.append('training_jobs', [record])
        return { json: { id }, headers: { [positionHeader]: formatPositions([position]) } }
      },
    }),
  ]
}
