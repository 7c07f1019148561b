// Shared routes of runs, predictions and scores: listing those of a run, reading one, deleting.

import type { z } from 'zod'
import { deletedResponse, ofRunListQuery } from '../../../schemas/evaluation-runs.ts'
import { type Fault, fault } from '../../core/http/errors.ts'
import { type Reply, type Route, type RouteContext, route } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'
import { unlessStale } from '../../core/log/freshness.ts'
import { boundsOfPage } from '../query-params.ts'
import { attributeIs, type CallsQuery, type CallTexts, type EvaluationCalls } from './calls.ts'
import { deleteCalls } from './delete.ts'
import { linesOf } from './lines.ts'
import { callTables, idsToDelete, listTables, projectOf } from './query.ts'
import { flag } from './shape.ts'

type Context = RouteContext<unknown>
type Mark = 'prediction' | 'score'
/** Records of some calls, as JSON texts in their order. */
type TextsOf = (context: Context, projectId: ProjectId, some: readonly CallTexts[]) => Promise<string[]>

/** Lists the calls with an attribute, all or those of the run that the query names, oldest first. */
const listOfRun =
  (calls: EvaluationCalls, mark: Mark, columns: CallsQuery['columns'], textsOf: TextsOf) =>
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

/** The routes that are alike for predictions and scores: listing, deleting and reading the calls with a mark. */
export function markedRoutes<M extends Mark, Schema extends z.ZodObject>(
  deps: Parameters<typeof deleteCalls>[0],
  mark: M,
  of: {
    columns: CallsQuery['columns']
    textsOf: TextsOf
    response: z.ZodType
    deleteRequest: Schema
    /** The words of the summary for the things that a delete removes. */
    deletes: string
  },
): Route[] {
  const path = `/v2/{entity}/{project}/${mark}s`
  const noun = `${mark.charAt(0).toUpperCase()}${mark.slice(1)}`
  const notFound = (id: string) => fault(404, `${noun} ${id.slice(0, 100)} not found`)
  return [
    route({
      name: `${mark}s.list`,
      method: 'GET',
      path,
      summary: `${noun}s as JSON Lines, all or those of an evaluation run, oldest first`,
      query: ofRunListQuery,
      body: { type: 'none' },
      response: null,
      responseType: 'application/jsonl',
      tables: listTables,
      handle: listOfRun(deps.calls, mark, of.columns, of.textsOf),
    }),
    route({
      ...deletion(deps, of.deleteRequest, `${mark}_ids` as string & keyof z.output<Schema>),
      name: `${mark}s.delete`,
      path,
      summary: `Deletes ${of.deletes}; the ids are in the query string or in the body`,
    }),
    route({
      name: `${mark}s.read`,
      method: 'GET',
      path: `${path}/{${mark}_id}`,
      summary: `One ${mark}`,
      body: { type: 'none' },
      response: of.response,
      tables: callTables,
      handle: readOne(deps.calls, `${mark}_id`, notFound, of.textsOf),
    }),
  ]
}
