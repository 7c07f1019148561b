// The call record, columns, includes and faults of /call/read and /calls/stream_query.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  baseUs,
  type CallWorld,
  complete,
  createCallWorld,
  end,
  project,
  rename,
  start,
} from '../fixtures/call-world.ts'

let world: CallWorld
const id = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`
const read = async (call: string, more: object = {}) =>
  (await world.ask('/call/read', { id: call, ...more })).json as { call: Record<string, never> | null }
const field = (name: string) => ({ $getField: name })
const sizes = { full: 0 }

beforeAll(async () => {
  world = await createCallWorld()
  const full = {
    traceId: id(900),
    parentId: id(2),
    threadId: 'thread',
    turnId: id(1),
    opName: 'weave:///ent/proj/op/my_op:abc',
    userId: 'bob',
    runId: 'ent/proj/run',
    runStep: 0,
    runStepEnd: 7,
    startedUs: baseUs + 1,
    endedUs: baseUs + 2_500_000,
    attributes: '{"a":1.0,"otel_span":"mine"}',
    inputs: '{"n":12345678901234567890123,"s":"ü\\n\\"\u2028","e":1e400}',
    output: '"null"',
    summary:
      '{"usage":{"gpt":{"requests":1}},"x":1.50,"weave":{"status":"mine","keep":[1.0,{"a":"}"}],"latency_ms":0},"y":{}}',
    otelDump: '{"name":"span","big":1e400}',
    odd: true,
  }
  sizes.full = [full.attributes, full.inputs, full.output, full.summary, full.otelDump].reduce(
    (sum, text) => sum + Buffer.byteLength(text),
    0,
  )
  await world.apply([
    complete(id(1), full),
    complete(id(2), { traceId: id(900), summary: '{}', exception: 'boom' }),
    complete(id(3), {
      traceId: id(901),
      errorCount: 2,
      displayName: 'shown',
      opName: 'weave:///ent/proj/op/my_op:abc',
    }),
    start(id(4), { traceId: id(902), startedUs: baseUs + 5_000_000, inputs: '{"q":1}' }),
    end(id(5), { output: '1' }),
    start(id(6), { traceId: id(903), inputs: '{"old":true}' }),
    complete(id(7), {
      traceId: id(904),
      summary: ' {"we\\u0061ve":{"keep":1}, "weave" : {"display_name":"no", "kept":2}} ',
    }),
    complete(id(8), { traceId: id(905), projectId: 'ent/elsewhere' }),
    complete(id(9), { traceId: id(906), attributes: ' { } ', otelDump: '{"s":1}', summary: '{ }' }),
    complete('00000000000000aa', { traceId: id(907), startedUs: baseUs, opName: 'first' }),
  ])
  await world.apply([
    end(id(6), { output: '[1,2.0]', endedUs: baseUs - 1_500, summary: '{"k":1}' }),
    complete('00000000000000aa', { traceId: id(908), startedUs: baseUs - 9_000_000, opName: 'second' }),
    rename(id(2), 'renamed'),
  ])
})
afterAll(() => world.remove())

describe('the record', () => {
  it('has every key, with payloads as they were sent', async () => {
    const { text } = await world.ask('/call/read', { id: id(1) })
    expect(JSON.parse(text).call).toEqual({
      id: id(1),
      project_id: project,
      op_name: 'weave:///ent/proj/op/my_op:abc',
      display_name: null,
      trace_id: id(900),
      parent_id: id(2),
      thread_id: 'thread',
      turn_id: id(1),
      started_at: '2026-03-10T12:00:00.000001Z',
      ended_at: '2026-03-10T12:00:02.500000Z',
      exception: null,
      platform_user_id: 'bob',
      platform_run_id: 'ent/proj/run',
      platform_run_step: 0,
      platform_run_step_end: 7,
      deleted_at: null,
      expire_at: null,
      storage_size_bytes: null,
      total_storage_size_bytes: null,
      attributes: { a: 1, otel_span: { name: 'span', big: Infinity } },
      inputs: { n: 1.2345678901234568e22, s: 'ü\n"\u2028', e: Infinity },
      output: 'null',
      summary: {
        usage: { gpt: { requests: 1 } },
        x: 1.5,
        y: {},
        weave: { keep: [1, { a: '}' }], status: 'success', latency_ms: 2499, trace_name: 'my_op' },
      },
    })
    for (const exact of ['"n":12345678901234567890123', '"e":1e400', '"a":1.0', '"x":1.50', '"keep":[1.0,'])
      expect(text).toContain(exact)
    expect(text).not.toContain('"mine"')
  })
  it('shows an error and a new name', async () => {
    const { call } = await read(id(2))
    expect(call).toMatchObject({ display_name: 'renamed', exception: 'boom', parent_id: null, output: null })
    expect(call?.summary).toEqual({ weave: { status: 'error', latency_ms: 1000, display_name: 'renamed' } })
  })
  it('counts failed descendants', async () => {
    expect((await read(id(3))).call?.summary).toEqual({
      weave: { status: 'descendant_error', latency_ms: 1000, display_name: 'shown' },
    })
  })
  it('shows a running call with the payload of its start', async () => {
    const { call } = await read(id(4))
    expect(call).toMatchObject({ ended_at: null, output: null, inputs: { q: 1 }, started_at: '2026-03-10T12:00:05Z' })
    expect(call?.summary).toEqual({ weave: { status: 'running', trace_name: 'op' } })
  })
  it('shows a call whose end is stored far from its start in time, and no latency below 0', async () => {
    const { call } = await read(id(6))
    expect(call).toMatchObject({ inputs: { old: true }, output: [1, 2], ended_at: '2026-03-10T11:59:59.998500Z' })
    expect(call?.summary).toEqual({ k: 1, weave: { status: 'success', latency_ms: 0, trace_name: 'op' } })
  })
  it('keeps the last weave of a summary, however its key is spelled', async () => {
    expect((await read(id(7))).call?.summary).toEqual({
      weave: { kept: 2, status: 'success', latency_ms: 1000, trace_name: 'op' },
    })
  })
  it('puts weave and otel_span into empty objects', async () => {
    const { call } = await read(id(9))
    expect(call?.attributes).toEqual({ otel_span: { s: 1 } })
    expect(call?.summary).toEqual({ weave: { status: 'success', latency_ms: 1000, trace_name: 'op' } })
  })
  it.each([
    ['unknown', 'nothing'],
    ['empty', ''],
    ['without a start', id(5)],
    ['of another project', id(8)],
  ])('is null for an id that is %s', async (_, call) => {
    expect(await read(call)).toEqual({ call: null })
  })
  it('answers the later of two calls that share a span id', async () => {
    expect((await read('00000000000000aa')).call).toMatchObject({ op_name: 'second', trace_id: id(908) })
    expect(await world.list({ filter: { call_ids: ['00000000000000aa'] } })).toMatchObject([
      { op_name: 'second' },
      { op_name: 'first' },
    ])
  })
  it('tells storage sizes when asked', async () => {
    const flags = { include_storage_size: true, include_total_storage_size: true }
    expect((await read(id(1), flags)).call).toMatchObject({
      storage_size_bytes: sizes.full,
      total_storage_size_bytes: null,
    })
    const [root, child] = await world.list({ filter: { trace_ids: [id(900)] }, ...flags, columns: ['id'] })
    expect(child).toMatchObject({ id: id(1), parent_id: null, total_storage_size_bytes: null })
    expect(root).toMatchObject({ id: id(2), total_storage_size_bytes: root?.storage_size_bytes + sizes.full })
  })
  it('carries the headers of the wait', async () => {
    expect((await world.ask('/call/read', { id: id(1) })).headers).toMatchObject({ 'X-Test-Fresh': 'yes' })
  })
})

describe('columns', () => {
  const list = async (columns: string[] | null) =>
    (await world.list({ filter: { call_ids: [id(1)] }, columns }))[0] as Record<string, never>

  it('always brings the identity, and shows the rest as empty', async () => {
    const line = await list(['thread_id'])
    expect(line).toMatchObject({
      id: id(1),
      trace_id: id(900),
      op_name: 'weave:///ent/proj/op/my_op:abc',
      started_at: '2026-03-10T12:00:00.000001Z',
      thread_id: 'thread',
      turn_id: null,
      parent_id: null,
      ended_at: null,
      platform_user_id: null,
      platform_run_step: null,
      attributes: {},
      inputs: {},
      output: null,
    })
    expect(line.summary).toMatchObject({ weave: { trace_name: 'my_op' } })
    expect(Object.keys(line)).toHaveLength(23)
  })
  it('cuts paths, drops _dump, takes both prefixes and ignores unknown names', async () => {
    expect(
      await list(['inputs.n', 'output_dump', 'wb_run_step', 'platform_user_id.x', 'nope', 'run_id']),
    ).toMatchObject({
      output: 'null',
      inputs: { s: 'ü\n"\u2028' },
      platform_run_step: 0,
      platform_user_id: 'bob',
      platform_run_id: null,
      attributes: {},
    })
  })
  it('brings times, exception and name with the summary', async () => {
    const [line] = await world.list({ filter: { call_ids: [id(2)] }, columns: ['summary_dump'] })
    expect(line).toMatchObject({ ended_at: '2026-03-10T12:00:01Z', exception: 'boom', display_name: 'renamed' })
  })
  it('takes an empty list as all', async () => {
    expect(await list([])).toEqual(await list(null))
  })
  it('reads only the payloads that are asked for', async () => {
    world.statements.length = 0
    await list(['id', 'parent_id'])
    expect(world.statements).toEqual(['calls.page'])
  })
})

describe('the other prefix', () => {
  it('is used for the names in answers and filters', async () => {
    const other = 'ent/other-prefix'
    await world.apply([complete(id(1), { projectId: other, userId: 'bob', runId: `${other}/r`, runStep: 4 })])
    const filter = { wb_user_ids: ['bob'], wb_run_ids: ['r'] }
    const { lines } = await world.ask('/calls/stream_query', { project_id: other, filter }, {}, 'wb')
    expect(lines).toMatchObject([{ wb_user_id: 'bob', wb_run_id: `${other}/r`, wb_run_step: 4, wb_run_step_end: null }])
    expect(lines[0]).not.toHaveProperty('platform_user_id')
  })
})

describe('user names', () => {
  it('are told when they are asked for', async () => {
    const other = 'ent/names'
    const some = [
      complete(id(1), { projectId: other, userId: 'bob' }),
      complete(id(2), { projectId: other, userId: '' }),
    ]
    await world.apply(some)
    const body = { project_id: other, include_usernames: true }
    const [bob, nobody] = (await world.ask('/calls/stream_query', body, {}, 'wb')).lines
    expect(bob).toMatchObject({ wb_user_id: 'bob', wb_username: 'bob' })
    expect(nobody).not.toHaveProperty('wb_username')
    const [platform] = (await world.ask('/calls/stream_query', body)).lines
    expect(platform).toMatchObject({ platform_username: 'bob' })
    const [without] = (await world.ask('/calls/stream_query', { project_id: other })).lines
    expect(without).not.toHaveProperty('platform_username')
  })
})

it('a batch that is applied again shows no call twice, whatever is read of its payloads', async () => {
  const parts = [
    complete('twice-0', { inputs: '{"twice":3}', output: '3' }),
    start('twice-1', { inputs: '{"twice":2}' }),
    end('twice-1', { output: '2' }),
    start('twice-2', { inputs: '{"twice":1}' }),
  ]
  await world.apply(parts)
  await world.apply(parts)
  const twice = field('inputs.twice')
  const ids = async (field: string, query: object) =>
    (await world.list({ columns: ['id'], query: { $expr: query }, sort_by: [{ field, direction: 'asc' }] })).map(
      ({ id }) => id,
    )
  const some = { $gte: [twice, { $literal: 1 }] }
  expect(await ids('inputs.twice', some)).toEqual(['twice-2', 'twice-1', 'twice-0'])
  // Texts of both sides, by which a call is both sorted and chosen.
  const both = { $or: [some, { $eq: [field('output'), { $literal: 2 }] }] }
  expect(await ids('inputs.twice', both)).toEqual(['twice-2', 'twice-1', 'twice-0'])
  expect(await ids('output', both)).toEqual(['twice-1', 'twice-0', 'twice-2'])
})

describe('requests', () => {
  const status = async (body: object, path = '/calls/stream_query') => {
    const { status: code, json } = await world.ask(path, body)
    return [code, json]
  }
  it.each([
    [{ limit: -1 }, 400],
    [{ offset: -1 }, 400],
    [{ limit: '2' }, 200],
    [{ limit: 1e300, offset: '9'.repeat(40) }, 200],
    [{ limit: 1e300, sort_by: [{ field: 'op_name', direction: 'asc' }] }, 200],
    [{ limit: true }, 422],
    [{ limit: 1.5 }, 422],
    [{ sort_by: [{ field: 'id', direction: 'up' }] }, 422],
    [{ sort_by: [{ field: 'nope', direction: 'asc' }] }, 422],
    [{ query: { $expr: { $eq: [field('nope'), { $literal: 1 }] } } }, 422],
    [{ query: { $expr: { $and: [] } } }, 400],
    [{ query: { $expr: { $gt: [field('started_at'), { $literal: 'soon' }] } } }, 400],
    [{ include_costs: true, include_feedback: true }, 200],
    [{ expand_columns: ['inputs.model'] }, 200],
    [{ expand_columns: 'inputs.model' }, 422],
    [{ include_costs: false, include_feedback: null, expand_columns: [], include_usernames: true, filter: null }, 200],
    [{ project_id: 'x' }, 400],
  ])('%j is answered %i', async (body, expected) => {
    const [code, json] = await status(body)
    expect(code).toBe(expected)
    if (code === 400) expect(json).toEqual({ reason: expect.any(String) })
  })
  it('bounds the lists of a filter', async () => {
    expect((await status({ filter: { op_names: Array(1001).fill('x') } }))[0]).toBe(400)
  })
  it('checks fields even when the project is empty', async () => {
    const query = { $expr: { $eq: [field('nope'), { $literal: 1 }] } }
    expect((await status({ project_id: 'no/body', query }))[0]).toBe(422)
    expect((await world.ask('/calls/stream_query', { project_id: 'no/body' })).text).toBe('')
  })
  it.each([
    [undefined, 'application/jsonl'],
    ['application/jsonl', 'application/jsonl'],
    ['application/x-ndjson', 'application/x-ndjson'],
    ['application/x-ndjson, application/jsonl', 'application/jsonl'],
    ['*/*', 'application/jsonl'],
  ])('accept %s gives %s', async (accept, type) => {
    const headers = accept === undefined ? {} : { accept }
    const answer = await world.ask('/calls/stream_query', { limit: 1 }, headers as Record<string, string>)
    expect(answer.headers['Content-Type']).toBe(type)
  })
})

describe('a payload that is not there yet', () => {
  it('fails the page instead of answering null', async () => {
    const other = 'ent/torn'
    await world.store.command({
      name: 'test',
      sql: `INSERT INTO callhouse.calls (project_id, id, started_at, op_name, start_ver, version)
        VALUES ('${other}', 'x', toDateTime64('2026-03-10 12:00:00', 6, 'UTC'), 'op', 5, 5)`,
      params: {},
    })
    expect((await world.ask('/calls/stream_query', { project_id: other })).status).toBe(503)
    const light = await world.ask('/calls/stream_query', { project_id: other, columns: ['id'] })
    expect(light.lines).toHaveLength(1)
  })
})
