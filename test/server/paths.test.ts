// Declared topics and tables of routes are those that they touch.
// again: kafka
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { declaredRoutes } from '../../scripts/paths.ts'
import { tableDigest, valueDigest } from '../../services/events/digest.ts'
import { basicAuth, post, uploadText } from '../fixtures/child-server.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { noteTouched, type Touched } from '../fixtures/touched.ts'
import { at, loggedTrace, logsOfTrace, logsToDelete, logsToErase, logsToSend } from './paths-of-logs.ts'
import { seldom } from './paths-seldom.ts'

const routes = declaredRoutes()
const routeOf = (name: string) => routes.find((route) => route.name === name) ?? expect.fail(`no route ${name}`)

describe('what routes touch', () => {
  let server: LiveServer
  let touched: Touched

  beforeAll(async () => {
    server = await startLiveServer(['--master-key', Buffer.alloc(32, 7).toString('base64')])
    touched = noteTouched(server)
  })
  afterAll(() => server.remove())

  const project_id = 'acme/paths'
  const id = (letter: string) => letter.repeat(16)
  const [one, two, three, four] = [id('a'), id('b'), id('c'), id('d')]
  // Content that is known already is not written again: each one differs.
  let images = 0
  const image = () => `data:text/plain;base64,${Buffer.alloc(10_000, `content ${images++} `).toString('base64')}`
  const start = (id: string, parent_id?: string) => ({
    project_id,
    id,
    trace_id: loggedTrace,
    op_name: 'op',
    started_at: at,
    attributes: {},
    inputs: { x: 1, row: rowRef, image: image() },
    thread_id: 'thread-1',
    turn_id: id,
    parent_id,
  })
  const end = (id: string) => ({ project_id, id, ended_at: at, output: { y: 2, image: image() }, summary: {} })
  const v2 = '/v2/acme/paths'
  const withinInputs = { $expr: { $eq: [{ $getField: 'inputs.x' }, { $literal: '1' }] } }
  const page = { project_id, limit: 2, offset: 1, include_total_storage_size: true, include_storage_size: true }
  const lists = [
    { ...page, filter: { trace_ids: [loggedTrace] } },
    { ...page, filter: { parent_ids: [one] } },
    { ...page, filter: { call_ids: [one] } },
    { ...page, sort_by: [{ field: 'started_at', direction: 'desc' }] },
    { ...page, sort_by: [{ field: 'inputs.x', direction: 'asc' }], query: withinInputs },
    { project_id, filter: { trace_roots_only: true }, query: withinInputs },
  ]
  const above = (name: string) => ({ $gt: [{ $getField: name }, { $literal: 1 }] })
  const dear = { project_id, query: { $expr: { $or: [above('summary.weave.cost'), above('trace.cost')] } } }
  const equal = (name: string, value: string) => ({ $eq: [{ $getField: name }, { $literal: value }] })
  /** Values in other tables: feedback, queues, a row of a table behind a ref. */
  const elsewhere = {
    project_id,
    filter: { trace_ids: [loggedTrace] },
    expand_columns: ['inputs.row'],
    query: {
      $expr: {
        $or: [
          equal('feedback.[custom].payload.a', 'x'),
          equal('annotation_queue_items.queue_id', 'q'),
          equal('inputs.row.a', '1'),
        ],
      },
    },
  }
  const numbers = [{ field: 'total_cost' }, { field: 'calls' }]
  /** Members that the routes do not know are ignored. */
  const shown = (path: string, more: object) =>
    [...lists, elsewhere, dear].map((body) => send(path, { ...body, ...more }))
  const span = () => ({
    traceId: '5b8efff798038103d269b633813fc60c',
    spanId: 'eee19b7ec3c1b174',
    name: 'chat',
    kind: 3,
    startTimeUnixNano: '1767614400000000000',
    endTimeUnixNano: '1767614401000000000',
    attributes: [{ key: 'input.value', value: { stringValue: image() } }],
  })
  const otlp = (path: string) => () =>
    post(server.now().url, path, { resourceSpans: [{ scopeSpans: [{ spans: [span()] }] }] }, { project_id })
  const upload = () => uploadText(server.now().url, project_id)
  const send = (path: string, body: unknown) => () => post(server.now().url, path, body)

  const table = tableDigest(['{"a":1}', '{"a":2}'].map(valueDigest))

  const holder = { project_id, object_id: 'holder', val: `weave:///${project_id}/table/${table}` }
  const rowRef = `weave:///${project_id}/object/holder:${valueDigest(JSON.stringify(holder.val))}/id/${valueDigest('{"a":1}')}`
  const weave_ref = `weave:///${project_id}/call/${one}`
  let queueId = ''
  /** The object is missing on purpose: a look that finds nothing reads the same tables. */
  const notThere = (request: () => Promise<{ status: number }>) => async () => {
    expect((await request()).status).toBe(404)
    return { status: 200 }
  }
  const onCall = { project_id, weave_ref }
  const ofQueueItem = () => ({ ...onCall, id: 'given', feedback_type: 'custom', payload: {}, queue_id: queueId })
  const ofNoScorer = () => ({
    ...onCall,
    feedback_type: 'wandb.annotation.none',
    payload: { value: 1 },
    annotation_ref: `weave:///${project_id}/object/none:${table}`,
  })
  /** One of an item of a queue, and one whose scorer is looked up and not there. */
  const ofFeedback = (request: (body: () => object) => () => Promise<{ status: number }>) => [
    () => request(ofQueueItem)(),
    notThere(() => request(ofNoScorer)()),
  ]
  const makeQueue = async () => {
    const made = await post(server.now().url, '/annotation_queues', { project_id, name: 'q', scorer_refs: [] })
    queueId = (JSON.parse(made.text) as { id: string }).id
    return made
  }
  const ofQueue =
    (method: string, path = '', body?: object) =>
    () =>
      fetch(`${server.now().url}/annotation_queues/${queueId}${path}${body ? '' : `?project_id=${project_id}`}`, {
        method,
        headers: { authorization: basicAuth() },
        ...(body && { body: JSON.stringify({ project_id, ...body }) }),
      })
  const moveFirstItem = async () => {
    const found = await ofQueue('POST', '/items/query', {})()
    const [item] = ((await found.json()) as { items: { id: string }[] }).items
    return ofQueue('POST', `/items/${item?.id}/progress`, { annotation_state: 'completed' })()
  }
  const ofObject = (method: string, path: string, body: object) => () =>
    fetch(`${server.now().url}/objs/thing${path}`, {
      method,
      headers: { authorization: basicAuth() },
      body: JSON.stringify({ project_id, ...body }),
    })
  /** One by an alias that is looked up and not there, and one that is there. */
  type Request = () => Promise<{ status: number }>
  const ofVersions = (to: (version: string) => Request): Request[] => [notThere(to('an-alias')), to('v0')]
  const listed = (path: string) => () =>
    fetch(`${server.now().url}${path}?project_id=${project_id}`, { headers: { authorization: basicAuth() } })
  const labelled = { project_id, include_tags_and_aliases: true }
  const ofOne = { $expr: { $eq: [{ $getField: 'weave_ref' }, { $literal: weave_ref }] } }
  const given = { $expr: { $eq: [{ $getField: 'id' }, { $literal: 'given' }] } }

  const inProject = (method: string, path: string, body?: unknown) => () =>
    fetch(`${server.now().url}${v2}${path === '' ? '' : `/${path}`}`, {
      method,
      headers: { authorization: basicAuth() },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const evaluationObjects = Object.entries({
    ops: { source_code: 'x' },
    datasets: { rows: [{}] },
    scorers: { op_source_code: 'x' },
    evaluations: { dataset: `weave:///${project_id}/object/set:v0` },
    models: { source_code: 'x' },
  }).flatMap(([kind, more]): [string, ...(() => Promise<{ status: number }>)[]][] => [
    [`${kind}.create`, inProject('POST', kind, { name: `of-${kind}`, ...more })],
    [`${kind}.list`, inProject('GET', kind)],
    [`${kind}.read`, ...ofVersions((version) => inProject('GET', `${kind}/of-${kind}/versions/${version}`))],
    [`${kind}.delete`, inProject('DELETE', `${kind}/of-${kind}`)],
  ])

  const trainingJob = () =>
    post(
      server.now().url,
      '/v1/preview/sft-training-jobs',
      { model_id: '00000000-0000-4000-8000-000000000000', training_data_url: `a-artifact:///${project_id}/data:v1` },
      { 'idempotency-key': 'paths' },
    )

  const ref = (name: string) => `weave:///${project_id}/object/${name}:v0`
  const prediction = { model: ref('m'), inputs: {}, output: 1 }
  const score = { prediction_id: three, scorer: ref('s'), value: 1 }
  const finishOfRun = async () => {
    const made = await inProject('POST', 'evaluation_runs', { evaluation: ref('e'), model: ref('m') })()
    const { evaluation_run_id } = (await made.json()) as { evaluation_run_id: string }
    return inProject('POST', `evaluation_runs/${evaluation_run_id}/finish`)()
  }
  const finishOfPrediction = async () => {
    const made = await inProject('POST', 'predictions', { ...prediction, evaluation_run_id: one })()
    const { prediction_id } = (await made.json()) as { prediction_id: string }
    return inProject('POST', `predictions/${prediction_id}/finish`)()
  }
  /** A list with a call that does not say to which run it belongs. */
  const listOfFlagged = (what: string, flag: string) => async () => {
    const id = what.padEnd(16, 'f')
    const call = { ...start(id, two), ...end(id), attributes: { weave: { [flag]: 'true' } } }
    await inProject('POST', 'calls/complete', { batch: [call] })()
    touched.clear()
    return inProject('GET', what)()
  }
  /** An evaluation that runs, of a dataset with a table. */
  const statusOfRun = async () => {
    const create = async (object_id: string, val: object) => {
      const { text } = await post(server.now().url, '/obj/create', { obj: { project_id, object_id, val } })
      return `weave:///${project_id}/object/${object_id}:${(JSON.parse(text) as { digest: string }).digest}`
    }
    const dataset = await create('status-set', { rows: `weave:///${project_id}/table/${table}` })
    const evaluation = await create('status-evaluation', { dataset })
    const run = await inProject('POST', 'evaluation_runs', { evaluation, model: ref('m') })()
    const { evaluation_run_id: call_id } = (await run.json()) as { evaluation_run_id: string }
    touched.clear()
    return post(server.now().url, '/evaluations/status', { project_id, call_id })
  }
  const evaluationRuns: [string, ...(() => Promise<{ status: number }>)[]][] = [
    ['evaluation_runs.create', inProject('POST', 'evaluation_runs', { evaluation: ref('e'), model: ref('m') })],
    [
      'evaluation_runs.list',
      inProject('GET', `evaluation_runs?models=${ref('m')}&evaluation_run_ids=${one}`),
      inProject('GET', 'evaluation_runs'),
    ],
    ['evaluation_runs.read', inProject('GET', `evaluation_runs/${one}`)],
    ['evaluation_runs.finish', finishOfRun],
    ['predictions.create', inProject('POST', 'predictions', { ...prediction, evaluation_run_id: one })],
    ['predictions.list', listOfFlagged('predictions', 'prediction')],
    ['predictions.read', inProject('GET', `predictions/${three}`)],
    ['predictions.finish', finishOfPrediction],
    ['scores.create', inProject('POST', 'scores', score), send('/v2/acme/more/scores', score)],
    ['scores.list', listOfFlagged('scores', 'score')],
    ['scores.read', inProject('GET', `scores/${three}`)],
    ['evaluations.status', statusOfRun],
    ['evaluation_runs.delete', inProject('DELETE', `evaluation_runs?evaluation_run_ids=${four}`)],
    ['predictions.delete', inProject('DELETE', `predictions?prediction_ids=${two}`)],
    ['scores.delete', inProject('DELETE', `scores?score_ids=${three}`)],
  ]

  const erasures = [
    send('/call/start', { start: { ...start(id('e')), inputs: {} } }),
    ...[{ call_ids: [id('e')] }, ...logsToErase, { query: elsewhere.query }, { query: withinInputs }].map((asked) =>
      send('/erasures', { project_id, ...asked, reason: 'test' }),
    ),
  ]
  const requests: [name: string, ...(() => Promise<{ status: number }>)[]][] = [
    ['calls.start', send('/call/start', { start: start(one) })],
    ['calls.end', send('/call/end', { end: end(one) })],
    ['calls.update', send('/call/update', { project_id, call_id: one, display_name: 'name' })],
    ['calls.upsert_batch', send('/call/upsert_batch', { batch: [{ mode: 'start', req: { start: start(two, one) } }] })],
    ['calls.complete', send(`${v2}/calls/complete`, { batch: [{ ...start(three), ...end(three) }] })],
    ['calls.start_in_project', send(`${v2}/call/start`, { start: start(four) })],
    ['calls.end_in_project', send(`${v2}/call/end`, { end: { ...end(four), started_at: at } })],
    ['otel.traces', otlp('/otel/v1/traces')],
    ['otel.agents.traces', otlp('/agents/otel/v1/traces')],
    ['otel.logs', () => post(server.now().url, '/otel/v1/logs', logsToSend(image()), { project_id })],
    ['logs.query', send('/logs/query', { project_id, ...logsOfTrace })],
    [
      'objects.create',
      send('/obj/create', { obj: { project_id, object_id: 'thing', val: { a: 1 } } }),
      send('/obj/create', { obj: holder }),
    ],
    ['objects.add_tags', ...ofVersions((version) => ofObject('PUT', `/versions/${version}/tags`, { tags: ['a'] }))],
    [
      'objects.remove_tags',
      ...ofVersions((version) => ofObject('POST', `/versions/${version}/tags/remove`, { tags: ['a'] })),
    ],
    ['objects.set_aliases', ...ofVersions((digest) => ofObject('PUT', '/aliases', { digest, aliases: ['a'] }))],
    ['objects.remove_aliases', ofObject('POST', '/aliases/remove', { aliases: ['b'] })],
    ['objects.list_tags', listed('/tags')],
    ['objects.list_aliases', listed('/aliases')],
    ['files.create', upload],
    ['tables.create', send('/table/create', { table: { project_id, rows: [{ a: 1 }, { a: 2 }] } })],
    ['calls.read', send('/call/read', { project_id, id: one, include_total_storage_size: true, include_costs: true })],
    [
      'calls.stream_query',
      ...lists.map((body) => send('/calls/stream_query', { ...body, include_costs: true, include_feedback: true })),
      send('/calls/stream_query', elsewhere),
      send('/calls/stream_query', dear),
    ],
    [
      'calls.query_stats',
      send('/calls/query_stats', { project_id }),
      send('/calls/query_stats', elsewhere),
      send('/calls/query_stats', dear),
      ...lists.map(({ project_id, ...body }) =>
        send('/calls/query_stats', {
          project_id,
          ...('filter' in body ? { filter: body.filter } : {}),
          ...('query' in body ? { query: body.query } : {}),
          include_total_storage_size: true,
        }),
      ),
    ],
    ['calls.usage', send('/calls/usage', { project_id, call_ids: [one], include_costs: true })],
    [
      'calls.stats',
      ...[{ trace_ids: [loggedTrace] }, { parent_ids: [one] }, { call_ids: [one] }, { trace_roots_only: true }].map(
        (filter) =>
          send('/calls/stats', {
            project_id,
            start: at,
            end: '2026-01-06T12:00:00Z',
            filter,
            usage_metrics: [{ metric: 'total_tokens', aggregations: ['avg'] }, { metric: 'total_cost' }],
            call_metrics: [{ metric: 'call_count' }],
          }),
      ),
    ],
    [
      'traces.usage',
      ...lists.map(({ project_id, ...body }) => send('/trace/usage', { project_id, ...body, include_costs: true })),
      send('/trace/usage', elsewhere),
    ],
    [
      'traces.query',
      ...lists.map(({ filter, query }) =>
        send(`${v2}/traces/query`, { filter, query, sort_by: [{ field: 'cost', direction: 'desc' }] }),
      ),
      send(`${v2}/traces/query`, {
        filter: elsewhere.filter,
        query: { $expr: { $or: elsewhere.query.$expr.$or.slice(0, 2) } },
      }),
    ],
    ['traces.tree', send('/trace/tree', { project_id, trace_id: loggedTrace })],
    ['calls.cells', send('/calls/cells', { project_id, call_ids: [one], paths: ['inputs'] })],
    ['calls.fields', send('/calls/fields', { project_id, span_attributes: true })],
    ['calls.values', ...shown('/calls/values', { fields: ['inputs.k', 'op_name'] })],
    ['calls.aggregate', ...shown('/calls/aggregate', { start: 1, end: 2e9, metrics: numbers })],
    ['calls.export', send('/export/calls', { project_id, format: 'jsonl' })],
    ['threads.stream_query', send('/threads/stream_query', { project_id })],
    ['objects.read', send('/obj/read', { ...labelled, object_id: 'thing', digest: 'latest' })],
    ['files.content', notThere(send('/file/content', { project_id, digest: 'none' }))],
    ['objects.query', send('/objs/query', labelled)],
    ['files.query_stats', send('/files/query_stats', { project_id })],
    ['projects.stats', send('/project/stats', { project_id })],
    ['objects.delete', send('/obj/delete', { project_id, object_id: 'thing' })],
    ['tables.create_from_digests', send('/table/create_from_digests', { project_id, row_digests: ['x'] })],
    ['tables.update', send('/table/update', { project_id, base_digest: table, updates: [{ append: { row: {} } }] })],
    ['tables.query', send('/table/query', { project_id, digest: table })],
    ['tables.query_stats', send('/table/query_stats', { project_id, digest: table })],
    [
      'tables.query_stats_batch',
      send('/table/query_stats_batch', { project_id, digests: [table], include_storage_size: true }),
    ],
    [
      'costs.create',
      send('/cost/create', { project_id, costs: { m: { prompt_token_cost: 1, completion_token_cost: 2 } } }),
    ],
    ['costs.query', send('/cost/query', { project_id })],
    ['costs.explain', send('/cost/explain', { project_id, call_id: one })],
    [
      'costs.purge',
      send('/cost/purge', { project_id, query: { $expr: { $in: [{ $getField: 'id' }, [{ $literal: 'x' }]] } } }),
    ],
    ['refs.read_batch', send('/refs/read_batch', { refs: [rowRef] })],
    ['annotation_queues.create', makeQueue],
    ['annotation_queues.query', send('/annotation_queues/query', { project_id })],
    ['annotation_queues.read', ofQueue('GET')],
    ['annotation_queues.update', ofQueue('PUT', '', { name: 'r' })],
    ['annotation_queues.items_add', ofQueue('POST', '/items', { call_ids: [one], display_fields: [] })],
    ['annotation_queues.items', ofQueue('POST', '/items/query', {})],
    ['annotation_queues.progress', moveFirstItem],
    ['annotation_queues.stats', send('/annotation_queues/stats', { project_id, queue_ids: ['q'] })],
    ['feedback.create', ...ofFeedback((body) => send('/feedback/create', body()))],
    ['feedback.batch_create', ...ofFeedback((body) => send('/feedback/batch/create', { batch: [body()] }))],
    ['feedback.replace', ...ofFeedback((body) => send('/feedback/replace', { ...body(), feedback_id: 'given' }))],
    ['annotation_queues.delete', ofQueue('DELETE')],
    ...evaluationObjects,
    ['feedback.query', send('/feedback/query', { project_id, query: ofOne })],
    ['feedback.purge', send('/feedback/purge', { project_id, query: given })],
    ['training_jobs.create_sft', trainingJob],
    ...evaluationRuns,
    ['calls.delete', send('/calls/delete', { project_id, call_ids: [one] })],
    ['logs.delete', ...logsToDelete.map((asked) => send('/logs/delete', { project_id, ...asked }))],
    ['erasures.create', ...erasures],
    ['erasures.list', inProject('GET', 'erasures')],
    ['erasures.read', notThere(inProject('GET', 'erasures/none'))],
    ['projects.delete', inProject('DELETE', '', { confirm: project_id })],
  ]

  it.each(requests)('%s', async (name, ...sends) => {
    const route = routeOf(name)
    touched.clear()
    const topics = [...(route.topics ?? [])]
    const statuses: number[] = []
    const run = async (send: (typeof sends)[number]) => void statuses.push((await send()).status)
    // Routes that only read are asked side by side.
    if (topics.length === 0) await Promise.all(sends.map(run))
    else for (const send of sends) await run(send)
    for (const status of statuses) expect([200, 202], `${name}: ${status}`).toContain(status)
    const { read, written } = touched
    expect([...written].sort()).toEqual(topics.sort())
    expect([...read].filter((table) => !route.tables?.includes(table))).toEqual([])
    // Derived tables are read only when they are there, and their marks only while something is due.
    const unread = (route.tables ?? []).filter(
      (table) =>
        !read.has(table) &&
        !/^(call_(counts(_hourly)?|stats|marks)|trace_parts|usage_shares|rollups|payload_leaves)$/.test(table) &&
        !seldom[name]?.includes(table),
    )
    expect(unread).toEqual([])
  })
})
