// An example request of every served route: what it takes to be answered, about a project that was filled.
import type { Route } from '../../services/core/http/route.ts'
import { type Sent, upload } from '../fixtures/asker.ts'
import {
  type FilledProject,
  kinds,
  logsOf,
  spansOf,
  versionBodies,
  victim,
  victims,
} from '../fixtures/filled-project.ts'

/** The parts of a request that the route itself does not say; `entity` and `project` of its path are filled in. */
export type Asked = {
  params?: Record<string, string>
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: unknown
}

/** @param n tells requests apart that would otherwise write or remove the same */
export type Example = (of: FilledProject, n: number) => Asked

const at = '2026-03-05T12:00:00Z'
/** Ids of calls that no project has yet. */
const newId = (n: number): string => `0199aaaa-0000-7000-8000-${String(n).padStart(12, '0')}`

const body = (make: (of: FilledProject, n: number) => object): Example => {
  return (of, n) => ({ body: { project_id: of.project, ...make(of, n) } })
}
const project = body(() => ({}))

const start = ({ project: project_id }: FilledProject, n: number) => ({
  project_id,
  id: newId(n),
  trace_id: newId(n),
  op_name: 'example',
  started_at: at,
  attributes: {},
  inputs: {},
})
const end = ({ project: project_id }: FilledProject, n: number) => ({
  project_id,
  id: newId(n),
  ended_at: at,
  output: {},
  summary: {},
})
const note = ({ project: project_id, calls }: FilledProject) => ({
  project_id,
  weave_ref: `weave:///${project_id}/call/${calls.root}`,
  feedback_type: 'custom',
  payload: {},
})
const equalId = (id: string) => ({ $expr: { $eq: [{ $getField: 'id' }, { $literal: id }] } })
const byProject: Example = ({ project: project_id }) => ({ query: { project_id } })
const spans: Example = ({ project: project_id }, n) => ({
  headers: { project_id, 'content-type': 'application/json' },
  body: spansOf('example', String(n).padStart(32, 'e'), 'text'),
})
/** A signal that is taken and not stored. */
const signal: Example = () => ({ headers: { 'content-type': 'application/json' }, body: {} })
const messages = [{ role: 'user', content: 'Hi' }]
const chat: Example = ({ project: id }) => ({ headers: { 'openai-project': id }, body: { model: 'm1', messages } })
const completion = body(() => ({ inputs: { model: 'm1', messages } }))
const ofQueue = (make: (of: FilledProject, n: number) => object): Example => {
  return (of, n) => ({ params: { queue_id: of.queue }, body: { project_id: of.project, ...make(of, n) } })
}
const refs = ({ project: id, name }: FilledProject) => ({
  evaluation: `weave:///${id}/object/${name}-evaluations:v0`,
  model: `weave:///${id}/object/${name}-models:v0`,
})
const tags = body(() => ({ tags: ['example'] }))
const ofObject =
  (example: Example, digest?: string): Example =>
  (of, n) => ({ ...example(of, n), params: { object_id: of.name, digest: digest ?? of.object.digest } })

/** The four routes of each kind of versioned objects. */
const ofKinds = Object.fromEntries(
  kinds.flatMap((kind): [string, Example][] => [
    [`${kind}.create`, ({ project, name }) => ({ body: versionBodies(project, name, 'example')[kind] })],
    [`${kind}.list`, () => ({})],
    [`${kind}.read`, ({ versions }) => ({ params: versions[kind] })],
    [`${kind}.delete`, (of, n) => ({ params: { object_id: `${victim(of, n)}-${kind}` } })],
  ]),
)

export const examples: Record<string, Example> = {
  'service.health': () => ({}),
  'service.ready': () => ({}),
  'service.version': () => ({}),
  'service.info': () => ({}),
  'service.geolocate': () => ({}),
  'service.openapi': () => ({}),
  'service.metrics': () => ({}),
  'server.settings': () => ({}),
  'server.status': () => ({}),
  'server.dead_letters': () => ({ body: {} }),
  'server.dead_letter': () => ({ params: { id: 'none' } }),
  'server.dead_letter_replay': () => ({ params: { id: 'none' } }),
  'web.page': () => ({ params: { path: 'calls' } }),
  'web.asset': () => ({ params: { file: 'none.js' } }),
  'web.call_link': ({ calls }) => ({ params: { id: calls.root } }),
  'web.sdk_link': () => ({ params: { path: 'calls' } }),
  'auth.key': () => ({ body: { key: 'none' } }),
  'auth.session': () => ({}),
  'auth.logout': () => ({}),
  'auth.providers': () => ({}),
  'auth.login': () => ({}),
  'auth.callback': () => ({}),
  'auth.backchannel_logout': () => ({
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'logout_token=x',
  }),
  'users.list': () => ({}),
  'users.create': (of, n) => ({ body: { id: `example ${of.project} ${n}` } }),
  'users.off': () => ({ params: { id: 'nobody' } }),
  'users.on': () => ({ params: { id: 'nobody' } }),
  'users.delete': () => ({ params: { id: 'nobody' } }),
  'grants.list': ({ project }) => ({ query: { scope: project } }),
  'grants.set': ({ project }) => ({ body: { user_id: 'user reader', scope: project, role: 'reader' } }),
  'keys.list': () => ({}),
  'keys.create': ({ project }) => ({ body: { user_id: 'user reader', actions: ['read'], scopes: [project] } }),
  'keys.rotate': () => ({ params: { id: 'none' } }),
  'keys.limits_update': () => ({ params: { id: 'none' }, body: { requests_per_minute: 0 } }),
  'keys.delete': () => ({ params: { id: 'none' } }),
  'audit.query': ({ project }) => ({ body: { scope: project } }),
  'me.keys': () => ({}),
  'me.keys_create': () => ({ body: { actions: ['owner'], scopes: ['none/none'] } }),
  'me.keys_delete': () => ({ params: { id: 'none' } }),
  'me.sessions': () => ({}),
  'me.sessions_end': () => ({}),
  'projects.query': () => ({ body: {} }),
  'service.graphql': ({ project }) => {
    const [entityName, name] = project.split('/')
    return { body: { operationName: 'Project', query: 'query Project', variables: { entityName, name } } }
  },

  'calls.start': (of, n) => ({ body: { start: start(of, n) } }),
  'calls.end': (of, n) => ({ body: { end: end(of, n) } }),
  'calls.start_in_project': (of, n) => ({ body: { start: start(of, n) } }),
  'calls.end_in_project': (of, n) => ({ body: { end: end(of, n) } }),
  'calls.upsert_batch': (of, n) => ({ body: { batch: [{ mode: 'start', req: { start: start(of, n) } }] } }),
  'calls.complete': (of, n) => ({ body: { batch: [{ ...start(of, n), ...end(of, n) }] } }),
  'calls.update': body(({ calls }) => ({ call_id: calls.child, display_name: 'example' })),
  'calls.delete': body((_, n) => ({ call_ids: [newId(n)] })),
  'calls.read': body(({ calls }) => ({ id: calls.root, include_costs: true, include_total_storage_size: true })),
  'calls.stream_query': body(() => ({
    include_costs: true,
    include_feedback: true,
    include_storage_size: true,
    include_total_storage_size: true,
    expand_columns: ['inputs.object', 'inputs.row'],
    filter: {},
  })),
  'calls.query_stats': body(() => ({ include_total_storage_size: true })),
  'calls.stats': body(() => ({
    start: at,
    end: '2026-03-06T12:00:00Z',
    call_metrics: [{ metric: 'call_count' }],
    usage_metrics: [{ metric: 'total_cost' }],
  })),
  'calls.usage': body(({ calls }) => ({ call_ids: [calls.root], include_costs: true })),
  'calls.score': body(({ calls }) => ({ call_ids: [calls.root], scorer_refs: [] })),
  'traces.usage': body(() => ({ include_costs: true })),
  'traces.query': ({ trace }, n) => ({
    body: n % 2 === 0 ? { trace_ids: [trace] } : { sort_by: [{ field: 'cost', direction: 'desc' }] },
  }),
  'traces.tree': body(({ trace }) => ({ trace_id: trace })),
  'calls.cells': body(({ calls }) => ({ call_ids: [calls.root], paths: ['inputs', 'op_name'] })),
  'calls.fields': body(() => ({ span_attributes: true })),
  'calls.values': body(() => ({ fields: ['op_name', 'inputs.k'] })),
  'calls.aggregate': body(() => ({
    start: at,
    end: '2026-03-06T12:00:00Z',
    bucket: 'day',
    group_by: ['model'],
    metrics: [{ field: 'calls', as: 'sum' }],
  })),
  'calls.export': body(() => ({ format: 'csv', filter: {}, columns: ['id', 'inputs.text'] })),
  'calls.export_file': () => ({ params: { ticket: 'none' } }),
  'threads.stream_query': project,
  'logs.query': body(() => ({ start: at, end: '2026-03-06T12:00:00Z' })),
  'logs.delete': body((_, n) => ({ start: at, end: '2026-03-06T12:00:00Z', contains: newId(n) })),
  'otel.traces': spans,
  'otel.agents.traces': spans,
  'otel.logs': ({ project: project_id }, n) => ({
    headers: { project_id, 'content-type': 'application/json' },
    body: logsOf('example', String(n).padStart(32, 'e'), 'text'),
  }),
  'otel.metrics': signal,

  'objects.create': (of, n) => ({ body: { obj: { project_id: of.project, object_id: 'example', val: { n } } } }),
  'objects.read': body(({ object }) => ({ ...object, include_tags_and_aliases: true })),
  'objects.query': body(() => ({ include_tags_and_aliases: true, include_storage_size: true })),
  'objects.delete': body((of, n) => ({ object_id: victim(of, n) })),
  'objects.add_tags': ofObject(tags),
  'objects.remove_tags': ofObject(tags),
  'objects.set_aliases': ofObject(body(({ object }) => ({ digest: object.digest, aliases: ['example'] }))),
  'objects.remove_aliases': ofObject(body(() => ({ aliases: ['example'] }))),
  'objects.list_tags': byProject,
  'objects.list_aliases': byProject,
  'objects.link_to_registry': ({ holderRef: ref }) => ({
    body: { ref, target: { portfolio_name: 'p', entity_name: 'e', project_name: 'p' } },
  }),
  'refs.read_batch': ({ holderRef, rowRef }) => ({ body: { refs: [holderRef, rowRef] } }),

  'files.create': ({ project: project_id }, n) => upload({ project_id }, `example ${n}`),
  'files.content': body(({ file: digest }) => ({ digest })),
  'files.query_stats': project,
  'files.resolve_url': body(() => ({ uris: [] })),

  'tables.create': ({ project: project_id }, n) => ({ body: { table: { project_id, rows: [{ n }] } } }),
  'tables.create_from_digests': body(({ rows }) => ({ row_digests: [...rows, ...rows] })),
  'tables.update': body(({ table }) => ({ base_digest: table, updates: [{ pop: { index: 0 } }] })),
  'tables.query': body(({ table: digest }) => ({ digest })),
  'tables.query_stats': body(({ table: digest }) => ({ digest })),
  'tables.query_stats_batch': body(({ table }) => ({ digests: [table], include_storage_size: true })),

  'costs.create': body(() => ({ costs: { m: { prompt_token_cost: 1, completion_token_cost: 2 } } })),
  'costs.query': project,
  'costs.explain': body(({ calls }) => ({ call_id: calls.root })),
  'costs.purge': body((_, n) => ({ query: equalId(newId(n)) })),

  'feedback.create': (of) => ({ body: note(of) }),
  'feedback.batch_create': (of) => ({ body: { batch: [note(of)] } }),
  'feedback.replace': (of, n) => ({ body: { ...note(of), feedback_id: newId(n) } }),
  'feedback.query': project,
  'feedback.purge': body((_, n) => ({ query: equalId(newId(n)) })),

  'annotation_queues.create': body(() => ({ name: 'example', scorer_refs: [] })),
  'annotation_queues.query': project,
  'annotation_queues.stats': body(({ queue }) => ({ queue_ids: [queue] })),
  'annotation_queues.read': (of, n) => ({ params: { queue_id: of.queue }, ...byProject(of, n) }),
  'annotation_queues.update': ofQueue(({ name }) => ({ name })),
  'annotation_queues.delete': (of, n) => ({
    params: { queue_id: of.queues[(n % 100) % victims] ?? of.queue },
    ...byProject(of, n),
  }),
  'annotation_queues.items': ofQueue(() => ({})),
  'annotation_queues.items_add': ofQueue(({ calls }) => ({ call_ids: [calls.child], display_fields: [] })),
  'annotation_queues.progress': (of) => ({
    params: { queue_id: of.queue, item_id: of.item },
    body: { project_id: of.project, annotation_state: 'in_progress' },
  }),

  'projects.stats': project,
  // It would be removed by its own name.
  'projects.delete': () => ({ body: { confirm: 'another/one' } }),
  'holds.list': () => ({}),
  'holds.create': (_, n) => ({ body: { call_ids: [newId(n)], reason: 'example' } }),
  'holds.delete': ({ holds }, n) => ({ params: { id: holds[(n % 100) % victims] ?? holds[0] ?? 'none' } }),
  'erasures.create': body((_, n) => ({ call_ids: [newId(n)], reason: 'example' })),
  'erasures.list': () => ({}),
  'erasures.read': ({ erasures }) => ({ params: { id: erasures[0] ?? 'none' } }),
  'masking.read': () => ({}),
  'masking.update': () => ({ body: { sets: ['@payment'] } }),
  'masking.scope_read': ({ project }) => ({ query: { scope: project } }),
  'masking.scope_update': ({ project }) => ({ body: { scope: project, sets: ['@payment'] } }),
  'masking.preview': body(() => ({ text: 'ann@example.com' })),
  'secrets.list': () => ({}),
  'secrets.set': () => ({ params: { name: 'SOME_KEY' }, body: { value: 'some-value' } }),
  'secrets.delete': () => ({ params: { name: 'NOT_SET' } }),
  'projects.ttl_settings_read': project,
  'projects.ttl_settings_update': body(() => ({ retention_days: null })),
  'projects.settings_read': () => ({}),
  'costs.unpriced_models': () => ({}),
  'projects.limits_update': () => ({ body: { requests_per_minute: 0 } }),
  'projects.retention_read': () => ({}),
  'projects.retention_update': () => ({ body: { calls_days: null } }),
  'usage.query': body(() => ({ from: at, to: '2026-03-06T12:00:00Z', by: 'key' })),

  'inference.chat': chat,
  'inference.pass_on': ({ project: id }) => ({
    params: { path: 'chat/completions' },
    headers: { 'openai-project': id },
    body: { model: 'coreweave/m1', messages },
  }),
  'inference.read': ({ project: id }) => ({ params: { path: 'models' }, headers: { 'openai-project': id } }),
  'inference.router_models': ({ project: id }) => ({
    params: { router: 'default' },
    headers: { 'openai-project': id },
  }),
  'completions.create': completion,
  'completions.create_stream': completion,
  'images.create': body(() => ({ inputs: { model: 'dall-e-2', prompt: 'x' } })),
  'training_jobs.create_sft': ({ project }, n) => ({
    body: { model_id: newId(n), training_data_url: `platform-artifact:///${project}/data:v1` },
  }),

  ...ofKinds,
  'evaluation_runs.create': (of) => ({ body: refs(of) }),
  'evaluation_runs.list': () => ({}),
  'evaluation_runs.read': ({ run }) => ({ params: { evaluation_run_id: run } }),
  'evaluation_runs.finish': ({ run }) => ({ params: { evaluation_run_id: run } }),
  'evaluation_runs.delete': (_, n) => ({ query: { evaluation_run_ids: newId(n) } }),
  'evaluation_runs.results': () => ({ body: {} }),
  'predictions.create': ({ run, name }) => ({ body: { evaluation_run_id: run, model: name, inputs: {}, output: 1 } }),
  'predictions.list': ({ run }) => ({ query: { evaluation_run_id: run } }),
  'predictions.read': ({ prediction }) => ({ params: { prediction_id: prediction } }),
  'predictions.finish': ({ prediction }) => ({ params: { prediction_id: prediction } }),
  'predictions.delete': (_, n) => ({ query: { prediction_ids: newId(n) } }),
  'scores.create': (of) => ({ body: { prediction_id: of.prediction, scorer: refs(of).model, value: 1 } }),
  'scores.list': ({ run }) => ({ query: { evaluation_run_id: run } }),
  'scores.read': ({ score }) => ({ params: { score_id: score } }),
  'scores.delete': (_, n) => ({ query: { score_ids: newId(n) } }),
  'evaluations.status': body(({ run }) => ({ call_id: run })),
  'evaluations.evaluate_model': body((of) => ({ evaluation_ref: refs(of).evaluation, model_ref: refs(of).model })),
  'evaluations.rescore': body(({ run }) => ({ source_evaluation_run_id: run, scorer_refs: [] })),
}

/** The request that an example stands for, by one of the route's paths. */
export function requestTo({ method }: Pick<Route, 'method'>, path: string, asked: Asked, project: string): Sent {
  const [entity = '', name = ''] = project.split('/')
  const params: Record<string, string> = { ...asked.params, entity, project: name }
  const filled = path.replace(/\{(\w+)(\*?)\}/g, (_, key: string, isRest: string) => {
    const value = params[key]
    if (value === undefined) throw new Error(`the example of ${path} has no ${key}`)
    return isRest ? value : encodeURIComponent(value)
  })
  const query = asked.query ? `?${new URLSearchParams(asked.query)}` : ''
  const { headers = {}, body } = asked
  return { method, path: filled + query, headers, ...(body === undefined ? {} : { body }) }
}
