// Creating objects: classes, digests, names, kinds, refs and the event that is appended.
import { describe, expect, it } from 'vitest'
import { createNameBinding } from '../../services/content/name-binding.ts'
import { createClock } from '../../services/core/clock/clock.ts'
import { unavailable } from '../../services/core/errors.ts'
import { canonicalJson } from '../../services/core/json/canonical.ts'
import { createObjectWriteRoutes } from '../../services/ingest/objects/routes.ts'
import { createMemoryLog } from '../fixtures/memory-log.ts'
import { createCall } from '../fixtures/route-call.ts'

const binding = createNameBinding(async () => [])

function setup(allowPrivateNetworks = false) {
  const log = createMemoryLog()
  const call = createCall(
    createObjectWriteRoutes({ log, clock: createClock(), binding, config: { allowPrivateNetworks } }),
  )
  const create = (val: unknown, more: Record<string, unknown> = {}) =>
    call('/obj/create', { json: { obj: { project_id: 'e/p', object_id: 'x', val, ...more } } })
  const createText = (valText: string, more = '') =>
    call('/obj/create', { jsonText: `{"obj":{"project_id":"e/p","object_id":"x","val":${valText}${more}}}` })
  const builtin = (name: string, val: unknown) => create(val, { builtin_object_class: name })
  return { log, call, create, createText, builtin }
}

const op = {
  _type: 'CustomWeaveType',
  weave_type: { type: 'Op' },
  files: { 'obj.py': 'VLdokHOD3i2pvbMRA05t7qIwnXYLZmDENXylw4swnkY' },
}

describe('digest', () => {
  it.each([
    ['1', '1.0'],
    ['{"a":1}', '{"a":1.0}'],
    ['9007199254740993', '9007199254740992'],
    ['0', '-0.0'],
  ])('tells %s from %s', async (a, b) => {
    const { createText } = setup()
    const [x, y] = [await createText(a), await createText(b)]
    expect([x.status, y.status]).toEqual([200, 200])
    expect(x.json).not.toEqual(y.json)
  })
  it('of an op is the published one, and the kind is op', async () => {
    const { create, log } = setup()
    expect((await create(op)).json).toEqual({ digest: 'cYWcz1qcWOJX5c5ZqrTpa6Z7G4DBbM35yy2Bz17L9Yw', object_id: 'x' })
    expect(log.rows('objects')[0]).toMatchObject({ kind: 'op', digest: 'cYWcz1qcWOJX5c5ZqrTpa6Z7G4DBbM35yy2Bz17L9Yw' })
  })
  it('is compared with the expected one: 409, nothing stored', async () => {
    const { create, log } = setup()
    expect((await create({}, { expected_digest: 'RBNvo1WzZ4oRRq0W9XhknpT7T8If536DEMBg9hyqY4o' })).status).toBe(200)
    expect((await create({}, { expected_digest: null })).status).toBe(200)
    expect(log.appends()).toBe(2)
    expect(await create({}, { expected_digest: 'x' })).toMatchObject({
      status: 409,
      json: { reason: expect.any(String) },
    })
    expect(log.appends()).toBe(2)
  })
  it('of the last of repeated members counts', async () => {
    const { call } = setup()
    const jsonText = '{"obj":{"val":0},"obj":{"project_id":"e/p","object_id":"x","val":{"no":1},"v\\u0061l":{}}}'
    expect((await call('/obj/create', { jsonText })).json).toMatchObject({
      digest: 'RBNvo1WzZ4oRRq0W9XhknpT7T8If536DEMBg9hyqY4o',
    })
  })
})

describe('event', () => {
  it('holds the value as sent on one line, its refs, its size and the authenticated user', async () => {
    const { createText, log } = setup()
    const ref = 'weave:///e/p/object/y:abc/attr/rows'
    const text = `{ "a" : [1.50, "${ref}"],\n "b":{"c":"${ref}","d":"see ${ref}"}, "n":12345678901234567890}`
    const answer = await createText(text, ',"wb_user_id":"forged"')
    expect(answer.headers).toEqual({ 'X-Callhouse-Position': 'objects=1' })
    const line = log.lines('objects')[0] as string
    const val = line.slice(line.indexOf('"val":') + 6, -1)
    expect(canonicalJson(val)).toBe(canonicalJson(text))
    expect(val).toContain('[1.50,')
    expect(log.rows('objects')[0]).toMatchObject({
      project_id: 'e/p',
      object_id: 'x',
      kind: 'object',
      event: 'created',
      user_id: 'tester',
      refs: [ref],
      size_bytes: canonicalJson(text).length,
    })
  })
  it('writes plain values as text inside a string', async () => {
    const { createText, log } = setup()
    for (const text of ['null', '1.0', 'false', '"a\\"\\u0000\\ud800"']) await createText(text)
    expect(log.rows('objects').map((row) => row.val)).toEqual(['null', '1.0', 'false', '"a\\"\\u0000\\ud800"'])
  })
  it('has clocks that grow', async () => {
    const { create, log } = setup()
    await create(1)
    await create(2)
    const [a, b] = log.lines('objects').map((line) => BigInt(/"clock":(\d+)/.exec(line)?.[1] ?? 0))
    expect((b as bigint) > (a as bigint)).toBe(true)
  })
  it('is not acknowledged when the log refuses', async () => {
    const { create, log } = setup()
    log.refuse(unavailable('closed'))
    expect(await create(1)).toMatchObject({ status: 503, headers: { 'Retry-After': '1' } })
  })
})

describe('name', () => {
  const named = (object_id: string) => setup().create(1, { object_id })
  it.each(['a', 'Ab_1.-', 'é', '名前', '..', 'a'.repeat(128)])('%s is taken', async (name) => {
    expect((await named(name)).status).toBe(200)
  })
  it.each(['', ' ', 'a b', 'a/b', '../x', 'a:b', 'a\0', 'a\n', '😀', '\ud800', '"', "'", '*', 'a\u200b'])(
    '%j is refused with 422 and a reason',
    async (name) => {
      expect(await named(name)).toMatchObject({ status: 422, json: { reason: expect.any(String) } })
    },
  )
  it('longer than 128 characters is refused with 400', async () => {
    for (const length of [129, 5_000_000]) expect((await named('a'.repeat(length))).status).toBe(400)
  })
})

describe('body', () => {
  it('needs its fields: 422', async () => {
    const { call, log } = setup()
    for (const json of [
      {},
      { obj: null },
      { obj: { project_id: 'e/p', object_id: 'x' } },
      { obj: { project_id: 1, object_id: 'x', val: 1 } },
      { obj: { object_id: 'x', val: 1 } },
    ])
      expect(await call('/obj/create', { json })).toMatchObject({ status: 422, json: { detail: expect.any(Array) } })
    expect(log.appends()).toBe(0)
  })
  it('names a project that the caller may write to', async () => {
    const { call, log, create } = setup()
    const json = { obj: { project_id: 'e/p', object_id: 'x', val: 1 } }
    expect((await call('/obj/create', { json }, { may: () => false })).status).toBe(403)
    for (const project_id of ['', 'e', 'e/', '/p', 'a/b/c']) expect((await create(1, { project_id })).status).toBe(400)
    expect(log.appends()).toBe(0)
  })
  it('may not hold refs of the internal scheme nor numbers beyond a double: 400', async () => {
    const { createText, log } = setup()
    for (const text of [
      '"weave-trace-internal:///1/object/x:abc"',
      '{"a":[{"b":"weave-trace-internal:///1/object/x:abc"}]}',
      '{"a":"weave-trace\\u002dinternal:\\/\\/\\/1"}',
      '{"a":1e400}',
    ])
      expect(await createText(text)).toMatchObject({ status: 400, json: { reason: expect.any(String) } })
    expect(log.appends()).toBe(0)
    expect((await createText('"about weave-trace-internal:///1"')).status).toBe(200)
  })
})

describe('size', () => {
  it('may be millions of items, and hundreds of levels', async () => {
    const { createText } = setup()
    expect((await createText(`["\\n"${',1'.repeat(1_000_000)}]`)).status).toBe(200)
    expect((await createText(`${'['.repeat(500)}"\\n"${']'.repeat(500)}`)).status).toBe(200)
    expect((await createText(`${'['.repeat(1001)}${']'.repeat(1001)}`)).status).toBe(413)
  })
})

describe('class data', () => {
  const carried = (bases: unknown, name: unknown = 'Mine') => ({ _type: 'Mine', _class_name: name, _bases: bases })
  it.each([
    [['BaseObject', 'BaseModel'], 'Mine', 'Mine'],
    [['Object', 'BaseModel'], 'Mine', 'Mine'],
    [['Parent', 'Model', 'Object', 'BaseModel'], 'Mine', 'Model'],
    [['Model', 'Object', 'BaseModel'], 'Mine', 'Model'],
    [['BaseModel'], undefined, undefined],
    [['Other', 'BaseModel'], undefined, undefined],
    ['BaseModel', undefined, undefined],
    [[1, 'Object', 'BaseModel'], undefined, undefined],
  ])('%j gives leaf %s and base %s', async (bases, leaf, base) => {
    const { create, log } = setup()
    expect((await create(carried(bases))).status).toBe(200)
    const row = log.rows('objects')[0] as Record<string, unknown>
    expect([row.leaf_object_class, row.base_object_class]).toEqual([leaf, base])
    expect(row.val).toEqual(carried(bases))
  })
  it('is stored unchecked, but must be of the class that is asked for', async () => {
    const { builtin } = setup()
    const val = carried(['BaseObject', 'BaseModel'], 'Leaderboard')
    expect((await builtin('Leaderboard', val)).status).toBe(200)
    expect((await builtin('Provider', val)).status).toBe(400)
  })
  it('is asked for by name: unknown classes and values that are no objects are 400', async () => {
    const { builtin, create } = setup()
    for (const [name, val] of [
      ['Nope', {}],
      ['ChartConfig', { x_axis: 'a', y_axis: 'b' }],
      ['constructor', {}],
      ['Leaderboard', []],
      ['Leaderboard', null],
    ] as const)
      expect(await builtin(name, val)).toMatchObject({ status: 400, json: { reason: expect.any(String) } })
    expect((await create({}, { builtin_object_class: null, set_base_object_class: 'Nope' })).status).toBe(400)
    expect((await create({ columns: [] }, { set_base_object_class: 'Leaderboard' })).status).toBe(200)
  })
})

describe('builtin classes', () => {
  it('have the published digests', async () => {
    const { builtin, log } = setup()
    expect((await builtin('Leaderboard', { name: 'x', columns: [] })).json).toMatchObject({
      digest: 'LUcowf5cIBbxCg8sci0R4X5xh1VsFX4uloyOHz1zjJ8',
    })
    const field_schema = { type: 'integer', minimum: 0, maximum: 5 }
    expect((await builtin('AnnotationSpec', { name: 'quality', field_schema })).json).toMatchObject({
      digest: 'yrbQ7HtLJJJKnAjgvm2Nuh8sbtsGvMxOzQrBSzVoVZw',
    })
    expect(log.rows('objects')[1]).toMatchObject({
      base_object_class: 'AnnotationSpec',
      leaf_object_class: 'AnnotationSpec',
    })
  })
  it('are rebuilt with defaults, nested class data and without unknown keys', async () => {
    const { builtin, log } = setup()
    const column = { evaluation_object_ref: 'r', scorer_name: 's', summary_metric_path: 'p', extra: 1 }
    await builtin('Leaderboard', { columns: [column], description: 'd', surplus: {} })
    await builtin('LLMStructuredCompletionModel', {
      llm_model_id: 'm',
      default_params: { temperature: 1, messages_template: [{ role: 'user', content: [{ a: 1 }] }] },
    })
    await builtin('AlertSpec', { spec: { threshold: 5, more: { kept: true } } })
    const [board, model, alert] = log.rows('objects')
    expect(board?.val).toEqual({
      name: null,
      description: 'd',
      columns: [
        {
          evaluation_object_ref: 'r',
          scorer_name: 's',
          summary_metric_path: 'p',
          should_minimize: null,
          _type: 'LeaderboardColumn',
          _class_name: 'LeaderboardColumn',
          _bases: ['BaseModel'],
        },
      ],
      _type: 'Leaderboard',
      _class_name: 'Leaderboard',
      _bases: ['BaseObject', 'BaseModel'],
    })
    expect(model).toMatchObject({ base_object_class: 'Model', leaf_object_class: 'LLMStructuredCompletionModel' })
    expect(log.lines('objects')[1]).toContain('"temperature":1.0,')
    expect(alert?.val).toMatchObject({ spec: { threshold: 5, more: { kept: true }, aggregation_function: 'mean' } })
    expect(log.lines('objects')[2]).toContain('"threshold":5.0,')
  })
  it('keep numbers as they were sent', async () => {
    const { createText, log } = setup()
    await createText(
      '{"field_schema":{"type":"number","minimum":0.50,"maximum":1e2}}',
      ',"builtin_object_class":"AnnotationSpec"',
    )
    expect(log.lines('objects')[0]).toContain('"minimum":0.50,"maximum":1e2')
  })
  it('accept a saved view with every part', async () => {
    const { builtin, log } = setup()
    const definition = {
      filter: { op_names: ['a'], trace_roots_only: true },
      query: {
        $expr: {
          $and: [
            { $eq: [{ $getField: 'a' }, { $literal: 1.5 }] },
            { $not: [{ $in: [{ $getField: 'b' }, [{ $literal: 1 }]] }] },
            { $contains: { input: { $getField: 'c' }, substr: { $literal: 'x' } } },
          ],
        },
      },
      cols: { a: true },
      columns: [{ path: ['a', 0], label: 'A' }],
      pin: { left: ['a'], right: [] },
      sort_by: [{ field: 'a', direction: 'asc' }],
      page: 1,
      charts: [{ x_axis: 'a', y_axis: 'b', plot_type: 'bar' }],
      dynamic_leaderboard_config: { model_configuration: { version_groups: [{ versions: '*' }, { versions: ['v'] }] } },
    }
    expect((await builtin('SavedView', { view_type: 't', label: 'l', definition })).status).toBe(200)
    expect(log.rows('objects')[0]?.val).toMatchObject({
      definition: {
        filter: { op_names: ['a'], wb_user_ids: null, _bases: ['BaseModelStrict', 'BaseModel'] },
        query: { _class_name: 'Query', $expr: { _class_name: 'AndOperation' } },
        column_order: null,
      },
    })
  })
  it.each<[string, unknown]>([
    ['Leaderboard', {}],
    ['Leaderboard', { columns: {} }],
    ['Leaderboard', { columns: [{}] }],
    ['Leaderboard', { columns: [], name: 1 }],
    ['AnnotationSpec', { field_schema: { type: 'nope' } }],
    ['AnnotationSpec', { field_schema: { properties: { a: { minimum: '1' } } } }],
    ['AnnotationSpec', { field_schema: 1 }],
    ['AnnotationSpec', { unique_among_creators: 'true' }],
    ['AlertSpec', { spec: { comparison_operator: 'NOT' } }],
    ['AlertSpec', { spec: { window_size: 1.5 } }],
    ['ProviderModel', { provider: 'p', max_tokens: '1' }],
    ['ProviderModel', { provider: 'p' }],
    ['SavedView', { view_type: 't', label: 'l', definition: { query: { $expr: { $nope: [] } } } }],
    ['SavedView', { view_type: 't', label: 'l', definition: { sort_by: [{ field: 'a', direction: 'up' }] } }],
    ['ComparisonView', { label: 'l', definition: {} }],
    ['LLMStructuredCompletionModel', { llm_model_id: 'm', default_params: { n_times: 1.5 } }],
  ])('%s refuses %j', async (name, val) => {
    const { builtin, log } = setup()
    expect(await builtin(name, val)).toMatchObject({ status: 400, json: { reason: expect.any(String) } })
    expect(log.appends()).toBe(0)
  })
})

describe('provider', () => {
  const provider = (base_url: string, more = {}, allowPrivate = false) =>
    setup(allowPrivate).builtin('Provider', { base_url, api_key_name: '', ...more })
  it.each(['https://api.example.com/v1', 'http://8.8.8.8', 'https://[2606:4700::1111]/v1'])('takes %s', async (url) => {
    expect((await provider(url)).status).toBe(200)
  })
  const local = [
    'http://localhost:8000',
    'http://a.localhost',
    'http://127.0.0.1',
    'http://2130706433',
    'http://0x7f.1',
    'http://0177.0.0.1',
    'http://10.1.2.3',
    'http://192.168.0.1',
    'http://[::1]',
    'http://[::ffff:127.0.0.1]',
    'http://[fe80::1]',
    'http://0.0.0.0',
    'http://localhost.',
  ]
  it.each(local)('refuses %s unless private networks are allowed', async (url) => {
    expect((await provider(url)).status).toBe(400)
    expect((await provider(url, {}, true)).status).toBe(200)
  })
  it.each([
    'ftp://x',
    'x',
    '',
    'http://a/?q=1',
    'http://a/#f',
    'http://a?',
    'http://169.254.169.254@metadata.google.internal',
    'http://metadata.google.internal',
    'file:///etc/passwd',
    'http://',
  ])('always refuses %j', async (url) => {
    expect((await provider(url, {}, true)).status).toBe(400)
  })
  it('refuses headers that speak to metadata services', async () => {
    expect((await provider('https://a.example', { extra_headers: { 'Metadata-Flavor': 'x' } })).status).toBe(400)
    expect((await provider('https://a.example', { extra_headers: { 'X-Ok': 1 } })).status).toBe(400)
    expect((await provider('https://a.example', { extra_headers: { 'X-Ok': 'y' } })).status).toBe(200)
  })
})
