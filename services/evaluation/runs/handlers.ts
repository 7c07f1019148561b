// Shared routes of runs, predictions and scores: listing those of a run, reading one, deleting.

import type { z } from 'zod'
import { deletedResponse } from '../../../schemas/evaluation-runs.ts'
import type { Fault } from '../../core/http/errors.ts'
import type { Reply, RouteContext } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'
import { unlessStale } from '../../core/log/freshness.ts'
import { boundsOfPage } from '../query-params.ts'
import { attributeIs, type CallsQuery, type CallTexts, type EvaluationCalls } from './calls.ts'
import { deleteCalls } from './delete.ts'
import { linesOf } from './lines.ts'
import { idsToDelete, projectOf } from './query.ts'
import { flag } from './shape.ts'

type Context = RouteContext<unknown>
/** Records of some calls, as JSON texts in their order. */
type TextsOf = (context: Context, projectId: ProjectId, some: readonly CallTexts[]) => Promise<string[]>

/** Lists the calls with an attribute, all or those of the run that the query names, oldest first. */
export const listOfRun =
  (calls: EvaluationCalls, mark: 'prediction' | 'score', columns: CallsQuery['columns'], textsOf: TextsOf) =>
  async (context: Context): Promise<Reply> => {
    const projectId = projectOf(context)
    const page = boundsOfPage(context.query)
    const runId = context.query.get('evaluation_run_id')
    const where = [attributeIs(mark, flag), ...(runId ? [attributeIs('evaluation_run_id', runId)] : [])]
    const headers = await calls.waitToRead(context)
    const found = calls.list(context, projectId, { where: { $and: where }, columns, ...page })
    const lines = linesOf(found, (some) => textsOf(context, projectId, some))
    return { lines, contentType: 'application/jsonl', headers }
  }

/** Reads the call whose id the path parameter holds. */
export const readOne =
  (calls: EvaluationCalls, parameter: string, notFound: (id: string) => Fault, textsOf: TextsOf) =>
  async (context: Context): Promise<Reply> => {
    const projectId = projectOf(context)
    const id = context.params[parameter] as string
    const headers = await calls.waitToRead(context)
    const call = await calls.read(context, projectId, id)
    if (call === null) throw unlessStale(headers, notFound(id))
    const [jsonText = ''] = await textsOf(context, projectId, [call])
    return { jsonText, headers }
  }

/** Shared declaration of routes that delete the calls whose ids the query string or the body holds under a name. */
export const deletion = <Schema extends z.ZodObject>(
  deps: Parameters<typeof deleteCalls>[0],
  schema: Schema,
  name: string & keyof z.output<Schema>,
) => ({
  method: 'DELETE' as const,
  query: schema,
  body: { type: 'json', schema, check: 'schema', optional: true } as const,
  response: deletedResponse,
  topics: ['calls', 'erasures'],
  tables: ['calls', 'call_keys'],
  async handle(context: RouteContext<z.output<Schema>>): Promise<Reply> {
    const projectId = projectOf(context)
    const ids = idsToDelete(context.query, name, context.input[name] as string[] | undefined)
    return { json: { num_deleted: ids.length }, headers: await deleteCalls(deps, context, projectId, ids) }
  },
})
