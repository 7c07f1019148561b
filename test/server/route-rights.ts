// Which right each route needs, typed in again: routes do not tell this table what to expect of them.

/** By the right, the names of routes. `none` needs no key, `any` any key. */
const routesByRight = {
  none: [
    ...['service.health', 'service.ready', 'service.version', 'service.info', 'service.geolocate'],
    ...['web.page', 'web.asset', 'web.call_link', 'web.sdk_link', 'auth.key', 'auth.session', 'auth.logout'],
  ],
  any: ['service.graphql', 'service.openapi', 'service.metrics', 'objects.link_to_registry', 'projects.query'],
  read: [
    ...['calls.read', 'calls.stream_query', 'calls.query_stats', 'calls.stats', 'calls.usage', 'traces.usage'],
    ...[
      'threads.stream_query',
      'logs.query',
      'objects.read',
      'objects.query',
      'objects.list_tags',
      'objects.list_aliases',
    ],
    ...['refs.read_batch', 'files.content', 'files.query_stats', 'files.resolve_url'],
    ...['tables.query', 'tables.query_stats', 'tables.query_stats_batch', 'costs.query', 'feedback.query'],
    ...['annotation_queues.query', 'annotation_queues.stats', 'annotation_queues.read', 'annotation_queues.items'],
    ...['projects.stats', 'projects.ttl_settings_read', 'inference.read', 'inference.router_models'],
    ...['ops.list', 'ops.read', 'datasets.list', 'datasets.read', 'scorers.list', 'scorers.read'],
    ...['evaluations.list', 'evaluations.read', 'models.list', 'models.read', 'evaluations.status'],
    ...['evaluation_runs.list', 'evaluation_runs.read', 'evaluation_runs.results'],
    ...['predictions.list', 'predictions.read', 'scores.list', 'scores.read'],
  ],
  ingest: [
    ...['calls.start', 'calls.end', 'calls.upsert_batch', 'calls.complete', 'calls.start_in_project'],
    ...[
      'calls.end_in_project',
      'otel.traces',
      'otel.agents.traces',
      'otel.logs',
      'otel.metrics',
      'objects.create',
      'files.create',
    ],
    ...['tables.create', 'tables.create_from_digests', 'tables.update', 'feedback.create', 'feedback.batch_create'],
  ],
  write: [
    ...['calls.update', 'calls.delete', 'calls.score', 'feedback.replace', 'feedback.purge', 'objects.delete'],
    ...['objects.add_tags', 'objects.remove_tags', 'objects.set_aliases', 'objects.remove_aliases'],
    ...['annotation_queues.create', 'annotation_queues.update', 'annotation_queues.delete'],
    ...['annotation_queues.items_add', 'annotation_queues.progress'],
    ...['inference.chat', 'inference.pass_on', 'completions.create', 'completions.create_stream', 'images.create'],
    ...['training_jobs.create_sft', 'ops.create', 'ops.delete', 'datasets.create', 'datasets.delete'],
    ...['scorers.create', 'scorers.delete', 'evaluations.create', 'evaluations.delete', 'models.create'],
    ...['models.delete', 'evaluation_runs.create', 'evaluation_runs.delete', 'evaluation_runs.finish'],
    ...['predictions.create', 'predictions.delete', 'predictions.finish', 'scores.create', 'scores.delete'],
    ...['evaluations.evaluate_model', 'evaluations.rescore'],
  ],
  admin: ['costs.create', 'costs.purge', 'projects.ttl_settings_update'],
} as const

export type NeededRight = keyof typeof routesByRight

export const rightOfRoute: ReadonlyMap<string, NeededRight> = new Map(
  Object.entries(routesByRight).flatMap(([right, names]) => names.map((name) => [name, right as NeededRight] as const)),
)

/** What each role may do. */
export const rightsOfRole: Record<string, readonly NeededRight[]> = {
  read: ['none', 'any', 'read'],
  ingest: ['none', 'any', 'ingest'],
  write: ['none', 'any', 'read', 'ingest', 'write'],
  admin: ['none', 'any', 'read', 'ingest', 'write', 'admin'],
}

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
  ['web.asset', 404],
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
  ...['predictions.finish', 'scores.read'],
])

/** Routes that are about no project. */
export const withoutProject: ReadonlySet<string> = new Set([
  ...[...routesByRight.none, ...routesByRight.any],
  'otel.metrics',
])
