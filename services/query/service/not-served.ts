// Routes that published clients know and that are not served: 501 with the reason and what to use instead.
import {
  callsScoreRequest,
  callsScoreResponse,
  evalResultsQueryRequest,
  evalResultsQueryResponse,
  filesResolveUrlRequest,
  filesResolveUrlResponse,
  linkToRegistryRequest,
  linkToRegistryResponse,
  rescoreRequest,
  rescoreResponse,
} from '../../../schemas/not-served.ts'
import { Fault } from '../../core/http/errors.ts'
import { type Route, type RouteContext, route } from '../../core/http/route.ts'

/** 501 with a header by which generated clients do not ask again. */
const notServed = (reason: string): Fault => new Fault(501, { reason }, { 'X-Should-Retry': 'false' })

const refuse =
  <Input>(reason: string, projectOf: (input: Input, params: Record<string, string>) => string | null) =>
  async (context: RouteContext<Input>): Promise<never> => {
    const projectId = projectOf(context.input, context.params)
    if (projectId !== null) context.project(projectId)
    throw notServed(reason)
  }

const named = ({ project_id }: { project_id: string }): string => project_id

export function createNotServedRoutes(): Route[] {
  return [
    route({
      name: 'files.resolve_url',
      method: 'POST',
      path: '/files/resolve_url',
      summary: 'Not served (501): files are read by /file/content',
      body: { type: 'json', schema: filesResolveUrlRequest, check: 'schema' },
      response: filesResolveUrlResponse,
      tables: [],
      topics: [],
      handle: refuse('Files have no addresses of their own: read them with /file/content', named),
    }),
    route({
      name: 'objects.link_to_registry',
      method: 'POST',
      path: '/link_to_registry',
      withoutProject: true,
      summary: 'Not served (501): there is no registry',
      body: { type: 'json', schema: linkToRegistryRequest, check: 'schema' },
      response: linkToRegistryResponse,
      tables: [],
      topics: [],
      handle: refuse('There is no registry to link objects to', () => null),
    }),
    route({
      name: 'evaluations.rescore',
      method: 'POST',
      path: '/evaluations/rescore',
      summary: 'Not served (501): scores are sent to /v2/{entity}/{project}/scores',
      body: { type: 'json', schema: rescoreRequest, check: 'schema' },
      response: rescoreResponse,
      tables: [],
      topics: [],
      handle: refuse(
        'Scorers cannot be run again over predictions: send scores to /v2/{entity}/{project}/scores',
        named,
      ),
    }),
    route({
      name: 'calls.score',
      method: 'POST',
      path: '/calls/score',
      summary: 'Not served (501): scores are sent to /feedback/create',
      body: { type: 'json', schema: callsScoreRequest, check: 'schema' },
      response: callsScoreResponse,
      tables: [],
      topics: [],
      handle: refuse('Scorers cannot be run over calls: send their results to /feedback/create', named),
    }),
    route({
      name: 'evaluation_runs.results',
      method: 'POST',
      path: '/v2/{entity}/{project}/eval_results/query',
      summary: 'Not served (501): results are read run by run',
      body: { type: 'json', schema: evalResultsQueryRequest, check: 'schema' },
      response: evalResultsQueryResponse,
      tables: [],
      topics: [],
      handle: refuse(
        'Results of several runs cannot be combined here: read /v2/{entity}/{project}/predictions and …/scores, or the calls of each run',
        (_input, { entity, project }) => `${entity}/${project}`,
      ),
    }),
  ]
}
