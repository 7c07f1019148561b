// Evaluation runs: calls of `Evaluation.evaluate`, started, listed, read, deleted and finished.

import {
  evaluationRunCreateRequest,
  evaluationRunCreateResponse,
  evaluationRunFinishRequest,
  evaluationRunResponse,
  evaluationRunsDeleteRequest,
  evaluationRunsListQuery,
  finishedResponse,
} from '../../../schemas/evaluation-runs.ts'
import { fault } from '../../core/http/errors.ts'
import { type Route, type RouteContext, route } from '../../core/http/route.ts'
import { orderedUuidv7, type ProjectId } from '../../core/ids.ts'
import { objectText } from '../../core/json/objects.ts'
import { throwIfStale } from '../../core/log/freshness.ts'
import { parseInRoom } from '../../core/memory/heap-room.ts'
import { boundsOfPage } from '../query-params.ts'
import type { RunCache } from './cache.ts'
import {
  attributeIs,
  type CallsQuery,
  type CallTexts,
  type CallWrite,
  type EvaluationCalls,
  type EvaluationDeps,
  evaluationAttributes,
  isRow,
  nameOfOp,
  nowUs,
  textAt,
} from './calls.ts'
import { deletion, readOne } from './handlers.ts'
import { linesOf } from './lines.ts'
import { bodyText, callTables, listOf, listTables, projectOf } from './query.ts'
import {
  completeCall,
  flag,
  memberText,
  nameOfRef,
  opNames,
  storedSummary,
  subjectsOf,
  summarizeIdOf,
  timeOf,
} from './shape.ts'
import { createRunSummary } from './summary.ts'

const columns: CallsQuery['columns'] = ['started_at', 'ended_at', 'exception', 'attributes', 'inputs', 'summary']

const quoted = (text: string | null): string => JSON.stringify(text)

/** The record of a run, as JSON text. */
function runText(call: CallTexts): string {
  const { evaluation, model } = subjectsOf(call)
  const status = call.endedAt === null ? 'running' : call.exception ? 'failed' : 'completed'
  return objectText({
    evaluation_run_id: quoted(call.id),
    evaluation: quoted(evaluation),
    model: quoted(model),
    status: quoted(status),
    started_at: quoted(call.startedAt),
    finished_at: quoted(call.endedAt),
    summary: call.summary,
    source_evaluation_run_id: quoted(textAt(evaluationAttributes(call), 'source_evaluation_run_id')),
  })
}

const notFound = (id: string) => fault(404, `Evaluation run ${id.slice(0, 100)} not found`)

/** @throws Fault 400 unless the text is a ref of an object or an op; whether it exists is not looked at */
function checkRef(name: string, text: string): void {
  if (nameOfRef(text) === null) throw fault(400, `${name} must be a ref: ${JSON.stringify(text.slice(0, 200))}`)
}

/** True for what was started here, or recorded by an SDK, as a run. */
const isRun = (call: CallTexts): boolean =>
  nameOfOp(call.opName) === opNames.run || textAt(evaluationAttributes(call), 'evaluation_run') === flag

/** Reads the direct children of a run in the order of their start and says what they come to. */
async function readChildren(
  calls: EvaluationCalls,
  context: RouteContext<unknown>,
  projectId: ProjectId,
  runId: string,
) {
  const summary = createRunSummary()
  const summarizing: CallTexts[] = []
  const query: CallsQuery = {
    filter: { parent_ids: [runId] },
    columns: ['op_name', 'started_at', 'output'],
  }
  for await (const child of calls.list(context, projectId, query)) {
    if (isRow(child.opName)) summary.add(parseInRoom(child.output))
    else if (nameOfOp(child.opName) === opNames.summarize) summarizing.push(child)
  }
  return { output: JSON.stringify(summary.value()), summarizing }
}

/** The calls that finishing a run writes: its summarize call, unless someone else wrote one, and its end. */
function finishParts(
  run: CallTexts,
  { output, summarizing }: Awaited<ReturnType<typeof readChildren>>,
  summary: string | undefined,
  time: number,
): CallWrite[] {
  const id = summarizeIdOf(run)
  const own = summarizing.find((call) => call.id === id)
  const startedUs = own ? timeOf(own.startedAt) : time
  const { evaluation } = subjectsOf(run)
  const start = {
    id,
    startedUs,
    traceId: run.traceId,
    parentId: run.id,
    opName: opNames.summarize,
    attributes: {},
    inputs: JSON.stringify({ self: evaluation }),
  }
  const end = {
    id: run.id,
    startedUs: timeOf(run.startedAt),
    endedUs: run.endedAt === null ? time : timeOf(run.endedAt),
    output,
    summary: summary ?? storedSummary(run),
    exception: run.exception,
  }
  const isWrittenByOthers = own === undefined && summarizing.length > 0
  return [...(isWrittenByOthers ? [] : completeCall(start, output)), { end }]
}

export function createEvaluationRunRoutes(deps: EvaluationDeps & { calls: EvaluationCalls; cache: RunCache }): Route[] {
  const { calls, cache, clock, lock } = deps
  const path = '/v2/{entity}/{project}/evaluation_runs'
  const one = `${path}/{evaluation_run_id}`

  return [
    route({
      name: 'evaluation_runs.create',
      method: 'POST',
      path,
      summary: 'Starts an evaluation run',
      body: { type: 'json', schema: evaluationRunCreateRequest, check: 'schema' },
      response: evaluationRunCreateResponse,
      topics: ['calls'],
      async handle(context) {
        const projectId = projectOf(context)
        const { evaluation, model, source_evaluation_run_id } = context.input
        checkRef('evaluation', evaluation)
        checkRef('model', model)
        const id = orderedUuidv7()
        const weave = { evaluation_run: flag, evaluation, model, source_evaluation_run_id }
        const start = {
          id,
          traceId: id,
          parentId: null,
          opName: opNames.run,
          startedUs: nowUs(clock),
          attributes: { weave },
          inputs: JSON.stringify({ self: evaluation, model }),
        }
        const headers = await calls.write(context, projectId, [{ start }])
        cache.rememberRun(projectId, id, { traceId: id, self: JSON.stringify(evaluation) })
        return { json: { evaluation_run_id: id }, headers }
      },
    }),
    route({
      name: 'evaluation_runs.list',
      method: 'GET',
      path,
      summary: 'Evaluation runs as JSON Lines, filtered by evaluation, model and id, oldest first',
      query: evaluationRunsListQuery,
      body: { type: 'none' },
      response: null,
      responseType: 'application/jsonl',
      tables: listTables,
      async handle(context) {
        const projectId = projectOf(context)
        const { query } = context
        const page = boundsOfPage(query)
        const evaluations = listOf(query, 'evaluations', 'evaluation_refs')
        const models = listOf(query, 'models', 'model_refs')
        const ids = listOf(query, 'evaluation_run_ids')
        const where = [
          attributeIs('evaluation_run', flag),
          ...(evaluations.length > 0 ? [attributeIs('evaluation', ...evaluations)] : []),
          ...(models.length > 0 ? [attributeIs('model', ...models)] : []),
        ]
        const filter = ids.length > 0 ? { filter: { call_ids: [...new Set(ids)] } } : {}
        const headers = await calls.waitToRead(context)
        const found = calls.list(context, projectId, { ...filter, where: { $and: where }, columns, ...page })
        return { lines: linesOf(found, async (some) => some.map(runText)), contentType: 'application/jsonl', headers }
      },
    }),
    route({
      ...deletion(deps, evaluationRunsDeleteRequest, 'evaluation_run_ids'),
      name: 'evaluation_runs.delete',
      path,
      summary: 'Deletes evaluation runs with everything below them; the ids are in the query string or in the body',
    }),
    route({
      name: 'evaluation_runs.read',
      method: 'GET',
      path: one,
      summary: 'One evaluation run, created here or recorded by an SDK',
      body: { type: 'none' },
      response: evaluationRunResponse,
      tables: callTables,
      handle: readOne(calls, 'evaluation_run_id', notFound, async (_context, _projectId, some) => some.map(runText)),
    }),
    route({
      name: 'evaluation_runs.finish',
      method: 'POST',
      path: `${one}/finish`,
      summary: 'Ends an evaluation run with the means of its scores and outputs',
      body: { type: 'json', schema: evaluationRunFinishRequest, check: 'schema', optional: true },
      response: finishedResponse,
      topics: ['calls'],
      tables: [...callTables],
      async handle(context) {
        const projectId = projectOf(context)
        const id = context.params.evaluation_run_id as string
        const summary = context.input.summary && memberText(bodyText(context), 'summary')
        // One at a time: the one that reads last writes last.
        return lock.run(`run\n${projectId}\n${id}`, async () => {
          // Means of what happens to be in the tables would be stored as the run's.
          const fresh = await calls.waitToDecide(context)
          throwIfStale(fresh)
          const run = await calls.read(context, projectId, id)
          // The output of any other call would be lost.
          if (run === null || !isRun(run)) throw notFound(id)
          const children = await readChildren(calls, context, projectId, id)
          const headers = await calls.write(context, projectId, finishParts(run, children, summary, nowUs(clock)))
          return { json: { success: true }, headers }
        })
      },
    }),
  ]
}
