// Which right every route asks for, in one table: what is open to whom is read here, and nowhere else.
import type { NeededRight } from '../directory/roles.ts'

const only = <const Name extends string, const Right extends NeededRight>(
  right: Right,
  ...names: Name[]
): Record<Name, Right> => Object.fromEntries(names.map((name) => [name, right])) as Record<Name, Right>

/** By the name of the route. A list = any of them. What a route reads or writes on its way needs the right of that, too. */
const rightOfRoute = {
  ...only(
    'none',
    ...['service.health', 'service.ready', 'service.version', 'service.info', 'service.geolocate'],
    ...['web.page', 'web.asset', 'web.call_link', 'web.sdk_link', 'auth.key', 'auth.session', 'auth.logout'],
    ...['auth.providers', 'auth.login', 'auth.callback', 'auth.backchannel_logout'],
  ),
  ...only(
    'any',
    ...['service.graphql', 'service.openapi', 'objects.link_to_registry', 'projects.query'],
    ...['me.keys', 'me.keys_create', 'me.keys_delete', 'me.sessions', 'me.sessions_end'],
  ),
  ...only(
    'read',
    ...['calls.read', 'calls.stream_query', 'calls.query_stats', 'calls.stats', 'calls.usage', 'traces.usage'],
    ...['calls.cells', 'calls.fields', 'calls.values', 'calls.aggregate', 'calls.export'],
    'calls.export_file',
    ...['traces.tree', 'threads.stream_query', 'logs.query', 'costs.query', 'costs.explain', 'feedback.query'],
    'refs.read_batch',
    ...['objects.read', 'objects.query', 'objects.list_tags', 'objects.list_aliases'],
    ...['files.content', 'files.query_stats', 'files.resolve_url'],
    ...['tables.query', 'tables.query_stats', 'tables.query_stats_batch'],
    ...['annotation_queues.query', 'annotation_queues.stats', 'annotation_queues.read', 'annotation_queues.items'],
    ...[
      'projects.stats',
      'projects.retention_read',
      'projects.ttl_settings_read',
      'usage.query',
      'inference.read',
      'inference.router_models',
    ],
    ...['ops.list', 'ops.read', 'datasets.list', 'datasets.read', 'scorers.list', 'scorers.read'],
    ...['evaluations.list', 'evaluations.read', 'evaluations.status', 'models.list', 'models.read'],
    ...['evaluation_runs.list', 'evaluation_runs.read', 'evaluation_runs.results'],
    ...['predictions.list', 'predictions.read', 'scores.list', 'scores.read'],
  ),
  ...only(
    'ingest',
    ...['calls.start', 'calls.end', 'calls.upsert_batch', 'calls.complete'],
    ...['calls.start_in_project', 'calls.end_in_project'],
    ...['otel.traces', 'otel.agents.traces', 'otel.logs', 'otel.metrics'],
    ...['objects.create', 'files.create', 'tables.create', 'tables.create_from_digests', 'tables.update'],
  ),
  ...only(['ingest', 'annotate'], 'feedback.create', 'feedback.batch_create'),
  // Feedback of others is purged and replaced with `delete` only.
  ...only(['annotate', 'write'], 'feedback.replace', 'annotation_queues.progress'),
  ...only(['annotate', 'write', 'delete'], 'feedback.purge'),
  ...only(
    'write',
    ...['calls.update', 'calls.score', 'evaluations.rescore'],
    ...['objects.add_tags', 'objects.remove_tags', 'objects.set_aliases', 'objects.remove_aliases'],
    ...['annotation_queues.create', 'annotation_queues.update', 'annotation_queues.items_add'],
    ...['ops.create', 'datasets.create', 'scorers.create', 'evaluations.create', 'models.create'],
    ...['evaluation_runs.create', 'evaluation_runs.finish', 'predictions.create', 'predictions.finish'],
    'scores.create',
  ),
  ...only(
    'delete',
    ...['calls.delete', 'objects.delete', 'annotation_queues.delete', 'ops.delete', 'datasets.delete'],
    ...['scorers.delete', 'evaluations.delete', 'models.delete', 'evaluation_runs.delete', 'predictions.delete'],
    'scores.delete',
  ),
  // Spends money at a provider.
  ...only(
    'infer',
    ...['inference.chat', 'inference.pass_on', 'completions.create', 'completions.create_stream', 'images.create'],
    ...['training_jobs.create_sft', 'inference.keep_answer', 'inference.keep_chunks', 'inference.read_chunk'],
  ),
  ...only({ all: ['write', 'infer'] }, 'evaluations.evaluate_model', 'evaluations.run'),
  ...only(
    'admin',
    ...['costs.create', 'costs.purge', 'projects.ttl_settings_update'],
    ...['users.list', 'users.create', 'users.off', 'users.on', 'users.delete', 'grants.list', 'grants.set'],
    ...['keys.list', 'keys.create', 'keys.rotate', 'keys.limits_update', 'keys.delete', 'audit.query'],
    ...['projects.settings_read', 'projects.limits_update', 'projects.retention_update'],
    ...['masking.read', 'masking.update', 'masking.preview', 'holds.list', 'holds.create'],
    ...['masking.scope_read', 'masking.scope_update'],
    ...['erasures.create', 'erasures.list', 'erasures.read'],
    ...['secrets.list', 'secrets.set', 'secrets.delete'],
  ),
  ...only('owner', 'holds.delete', 'projects.delete'),
  ...only('metrics', 'service.metrics'),
  // Of the server itself, with rows of every project: for owners of everything.
  ...only({ all: ['metrics', 'owner'] }, 'server.settings', 'server.dead_letters', 'server.dead_letter'),
  ...only({ all: ['metrics', 'owner'] }, 'server.dead_letter_replay', 'server.status'),
} as const satisfies Record<string, NeededRight>

export type RouteName = keyof typeof rightOfRoute

/** Undefined for a route that is not one of the product's. */
export const rightOf = (name: string): NeededRight | undefined =>
  Object.hasOwn(rightOfRoute, name) ? rightOfRoute[name as RouteName] : undefined
