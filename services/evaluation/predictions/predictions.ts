// Predictions: a call of the model, inside a call of `Evaluation.predict_and_score` when it belongs to a run.

import {
  finishedResponse,
  ofRunListQuery,
  predictionCreateRequest,
  predictionCreateResponse,
  predictionResponse,
  predictionsDeleteRequest,
} from '../../../schemas/evaluation-runs.ts'
import { fault } from '../../core/http/errors.ts'
import { type Route, type RouteContext, route } from '../../core/http/route.ts'
import { orderedUuidv7, type ProjectId } from '../../core/ids.ts'
import { floatText, members } from '../../core/json/canonical.ts'
import { objectText } from '../../core/json/objects.ts'
import { throwIfStale } from '../../core/log/freshness.ts'
import { formatPositions, positionHeader } from '../../core/log/positions.ts'
import type { RunCache } from '../runs/cache.ts'
import {
  type CallsQuery,
  type CallTexts,
  type CallWrite,
  type EvaluationCalls,
  type EvaluationDeps,
  evaluationAttributes,
  isRow,
  joinPositions,
  nowUs,
  textAt,
} from '../runs/calls.ts'
import { deletion, listOfRun, readOne } from '../runs/handlers.ts'
import { runIdsOf } from '../runs/parents.ts'
import { bodyText, callTables, listTables, projectOf } from '../runs/query.ts'
import {
  completeCall,
  flag,
  nameOfRef,
  opNames,
  predictionInputs,
  predictOpOf,
  storedSummary,
  timeOf,
  traceOfRun,
} from '../runs/shape.ts'

type Context = RouteContext<unknown>

const columns: CallsQuery['columns'] = ['user_id', 'parent_id', 'attributes', 'inputs', 'output']

const notFound = (id: string) => fault(404, `Prediction ${id.slice(0, 100)} not found`)

/** The only call with the id; undefined when there is none. */
async function readCallColumns(
  calls: EvaluationCalls,
  context: Context,
  projectId: ProjectId,
  { id, columns }: { id: string; columns: CallsQuery['columns'] },
): Promise<CallTexts | undefined> {
  for await (const call of calls.list(context, projectId, { filter: { call_ids: [id] }, columns })) return call
  return undefined
}

type Finished = { prediction: CallTexts | undefined; scores: Map<string, string> }

/** A prediction and the last output of each scorer, among the calls below the call around them. */
async function readBelow(
  calls: EvaluationCalls,
  context: Context,
  projectId: ProjectId,
  { rowId, id }: { rowId: string; id: string },
) {
  const found: Finished = { prediction: undefined, scores: new Map() }
  const query: CallsQuery = {
    filter: { parent_ids: [rowId] },
    columns: ['started_at', 'ended_at', 'attributes', 'output'],
  }
  for await (const call of calls.list(context, projectId, query)) {
    const attributes = evaluationAttributes(call)
    const isScore = textAt(attributes, 'score') === flag
    if (isScore && call.output !== 'null')
      found.scores.set(nameOfRef(textAt(attributes, 'scorer') ?? '') ?? 'unknown', call.output)
    // A score must not take the place of its prediction.
    if (!isScore && call.id === id) found.prediction = call
  }
  return found
}

/** The output of a finished prediction for the call around it, as JSON text. */
function rowOutput({ output, startedAt, endedAt }: CallTexts, scores: Map<string, string>): string {
  const seconds = endedAt === null ? null : (timeOf(endedAt) - timeOf(startedAt)) / 1e6
  return objectText({
    output,
    scores: objectText(scores),
    model_latency: seconds === null ? 'null' : objectText({ mean: floatText(seconds) }),
  })
}

type Deps = EvaluationDeps & { calls: EvaluationCalls; cache: RunCache }

const path = '/v2/{entity}/{project}/predictions'
const one = `${path}/{prediction_id}`

/** Records of some predictions, as JSON texts. */
const textsOf =
  ({ calls, config }: Deps) =>
  async (context: Context, projectId: ProjectId, some: readonly CallTexts[]): Promise<string[]> => {
    const runIds = await runIdsOf(calls, context, projectId, some)
    return some.map((call, n) =>
      objectText({
        prediction_id: JSON.stringify(call.id),
        model: JSON.stringify(textAt(evaluationAttributes(call), 'model') ?? ''),
        inputs: predictionInputs(call),
        output: call.output,
        evaluation_run_id: JSON.stringify(runIds[n]),
        [`${config.wirePrefix}_user_id`]: JSON.stringify(call.userId),
      }),
    )
  }

/** Ends the call around a prediction; the prediction itself was ended when it was made. */
async function finish(
  { calls, cache, clock }: Deps,
  context: Context,
  projectId: ProjectId,
  id: string,
): Promise<Record<string, string>> {
  throwIfStale(await calls.waitToDecide(context))
  const headerOnly = { id, columns: ['parent_id', 'attributes'] } satisfies {
    id: string
    columns: CallsQuery['columns']
  }
  const seen = cache.seenPrediction(projectId, id) ?? (await readCallColumns(calls, context, projectId, headerOnly))
  if (seen === undefined || textAt(evaluationAttributes(seen), 'score') === flag) throw notFound(id)
  const rowId = seen.parentId
  if (rowId === null) return {}
  const around: CallsQuery['columns'] = ['op_name', 'started_at', 'ended_at', 'exception', 'summary']
  const [row, { prediction, scores }] = await Promise.all([
    readCallColumns(calls, context, projectId, { id: rowId, columns: around }),
    readBelow(calls, context, projectId, { rowId, id }),
  ])
  if (prediction === undefined) throw notFound(id)
  if (row === undefined || !isRow(row.opName)) return {}
  const end = {
    id: row.id,
    startedUs: timeOf(row.startedAt),
    endedUs: row.endedAt === null ? nowUs(clock) : timeOf(row.endedAt),
    output: rowOutput(prediction, scores),
    summary: storedSummary(row),
    exception: row.exception,
  }
  return calls.write(context, projectId, [{ end }])
}

const createRoute = ({ calls, cache, clock, ensureOps }: Deps): Route =>
  route({
    name: 'predictions.create',
    method: 'POST',
    path,
    summary: 'Stores a prediction, in an evaluation run or by itself',
    body: { type: 'json', schema: predictionCreateRequest, check: 'schema' },
    response: predictionCreateResponse,
    topics: ['calls', 'files', 'objects'],
    tables: callTables,
    async handle(context) {
      const projectId = projectOf(context)
      const { model, genai_span_ref } = context.input
      const runId = context.input.evaluation_run_id || undefined
      const sent = members(bodyText(context))
      const inputs = sent?.get('inputs') ?? '{}'
      const output = sent?.get('output') ?? 'null'
      const run = runId === undefined ? null : await cache.findRun(context, projectId, runId)
      const id = orderedUuidv7()
      const traceId = runId === undefined ? id : traceOfRun(runId, run)
      const names = [predictOpOf(model), ...(runId === undefined ? [] : [opNames.row])]
      const { refs, positions } = await ensureOps(projectId, context.caller.userId, names)
      const [predictOp = '', rowOp = ''] = refs
      const weave = { prediction: flag, model, evaluation_run_id: runId }
      const groups: CallWrite[][] = []
      const startedUs = nowUs(clock)
      let parentId: string | null = null
      if (runId !== undefined) {
        parentId = orderedUuidv7()
        const start = {
          id: parentId,
          traceId,
          parentId: runId,
          opName: rowOp,
          startedUs,
          attributes: { weave: { predict_call_id: id, genai_span_ref } },
          inputs: objectText({ self: run?.self ?? 'null', model: JSON.stringify(model), example: inputs }),
        }
        groups.push([{ start }])
      }
      const start = {
        id,
        traceId,
        parentId,
        opName: predictOp,
        startedUs: nowUs(clock),
        attributes: { weave },
        inputs: objectText({ self: JSON.stringify(model), inputs }),
      }
      // First what is refused more easily, should they be too large to go together.
      groups.unshift(completeCall(start, output))
      const headers = await calls.write(context, projectId, ...groups)
      const attributes = JSON.stringify(start.attributes)
      cache.rememberPrediction(projectId, id, { traceId, parentId, attributes, inputs: start.inputs, output })
      const ops = positions.length > 0 ? { [positionHeader]: formatPositions(positions) } : {}
      return { json: { prediction_id: id }, headers: joinPositions(ops, headers) }
    },
  })

const finishRoute = (deps: Deps): Route =>
  route({
    name: 'predictions.finish',
    method: 'POST',
    path: `${one}/finish`,
    summary: 'Ends the call around a prediction with its output, its scores and its latency',
    body: { type: 'none' },
    response: finishedResponse,
    topics: ['calls'],
    tables: [...callTables],
    async handle(context) {
      const projectId = projectOf(context)
      const id = context.params.prediction_id as string
      // One at a time: the one that reads last writes last.
      const key = `prediction\n${projectId}\n${id}`
      const headers = await deps.lock.run(key, () => finish(deps, context, projectId, id))
      return { json: { success: true }, headers }
    },
  })

export const createPredictionRoutes = (deps: Deps): Route[] => [
  createRoute(deps),
  route({
    name: 'predictions.list',
    method: 'GET',
    path,
    summary: 'Predictions as JSON Lines, all or those of an evaluation run, oldest first',
    query: ofRunListQuery,
    body: { type: 'none' },
    response: null,
    responseType: 'application/jsonl',
    tables: listTables,
    handle: listOfRun(deps.calls, 'prediction', columns, textsOf(deps)),
  }),
  route({
    ...deletion(deps, predictionsDeleteRequest, 'prediction_ids'),
    name: 'predictions.delete',
    path,
    summary: 'Deletes predictions with everything below them; the ids are in the query string or in the body',
  }),
  route({
    name: 'predictions.read',
    method: 'GET',
    path: one,
    summary: 'One prediction',
    body: { type: 'none' },
    response: predictionResponse,
    tables: callTables,
    handle: readOne(deps.calls, 'prediction_id', notFound, textsOf(deps)),
  }),
  finishRoute(deps),
]
