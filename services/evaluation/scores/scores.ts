// Scores of predictions: calls beside the prediction, and feedback on it.

import {
  ofRunListQuery,
  scoreCreateRequest,
  scoreCreateResponse,
  scoreResponse,
  scoresDeleteRequest,
} from '../../../schemas/evaluation-runs.ts'
import { parseRef } from '../../content/refs.ts'
import { fault } from '../../core/http/errors.ts'
import { type Route, type RouteContext, route } from '../../core/http/route.ts'
import { orderedUuidv7, type ProjectId } from '../../core/ids.ts'
import { objectText } from '../../core/json/objects.ts'
import { formatPositions, positionHeader } from '../../core/log/positions.ts'
import type { CachedPrediction, RunCache } from '../runs/cache.ts'
import {
  asCaller,
  type CallsQuery,
  type CallTexts,
  type EvaluationCalls,
  type EvaluationDeps,
  evaluationAttributes,
  joinPositions,
  nowUs,
  textAt,
} from '../runs/calls.ts'
import { deletion, listOfRun, readOne } from '../runs/handlers.ts'
import { runIdsOf } from '../runs/parents.ts'
import { bodyText, callTables, listTables, projectOf } from '../runs/query.ts'
import { completeCall, flag, memberText, predictionInputs, scoreOpOf, traceOfRun } from '../runs/shape.ts'

type Context = RouteContext<unknown>

const columns: CallsQuery['columns'] = ['user_id', 'parent_id', 'attributes', 'output']

const notFound = (id: string) => fault(404, `Score ${id.slice(0, 100)} not found`)

/** The parent of a score: its prediction or its run, else a trace of its own. */
type ScoreParent = { traceId: string; parentId: string | null }

type Deps = EvaluationDeps & { calls: EvaluationCalls; cache: RunCache }

const path = '/v2/{entity}/{project}/scores'

/** Records of some scores, as JSON texts. */
const textsOf =
  ({ calls, config }: Deps) =>
  async (context: Context, projectId: ProjectId, some: readonly CallTexts[]): Promise<string[]> => {
    const runIds = await runIdsOf(calls, context, projectId, some)
    return some.map((call, n) =>
      objectText({
        score_id: JSON.stringify(call.id),
        scorer: JSON.stringify(textAt(evaluationAttributes(call), 'scorer') ?? ''),
        value: call.output === 'null' ? '0.0' : call.output,
        evaluation_run_id: JSON.stringify(runIds[n]),
        [`${config.wirePrefix}_user_id`]: JSON.stringify(call.userId),
      }),
    )
  }

async function parentOf(
  cache: RunCache,
  context: Context,
  projectId: ProjectId,
  { id, runId, prediction }: { id: string; runId: string | undefined; prediction: CachedPrediction | null },
): Promise<ScoreParent> {
  if (runId === undefined) return { traceId: id, parentId: null }
  const parentId = prediction?.parentId ?? runId
  // Its prediction lies in the run's trace, too.
  if (
    prediction &&
    prediction.parentId !== null &&
    textAt(evaluationAttributes(prediction), 'evaluation_run_id') === runId
  )
    return { traceId: prediction.traceId, parentId }
  return { traceId: traceOfRun(runId, await cache.findRun(context, projectId, runId)), parentId }
}

const createRoute = ({ calls, cache, clock, ensureOps, invoke, config }: Deps): Route =>
  route({
    name: 'scores.create',
    method: 'POST',
    path,
    summary: 'Stores the score of a prediction, also as feedback',
    body: { type: 'json', schema: scoreCreateRequest, check: 'schema' },
    response: scoreCreateResponse,
    topics: ['calls', 'feedback', 'files', 'objects'],
    tables: callTables,
    async handle(context) {
      const projectId = projectOf(context)
      const { prediction_id, scorer } = context.input
      const runId = context.input.evaluation_run_id || undefined
      const value = memberText(bodyText(context), 'value') ?? 'null'
      const ref = parseRef(scorer)
      if (ref?.kind !== 'object')
        throw fault(400, `scorer must be a ref of an object: ${JSON.stringify(scorer.slice(0, 200))}`)
      const prediction = await cache.findPrediction(context, projectId, prediction_id)
      const id = orderedUuidv7()
      const place = await parentOf(cache, context, projectId, { id, runId, prediction })
      const { refs, positions } = await ensureOps(projectId, context.caller.userId, [scoreOpOf(ref.name)])
      const start = {
        ...place,
        id,
        opName: refs[0] as string,
        startedUs: nowUs(clock),
        attributes: { weave: { score: flag, prediction_id, scorer, evaluation_run_id: runId } },
        inputs: objectText({
          self: JSON.stringify(scorer),
          inputs: prediction ? predictionInputs(prediction) : '{}',
          output: prediction?.output ?? 'null',
        }),
      }
      const feedback = {
        project_id: projectId,
        weave_ref: `weave:///${projectId}/call/${prediction_id}`,
        feedback_type: `${config.feedbackPrefix}.runnable.${ref.name}`,
        runnable_ref: scorer,
      }
      const head = JSON.stringify(feedback).slice(0, -1)
      const body = Buffer.from(`${head},"payload":{"output":${value}}}`)
      // First, because it may be refused: then there is no score either.
      const created = await invoke.answer('feedback.create', body, asCaller(context))
      const headers = await calls.write(context, projectId, completeCall(start, value))
      const ops = positions.length > 0 ? { [positionHeader]: formatPositions(positions) } : {}
      return { json: { score_id: id }, headers: joinPositions(ops, created.headers, headers) }
    },
  })

export const createScoreRoutes = (deps: Deps): Route[] => [
  createRoute(deps),
  route({
    name: 'scores.list',
    method: 'GET',
    path,
    summary: 'Scores as JSON Lines, all or those of an evaluation run, oldest first',
    query: ofRunListQuery,
    body: { type: 'none' },
    response: null,
    responseType: 'application/jsonl',
    tables: listTables,
    handle: listOfRun(deps.calls, 'score', columns, textsOf(deps)),
  }),
  route({
    ...deletion(deps, scoresDeleteRequest, 'score_ids'),
    name: 'scores.delete',
    path,
    summary: 'Deletes scores; the ids are in the query string or in the body',
  }),
  route({
    name: 'scores.read',
    method: 'GET',
    path: `${path}/{score_id}`,
    summary: 'One score',
    body: { type: 'none' },
    response: scoreResponse,
    tables: callTables,
    handle: readOne(deps.calls, 'score_id', notFound, textsOf(deps)),
  }),
]
