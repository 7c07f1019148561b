// Which right each route needs, typed in again: routes do not tell this table what to expect of them.
import type { Role } from '../../services/core/directory/roles.ts'

/** Actions by which a route is reached: one of the words before the colon, or all of those joined by `+`. */
const routesByRight = {
  none: [
    ...['service.health', 'service.ready', 'service.version', 'service.info', 'service.geolocate'],
    ...['web.page', 'web.asset', 'web.call_link', 'web.sdk_link', 'auth.key', 'auth.session', 'auth.logout'],
    ...['auth.providers', 'auth.login', 'auth.callback', 'auth.backchannel_logout'],
  ],
  any: [
    ...['service.graphql', 'service.openapi', 'objects.link_to_registry', 'projects.query'],
    ...['me.keys', 'me.keys_create', 'me.keys_delete', 'me.sessions', 'me.sessions_end'],
  ],
  metrics: ['service.metrics'],
  read: [
    ...['calls.read', 'calls.stream_query', 'calls.query_stats', 'calls.stats', 'calls.usage', 'traces.usage'],
    ...['threads.stream_query', 'logs.query', 'objects.read', 'objects.query', 'objects.list_tags'],
    ...['objects.list_aliases', 'refs.read_batch', 'files.content', 'files.query_stats', 'files.resolve_url'],
    ...['traces.tree', 'calls.cells', 'calls.fields', 'calls.values', 'calls.aggregate'],
    ...['tables.query', 'tables.query_stats', 'tables.query_stats_batch', 'costs.query', 'feedback.query'],
    ...['costs.explain', 'calls.export', 'calls.export_file'],
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
    ...['evaluations.list', 'evaluations.read', 'models.list', 'models.read', 'evaluations.status'],
    ...['evaluation_runs.list', 'evaluation_runs.read', 'evaluation_runs.results'],
    ...['predictions.list', 'predictions.read', 'scores.list', 'scores.read'],
  ],
  ingest: [
    ...['calls.start', 'calls.end', 'calls.upsert_batch', 'calls.complete', 'calls.start_in_project'],
    ...['calls.end_in_project', 'otel.traces', 'otel.agents.traces', 'otel.logs', 'otel.metrics', 'objects.create'],
    ...['files.create', 'tables.create', 'tables.create_from_digests', 'tables.update'],
  ],
  'ingest annotate': ['feedback.create', 'feedback.batch_create'],
  'annotate write': ['feedback.replace', 'annotation_queues.progress'],
  'annotate write delete': ['feedback.purge'],
  write: [
    ...['calls.update', 'calls.score', 'evaluations.rescore'],
    ...['objects.add_tags', 'objects.remove_tags', 'objects.set_aliases', 'objects.remove_aliases'],
    ...['annotation_queues.create', 'annotation_queues.update', 'annotation_queues.items_add'],
    ...['ops.create', 'datasets.create', 'scorers.create', 'evaluations.create', 'models.create'],
    ...['evaluation_runs.create', 'evaluation_runs.finish', 'predictions.create', 'predictions.finish'],
    'scores.create',
  ],
  delete: [
    ...['calls.delete', 'objects.delete', 'annotation_queues.delete', 'ops.delete', 'datasets.delete'],
    ...['scorers.delete', 'evaluations.delete', 'models.delete', 'evaluation_runs.delete', 'predictions.delete'],
    'scores.delete',
  ],
  infer: [
    ...['inference.chat', 'inference.pass_on', 'completions.create', 'completions.create_stream', 'images.create'],
    'training_jobs.create_sft',
  ],
  'write+infer': ['evaluations.evaluate_model'],
  admin: [
    ...['costs.create', 'costs.purge', 'projects.ttl_settings_update'],
    ...['users.list', 'users.create', 'users.off', 'users.on', 'users.delete', 'grants.list', 'grants.set'],
    ...['keys.list', 'keys.create', 'keys.rotate', 'keys.limits_update', 'keys.delete', 'audit.query'],
    ...['projects.settings_read', 'projects.limits_update', 'projects.retention_update'],
    ...['masking.read', 'masking.update', 'masking.preview', 'holds.list', 'holds.create'],
    ...['masking.scope_read', 'masking.scope_update'],
    ...['erasures.create', 'erasures.list', 'erasures.read'],
    ...['secrets.list', 'secrets.set', 'secrets.delete'],
  ],
  owner: ['holds.delete', 'projects.delete'],
  'metrics+owner': [
    'server.status',
    'server.settings',
    'server.dead_letters',
    'server.dead_letter',
    'server.dead_letter_replay',
  ],
} as const

export type NeededRight = keyof typeof routesByRight

export const rightOfRoute: ReadonlyMap<string, NeededRight> = new Map(
  Object.entries(routesByRight).flatMap(([right, names]) => names.map((name) => [name, right as NeededRight] as const)),
)

/** Routes that read on their way, and so need `read` as well. */
export const readsOnItsWay: ReadonlySet<string> = new Set([
  ...['ops.delete', 'datasets.delete', 'scorers.delete', 'evaluations.delete', 'models.delete'],
  ...['evaluation_runs.delete', 'predictions.delete', 'scores.delete'],
])

/** As a route says it. */
export function declaredRight(right: NeededRight): unknown {
  if (right.includes('+')) return { all: right.split('+') }
  return right.includes(' ') ? right.split(' ') : right
}

/** What each role may do; `metrics` only where everything is granted. */
export const actionsOfRole: Record<Role, readonly string[]> = {
  reader: ['read'],
  annotator: ['read', 'annotate'],
  ingest: ['ingest'],
  writer: ['read', 'ingest', 'annotate', 'write', 'delete', 'infer'],
  admin: ['read', 'ingest', 'annotate', 'write', 'delete', 'infer', 'admin'],
  owner: ['read', 'ingest', 'annotate', 'write', 'delete', 'infer', 'admin', 'owner', 'metrics'],
}

/** Routes whose address says who asks: 404 for one that nobody made, whoever asks it. */
export const askedByAddress: ReadonlySet<string> = new Set(['calls.export_file'])

/** Routes that are known and not served: 501 for whoever may ask. */
export const notServed: ReadonlySet<string> = new Set([
  ...['files.resolve_url', 'objects.link_to_registry', 'evaluations.rescore', 'calls.score'],
  'evaluation_runs.results',
])

/**
 * Routes without a project that answer something else than 200: links lead on, no file has the example's name, and
 * sessions are made and ended for the page alone.
 */
export const otherAnswers: ReadonlyMap<string, number> = new Map([
  ['auth.key', 403],
  ['auth.logout', 403],
  // Of a user or key that is not there, or that may do more than the caller.
  ...(
    [
      'users.off',
      'users.on',
      'users.delete',
      'keys.rotate',
      'keys.limits_update',
      'keys.delete',
      'me.keys_delete',
    ] as const
  ).map((name) => [name, 404] as const),
  ['me.keys_create', 403],
  // No provider signs in there.
  ...(['auth.login', 'auth.callback', 'auth.backchannel_logout'] as const).map((name) => [name, 404] as const),
  ['server.dead_letter', 404],
  ['server.dead_letter_replay', 404],
  ['web.asset', 404],
  ['erasures.create', 202],
  ['projects.delete', 422],
  ['web.call_link', 302],
  ['web.sdk_link', 302],
])

/** Routes whose example, about a project without data, names what is not there: 404. */
export const missesInEmptyProject: ReadonlySet<string> = new Set([
  ...['objects.read', 'objects.delete', 'objects.add_tags', 'objects.remove_tags', 'objects.set_aliases'],
  ...['refs.read_batch', 'files.content', 'tables.update'],
  ...['annotation_queues.read', 'annotation_queues.update', 'annotation_queues.delete', 'annotation_queues.items_add'],
  ...['annotation_queues.progress', 'ops.read', 'ops.delete', 'datasets.read', 'datasets.delete', 'scorers.read'],
  ...['scorers.delete', 'evaluations.read', 'evaluations.delete', 'models.read', 'models.delete'],
  ...['evaluation_runs.read', 'evaluation_runs.finish', 'predictions.read'],
  ...['predictions.finish', 'scores.read', 'holds.delete', 'erasures.read', 'costs.explain'],
])

/** Routes of `withoutProject` that refuse a project which the caller does not open all the same. */
const ofScopes = ['audit.query', 'masking.scope_read', 'masking.scope_update'] as const
export const refusesForeign: ReadonlySet<string> = new Set(ofScopes)

/** Routes that are about no project. */
export const withoutProject: ReadonlySet<string> = new Set([
  ...[...routesByRight.none, ...routesByRight.any, ...routesByRight.metrics],
  ...['otel.metrics', 'users.list', 'users.create', 'users.off', 'users.on', 'users.delete'],
  ...['keys.list', 'keys.rotate', 'keys.limits_update', 'keys.delete', ...ofScopes],
  ...routesByRight['metrics+owner'],
])
