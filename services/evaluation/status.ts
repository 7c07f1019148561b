// POST /evaluations/status: how far an evaluation is.

import { evaluationStatusRequest, evaluationStatusResponse } from '../../schemas/evaluation-runs.ts'
import { parseRef } from '../content/refs.ts'
import { asFault, fault } from '../core/http/errors.ts'
import type { InvokeCaller } from '../core/http/invoke.ts'
import { type Route, type RouteContext, route } from '../core/http/route.ts'
import type { ProjectId } from '../core/ids.ts'
import { objectText } from '../core/json/objects.ts'
import {
  afterWait,
  asCaller,
  type CallTexts,
  type EvaluationCalls,
  type EvaluationDeps,
  nameOfOp,
  objectOf,
  textAt,
} from './runs/calls.ts'
import { opNames, subjectsOf } from './runs/shape.ts'

type Context = RouteContext<unknown>

const hasEnded = {
  $expr: { $not: [{ $eq: [{ $getField: 'summary.weave.status' }, { $literal: 'running' }] }] },
}

export function createEvaluationStatusRoutes(deps: EvaluationDeps & { calls: EvaluationCalls }): Route[] {
  const { calls, invoke } = deps

  async function readValue(ref: unknown, as: InvokeCaller): Promise<Record<string, unknown>> {
    if (typeof ref !== 'string') return objectOf(ref)
    const { vals } = await invoke.json<{ vals: unknown[] }>('refs.read_batch', { refs: [ref] }, as)
    return objectOf(vals[0])
  }

  /** Rows of the dataset of an evaluation, once for each trial; null when something on the way cannot be read. */
  async function rowsOf(context: Context, evaluationRef: string): Promise<number | null> {
    const as = asCaller(context)
    try {
      const evaluation = await readValue(evaluationRef, as)
      const dataset = await readValue(evaluation.dataset, as)
      const table = parseRef(textAt(dataset, 'rows') ?? '')
      if (table?.kind !== 'table') return null
      const body = { project_id: `${table.entity}/${table.project}`, digest: table.digest }
      const { count } = await invoke.json<{ count: number }>('tables.query_stats', body, as)
      const { trials } = evaluation
      const total = count * (typeof trials === 'number' && trials >= 1 ? Math.floor(trials) : 1)
      return Number.isSafeInteger(total) ? total : null
    } catch (error) {
      // Missing, malformed, or in a project that the caller may not read.
      if ((asFault(error)?.status ?? 500) < 500) return null
      throw error
    }
  }

  async function progressOf(context: Context, projectId: ProjectId, call: CallTexts) {
    const stats = { project_id: projectId, filter: { parent_ids: [call.id] }, query: hasEnded }
    const [{ count }, rows] = await Promise.all([
      invoke.json<{ count: number }>('calls.query_stats', stats, afterWait(context)),
      rowsOf(context, subjectsOf(call).evaluation),
    ])
    return { code: 'running', completed_rows: count, total_rows: Math.max(count, rows ?? 0) }
  }

  async function statusText(context: Context, projectId: ProjectId, call: CallTexts): Promise<string> {
    if (call.exception) return JSON.stringify({ code: 'failed', error: call.exception })
    if (call.endedAt === null) return JSON.stringify(await progressOf(context, projectId, call))
    const isObject = call.output.trimStart().startsWith('{')
    return objectText({ code: '"complete"', output: isObject ? call.output : objectText({ output: call.output }) })
  }

  return [
    route({
      name: 'evaluations.status',
      method: 'POST',
      path: '/evaluations/status',
      summary: 'Whether an evaluation runs, has failed or is complete, and how many of its rows are done',
      body: { type: 'json', schema: evaluationStatusRequest, check: 'schema' },
      response: evaluationStatusResponse,
      tables: ['calls', 'call_keys', 'payloads', 'objects', 'object_events', 'table_lists'],
      async handle(context) {
        const { input } = context
        const projectId = context.project(input.project_id)
        const headers = await calls.waitToRead(context)
        const call = await calls.read(context, projectId, input.call_id)
        if (call === null) return { json: { status: { code: 'not_found' } }, headers }
        if (nameOfOp(call.opName) !== opNames.run) throw fault(400, `The call is not an ${opNames.run}`)
        return { jsonText: `{"status":${await statusText(context, projectId, call)}}`, headers }
      },
    }),
  ]
}
