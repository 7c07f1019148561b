// Requests within the caller's own project that name what another project holds, by every kind of id that routes take.
import type { FilledProject } from '../fixtures/filled-project.ts'
import type { Asked } from './route-examples.ts'

/** Things of the caller's own project that hold ids of the other one. */
type Links = { call: string; object: { object_id: string; digest: string }; run: string; evaluation: string }

/** The other project, or one like it that does not exist; and what in the own project leads to it. */
export type Other = FilledProject & { links: Links }

export type Probe = [route: string, what: string, make: (own: FilledProject, other: Other) => Asked]

const at = '2026-03-05T12:00:00Z'
const field = (name: string) => ({ $getField: name })
const literal = (value: unknown) => ({ $literal: value })
const equal = (name: string, value: unknown) => ({ $expr: { $eq: [field(name), literal(value)] } })

const callRef = ({ project, calls }: FilledProject): string => `weave:///${project}/call/${calls.root}`
export const versionRef = (
  project: string,
  { object_id, digest }: { object_id: string; digest: string },
  kind = 'object',
) => `weave:///${project}/${kind}/${object_id}:${digest}`
const objectRef = ({ project, object }: FilledProject): string => versionRef(project, object)
const opRef = ({ project, name, object }: FilledProject): string => `weave:///${project}/op/${name}-op:${object.digest}`

/** A probe whose body names the own project. */
const body = (
  route: string,
  what: string,
  make: (other: Other, own: FilledProject) => object,
  params: (other: Other, own: FilledProject) => Record<string, string> = () => ({}),
): Probe => [
  route,
  what,
  (own, other) => ({ params: params(other, own), body: { project_id: own.project, ...make(other, own) } }),
]

/** A probe of a path, with the project in the query string where the path has none. */
const path = (route: string, what: string, params: (other: Other) => Record<string, string>, query = {}): Probe => [
  route,
  what,
  ({ project: project_id }, other) => ({ params: params(other), query: { project_id, ...query } }),
]

const filters: [what: string, make: (other: Other) => object][] = [
  ['ids of calls', ({ calls }) => ({ call_ids: Object.values(calls) })],
  ['traces', ({ trace }) => ({ trace_ids: [trace] })],
  ['parents', ({ calls }) => ({ parent_ids: [calls.root] })],
  ['threads', ({ thread }) => ({ thread_ids: [thread] })],
  ['turns', ({ turn }) => ({ turn_ids: [turn] })],
  [
    'refs of inputs',
    (other) => ({ input_refs: [objectRef(other), `weave:///${other.project}/object/${other.name}:*`] }),
  ],
  ['refs of outputs', (other) => ({ output_refs: [objectRef(other)] })],
  [
    'ops',
    (other) => ({ op_names: [opRef(other), `${other.name}-op`, `weave:///${other.project}/op/${other.name}-op:*`] }),
  ],
  ['runs', ({ project, name }) => ({ wb_run_ids: [`${project}/${name}`] })],
]

const queries: [what: string, make: (other: Other) => object][] = [
  ['an id', ({ calls }) => equal('id', calls.root)],
  ['a name', ({ name }) => equal('op_name', `${name}-op`)],
  ['a stored text', ({ canary }) => equal('inputs.text', canary)],
  ['feedback', ({ canary }) => equal('feedback.[custom].payload.text', canary)],
  ['a queue', ({ queue }) => equal('annotation_queue_items.queue_id', queue)],
]

/** Paths of calls that hold refs to the other project, or to the own one with digests of the other. */
const expanded = ['object', 'row', 'holder', 'table', 'own_object', 'own_row'].map((name) => `inputs.${name}`)

const ofLinkedCall = ({ links }: Other) => ({ call_ids: [links.call] })

const calls: Probe[] = [
  body('calls.read', 'call', ({ calls }) => ({ id: calls.root, include_costs: true })),
  body('calls.update', 'call', ({ calls }) => ({ call_id: calls.root, display_name: 'x' })),
  body('calls.delete', 'calls', ({ calls }) => ({ call_ids: Object.values(calls) })),
  body('erasures.create', 'calls', ({ calls }) => ({ call_ids: Object.values(calls), reason: 'probe' })),
  body('erasures.create', 'trace', ({ trace }) => ({ trace_ids: [trace], reason: 'probe' })),
  body('calls.usage', 'calls', ({ calls }) => ({ call_ids: Object.values(calls), include_costs: true })),
  body('calls.stats', 'trace', ({ trace }) => ({
    start: at,
    end: '2026-03-06T12:00:00Z',
    filter: { trace_ids: [trace] },
    call_metrics: [{ metric: 'call_count' }],
    usage_metrics: [{ metric: 'total_cost' }],
  })),
  body('logs.query', 'trace', ({ spanTrace: trace_id }) => ({ start: at, end: '2026-03-06T12:00:00Z', trace_id })),
  body('logs.query', 'a stored text', ({ canary }) => ({ start: at, end: '2026-03-06T12:00:00Z', contains: canary })),
  body('logs.delete', 'trace', ({ spanTrace: trace_id }) => ({ start: at, end: '2026-03-06T12:00:00Z', trace_id })),
  body('logs.delete', 'a stored text', ({ canary }) => ({ start: at, end: '2026-03-06T12:00:00Z', contains: canary })),
  body('traces.query', 'trace', ({ trace }) => ({ trace_ids: [trace] })),
  body('traces.query', 'trace of a filter', ({ trace }) => ({ filter: { trace_ids: [trace] } })),
  body('traces.tree', 'trace', ({ trace }) => ({ trace_id: trace })),
  body('calls.cells', 'calls', ({ calls }) => ({ call_ids: Object.values(calls), paths: ['inputs', 'output'] })),
  body('calls.values', 'trace', ({ trace }) => ({
    fields: ['op_name', 'inputs.text'],
    filter: { trace_ids: [trace] },
  })),
  body('calls.aggregate', 'trace', ({ trace }) => ({
    start: at,
    end: '2026-03-06T12:00:00Z',
    filter: { trace_ids: [trace] },
    metrics: [{ field: 'calls' }, { field: 'total_cost' }],
  })),
  body('calls.export', 'trace', ({ trace }) => ({ format: 'jsonl', filter: { trace_ids: [trace] } })),
  body('threads.stream_query', 'thread', ({ thread }) => ({ filter: { thread_ids: [thread] } })),
  ...filters.flatMap(([what, filter]) => [
    body('calls.stream_query', what, (other) => ({ filter: filter(other), include_total_storage_size: true })),
    body('calls.query_stats', what, (other) => ({ filter: filter(other), include_total_storage_size: true })),
    body('traces.usage', what, (other) => ({ filter: filter(other), include_costs: true })),
  ]),
  ...queries.flatMap(([what, query]) => [
    body('calls.stream_query', what, (other) => ({ query: query(other) })),
    body('calls.query_stats', what, (other) => ({ query: query(other) })),
  ]),
  ...expanded.flatMap((column) => [
    body('calls.stream_query', `${column}, expanded`, (other) => ({
      filter: ofLinkedCall(other),
      expand_columns: [column],
      columns: ['id', 'inputs'],
    })),
    body('calls.stream_query', `an expression over ${column}`, (other) => ({
      query: equal(`${column}.text`, other.canary),
      expand_columns: [column],
    })),
  ]),
  ...['inputs.object', 'inputs.own_row'].flatMap((column) => [
    body('calls.query_stats', `whether there is anything behind ${column}`, (other) => ({
      filter: ofLinkedCall(other),
      expand_columns: [column],
      query: { $expr: { $eq: [{ $convert: { input: field(`${column}.text`), to: 'exists' } }, literal(true)] } },
    })),
    body('calls.stream_query', `an order by ${column}`, ({ links }, own) => ({
      filter: { call_ids: [links.call, own.calls.child] },
      expand_columns: [column],
      columns: ['id'],
      sort_by: [{ field: `${column}.text`, direction: 'desc' }],
      return_expanded_column_values: false,
    })),
  ]),
]

const refs = (what: string, make: (other: Other, own: FilledProject) => string[]): Probe => [
  'refs.read_batch',
  what,
  (own, other) => ({ body: { refs: make(other, own) } }),
]
const ofLinks = ({ links }: Other, own: FilledProject, rest: string) => [versionRef(own.project, links.object) + rest]

const objects: Probe[] = [
  refs('object', (other) => [objectRef(other)]),
  refs('object beside an own one', (other, own) => [own.holderRef, objectRef(other)]),
  refs('row', ({ rowRef }) => [rowRef]),
  refs('what lies within an object', ({ holderRef }) => [
    `${holderRef}/attr/text`,
    `${holderRef}/attr/object/attr/text`,
  ]),
  refs('op', (other) => [opRef(other)]),
  refs('digest as an own object', ({ object }, own) => [versionRef(own.project, object)]),
  refs('digest of an own name', ({ object }, own) => [`weave:///${own.project}/object/${own.name}:${object.digest}`]),
  refs('row of an own table', ({ rows }, own) => [`${own.holderRef}/attr/rows/id/${rows[0]}`]),
  ...['object', 'row', 'holder', 'table', 'own_object'].map((name) =>
    refs(`what an own object leads to by ${name}`, (other, own) => ofLinks(other, own, `/attr/${name}/attr/text`)),
  ),
  ...['table', 'own_table'].map((name) =>
    refs(`a row that an own object leads to by ${name}`, (other, own) =>
      ofLinks(other, own, `/attr/${name}/id/${other.rows[0]}`),
    ),
  ),
  body('objects.read', 'object', ({ object }) => object),
  body('objects.read', 'alias', ({ name }, own) => ({ object_id: own.name, digest: `${name}-alias` })),
  body('objects.read', 'digest of an own name', ({ object }, own) => ({ object_id: own.name, digest: object.digest })),
  body('objects.query', 'object', ({ name }) => ({ filter: { object_ids: [name], tags: [`${name}-tag`] } })),
  body('objects.query', 'alias', ({ name }) => ({ filter: { aliases: [`${name}-alias`] } })),
  body('objects.delete', 'object', ({ object: { object_id, digest } }) => ({ object_id, digests: [digest] })),
  body('objects.delete', 'digest', ({ object: { digest } }, own) => ({ object_id: own.name, digests: [digest] })),
  body(
    'objects.add_tags',
    'object',
    () => ({ tags: ['x'] }),
    ({ object }) => object,
  ),
  body(
    'objects.remove_tags',
    'object',
    () => ({ tags: ['x'] }),
    ({ object }) => object,
  ),
  body(
    'objects.set_aliases',
    'object',
    ({ object: { digest } }) => ({ digest, aliases: ['x'] }),
    ({ object }) => object,
  ),
  body(
    'objects.set_aliases',
    'alias',
    ({ name }) => ({ digest: `${name}-alias`, aliases: ['x'] }),
    (_, own) => own.object,
  ),
  body(
    'objects.remove_aliases',
    'object',
    () => ({ aliases: ['x'] }),
    ({ object }) => object,
  ),
  body('files.content', 'file', ({ file: digest }) => ({ digest })),
  body('files.content', 'large file', ({ largeFile: digest }) => ({ digest })),
  body('tables.query', 'table', ({ table: digest }) => ({ digest })),
  body('tables.query', 'page of a table', ({ table: digest }) => ({ digest, limit: 1, offset: 1 })),
  body('tables.query', 'row', ({ rows }, own) => ({ digest: own.table, filter: { row_digests: rows } })),
  body('tables.query_stats', 'table', ({ table: digest }) => ({ digest })),
  body('tables.query_stats_batch', 'table', ({ table }) => ({ digests: [table], include_storage_size: true })),
  body('tables.update', 'table', ({ table }) => ({ base_digest: table, updates: [{ append: { row: {} } }] })),
  body('tables.create_from_digests', 'rows', ({ rows }) => ({ row_digests: [...rows, ...rows] })),
  ...(['ops', 'datasets', 'scorers', 'evaluations', 'models'] as const).flatMap((kind) => [
    path(`${kind}.read`, 'object', ({ versions }) => versions[kind]),
    path(`${kind}.delete`, 'object', ({ versions }) => versions[kind], { digests: 'latest' }),
  ]),
]

const about = (other: Other, more: object = {}) => ({
  weave_ref: callRef(other),
  feedback_type: 'custom',
  payload: {},
  ...more,
})
const annotation = ({ name }: Other, annotation_ref: string) => ({
  feedback_type: `wandb.annotation.${name}-spec`,
  annotation_ref,
  payload: { value: 'x' },
})
const feedback: Probe[] = [
  body('feedback.create', 'call', (other) => about(other)),
  body('feedback.create', 'queue', (other, own) => ({
    ...about(other),
    weave_ref: callRef(own),
    queue_id: other.queue,
  })),
  body('feedback.create', 'annotation', (other) => about(other, annotation(other, other.specRef))),
  body('feedback.create', 'digest of an annotation', (other, own) =>
    about(other, annotation(other, other.specRef.replace(other.project, own.project))),
  ),
  body('feedback.create', 'runnable', (other) =>
    about(other, {
      feedback_type: `wandb.runnable.${other.name}`,
      payload: { output: 1 },
      call_ref: callRef(other),
      runnable_ref: objectRef(other),
      trigger_ref: objectRef(other),
    }),
  ),
  body('feedback.replace', 'item', (other) => about(other, { feedback_id: other.feedback })),
  body('feedback.purge', 'item', ({ feedback }) => ({ query: equal('id', feedback) })),
  body('feedback.query', 'item', ({ feedback }) => ({ query: equal('id', feedback) })),
  body('feedback.query', 'queue', ({ queue }) => ({ query: equal('queue_id', queue) })),
  body('costs.query', 'price', ({ cost }) => ({ query: equal('id', cost) })),
  body('costs.explain', 'call', ({ calls }) => ({ call_id: calls.root })),
  body('costs.purge', 'price', ({ cost }) => ({ query: equal('id', cost) })),
]

const inQueue = ({ queue: queue_id, item: item_id }: FilledProject) => ({ queue_id, item_id })
const state = () => ({ annotation_state: 'skipped' })
const queues: Probe[] = [
  path('annotation_queues.read', 'queue', inQueue),
  path('annotation_queues.delete', 'queue', inQueue),
  body('annotation_queues.update', 'queue', () => ({ name: 'x' }), inQueue),
  body('annotation_queues.items', 'queue', () => ({}), inQueue),
  body(
    'annotation_queues.items',
    'item',
    ({ item: id }) => ({ filter: { id } }),
    (_, own) => inQueue(own),
  ),
  body(
    'annotation_queues.items',
    'call',
    ({ calls }) => ({ filter: { call_id: calls.root } }),
    (_, own) => inQueue(own),
  ),
  body(
    'annotation_queues.items_add',
    'queue',
    (_, own) => ({ call_ids: [own.calls.root], display_fields: [] }),
    inQueue,
  ),
  body(
    'annotation_queues.items_add',
    'call',
    ({ calls }) => ({ call_ids: [calls.root], display_fields: [] }),
    (_, own) => inQueue(own),
  ),
  body('annotation_queues.progress', 'queue and item', state, inQueue),
  body('annotation_queues.progress', 'item', state, ({ item }, own) => ({ ...inQueue(own), item_id: item })),
  body('annotation_queues.progress', 'queue', state, ({ queue }, own) => ({ ...inQueue(own), queue_id: queue })),
  body('annotation_queues.stats', 'queue', ({ queue }, own) => ({ queue_ids: [queue, own.queue] })),
]

const runs: Probe[] = [
  path('evaluation_runs.read', 'run', ({ run }) => ({ evaluation_run_id: run })),
  path('evaluation_runs.finish', 'run', ({ run }) => ({ evaluation_run_id: run })),
  ['evaluation_runs.list', 'run', (_, { run }) => ({ query: { evaluation_run_ids: run } })],
  [
    'evaluation_runs.list',
    'evaluation',
    (_, other) => ({ query: { evaluations: versionRef(other.project, other.versions.evaluations) } }),
  ],
  ['evaluation_runs.delete', 'run', (_, { run }) => ({ query: { evaluation_run_ids: run } })],
  [
    'evaluation_runs.create',
    'evaluation',
    (_, other) => ({ body: { evaluation: objectRef(other), model: objectRef(other) } }),
  ],
  path('predictions.read', 'prediction', ({ prediction }) => ({ prediction_id: prediction })),
  path('predictions.finish', 'prediction', ({ prediction }) => ({ prediction_id: prediction })),
  ['predictions.list', 'run', (_, { run }) => ({ query: { evaluation_run_id: run } })],
  ['predictions.delete', 'prediction', (_, { prediction }) => ({ query: { prediction_ids: prediction } })],
  [
    'predictions.create',
    'run',
    (_, other) => ({ body: { evaluation_run_id: other.run, model: objectRef(other), inputs: {}, output: 1 } }),
  ],
  path('scores.read', 'score', ({ score }) => ({ score_id: score })),
  ['scores.list', 'run', (_, { run }) => ({ query: { evaluation_run_id: run } })],
  ['scores.delete', 'score', (_, { score }) => ({ query: { score_ids: score } })],
  [
    'scores.create',
    'prediction',
    (_, other) => ({ body: { prediction_id: other.prediction, scorer: objectRef(other), value: 1 } }),
  ],
  body('evaluations.status', 'run', ({ run }) => ({ call_id: run })),
  body('evaluations.status', 'run of an evaluation', ({ links }) => ({ call_id: links.run })),
  body('evaluations.status', 'job of an evaluation', ({ links }) => ({ call_id: links.evaluation })),
]

const messages = [{ role: 'user', content: 'Hi' }]
/** Each also by a ref into the other project and by the other's digest in the own one. */
const models: [what: string, make: (other: Other, own: FilledProject) => object][] = [
  ['provider', ({ provider }) => ({ model: `custom::${provider}::m` })],
  ['model', ({ providerModel }) => ({ model: `custom::${providerModel}` })],
  ['ref of a model', ({ project, providerModel }) => ({ model: `weave:///${project}/object/${providerModel}:latest` })],
  ['ref of a prompt', ({ promptRef }) => ({ model: 'coreweave/m1', prompt: promptRef })],
  [
    'digest of a prompt',
    ({ promptRef, project }, own) => ({ model: 'coreweave/m1', prompt: promptRef.replace(project, own.project) }),
  ],
  ['name of a prompt', ({ name }) => ({ model: 'coreweave/m1', prompt: `${name}-prompt` })],
]
const inference: Probe[] = [
  ...models.flatMap(([what, make]): Probe[] => [
    [
      'inference.pass_on',
      what,
      (own, other) => ({
        params: { path: 'chat/completions' },
        headers: { 'openai-project': own.project },
        body: { messages, ...make(other, own) },
      }),
    ],
    ...(['completions.create', 'completions.create_stream'] as const).map((route) =>
      body(route, what, (other, own) => ({ inputs: { messages, ...make(other, own) } })),
    ),
  ]),
  body('images.create', 'provider', ({ provider }) => ({ inputs: { model: `custom::${provider}::m`, prompt: 'x' } })),
  ...['', 'models/'].map(
    (before): Probe => [
      'inference.read',
      `model behind ${JSON.stringify(before)}`,
      ({ project }, { provider }) => ({
        params: { path: `${before}custom::${provider}::m` },
        headers: { 'openai-project': project },
      }),
    ],
  ),
]

const holds: Probe[] = [
  path('holds.delete', 'hold', ({ holds }) => ({ id: holds[0] as string })),
  path('erasures.read', 'erasure', ({ erasures }) => ({ id: erasures[0] as string })),
]

export const probes: readonly Probe[] = [...calls, ...objects, ...feedback, ...queues, ...runs, ...inference, ...holds]
