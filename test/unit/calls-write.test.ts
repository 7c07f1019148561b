// Start, end and update of single calls: accepted forms, refusals, and the rows that they become.
import { describe, expect, test } from 'vitest'
import { anEnd, aStart, type CallsRow, callId, createCallsWrite, traceId } from '../fixtures/calls-write.ts'

const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

async function start(over: CallsRow = {}, deps = {}) {
  const edge = createCallsWrite(deps)
  const answer = await edge.post('/call/start', { start: aStart(over) })
  return { ...answer, row: edge.rows()[0], edge }
}
async function end(over: CallsRow = {}, deps = {}) {
  const edge = createCallsWrite(deps)
  const answer = await edge.post('/call/end', { end: anEnd(over) })
  return { ...answer, row: edge.rows()[0], edge }
}
const detail = (json: unknown) => (json as { detail: { loc: unknown[]; type: string; msg: string }[] }).detail

describe('/call/start', () => {
  test('stores every field and answers the ids and the position', async () => {
    const { status, json, headers, edge } = await start({
      display_name: 'Shown',
      parent_id: 'abcdef0123456789',
      thread_id: 'th"read',
      turn_id: 'türn',
      attributes: { a: 1 },
      inputs: { b: [2] },
      otel_dump: { c: 3 },
      platform_user_id: 'mallory',
      platform_run_id: 'e/p/run',
      platform_run_step: 7,
    })
    expect([status, json]).toEqual([200, { id: callId, trace_id: traceId }])
    expect(headers).toEqual({ 'X-Callhouse-Position': 'calls=1' })
    const [row] = edge.rows()
    expect(Object.keys(row as CallsRow)).toEqual([
      'kind',
      'project_id',
      'id',
      'clock',
      'started_us',
      'trace_id',
      'parent_id',
      'thread_id',
      'turn_id',
      'op_name',
      'named',
      'display_name',
      'user_id',
      'run_id',
      'run_step',
      'start_bytes',
      'attributes',
      'inputs',
      'otel_dump',
    ])
    expect(row).toMatchObject({
      kind: 'start',
      project_id: 'e/p',
      id: callId,
      started_us: Date.UTC(2026, 0, 2, 3, 4, 5) * 1000 + 678_901,
      trace_id: traceId,
      parent_id: 'abcdef0123456789',
      thread_id: 'th"read',
      turn_id: 'türn',
      op_name: 'weave:///e/p/op/chat:Xy1',
      named: 1,
      display_name: 'Shown',
      user_id: 'ada',
      run_id: 'e/p/run',
      run_step: 7,
      start_bytes: '{"a":1}{"b":[2]}{"c":3}'.length,
      attributes: { a: 1 },
      inputs: { b: [2] },
      otel_dump: { c: 3 },
    })
  })

  test('leaves out what is absent, null or empty', async () => {
    const { row } = await start({ display_name: null, parent_id: null, thread_id: null, turn_id: '', otel_dump: null })
    expect(Object.keys(row as CallsRow)).toEqual([
      'kind',
      'project_id',
      'id',
      'clock',
      'started_us',
      'trace_id',
      'op_name',
      'user_id',
      'start_bytes',
      'attributes',
      'inputs',
    ])
  })

  test.each([[''], [null], [undefined]])('generates two different ids for %j', async (absent) => {
    const { json, row } = await start({ id: absent, trace_id: absent })
    const ids = json as { id: string; trace_id: string }
    expect(ids.id).toMatch(uuid7)
    expect(ids.trace_id).toMatch(uuid7)
    expect(ids.id).not.toBe(ids.trace_id)
    expect(row).toMatchObject(ids)
  })

  test('takes span-form ids, also with characters that JSON escapes', async () => {
    const { json, row } = await start({ id: '0123456789abcd"\\', trace_id: '0123456789abcdef0123456789abcde"' })
    expect(json).toEqual({ id: '0123456789abcd"\\', trace_id: '0123456789abcdef0123456789abcde"' })
    expect(row).toMatchObject(json as CallsRow)
  })

  test.each([
    ['id', callId.toUpperCase()],
    ['id', 'short'],
    ['id', `{${callId.slice(0, 34)}}`],
    ['trace_id', callId.toUpperCase()],
    ['trace_id', '0123456789abcdef'],
    ['parent_id', ''],
    ['parent_id', 'nope'],
    ['op_name', 'x'.repeat(129)],
    ['op_name', 'weave:///e/p/object/chat:Xy1'],
    ['op_name', 'weave:///e/p/op/chat'],
    ['op_name', 'weave:///'],
    ['display_name', 'x'.repeat(1025)],
    ['project_id', 'nope'],
    ['project_id', 'a/b/c'],
    ['project_id', '/b'],
    ['platform_run_id', 'e/p'],
    ['platform_run_id', 'e//r'],
    ['platform_run_id', ''],
    ['platform_run_step', -1],
    ['platform_run_step', '-1'],
    ['started_at', '1999-12-31T23:59:59.999999Z'],
    ['started_at', 0],
    ['started_at', new Date(Date.now() + 86_460_000).toISOString()],
  ])('answers 400 for %s = %j and stores nothing', async (key, value) => {
    const { status, json, edge } = await start({ [key]: value })
    expect([status, Object.keys(json as CallsRow)]).toEqual([400, ['reason']])
    expect(edge.rows()).toEqual([])
  })

  test.each([
    ['project_id', undefined, 'missing'],
    ['project_id', 5, 'string_type'],
    ['id', 5, 'string_type'],
    ['op_name', undefined, 'missing'],
    ['op_name', null, 'string_type'],
    ['display_name', 5, 'string_type'],
    ['trace_id', {}, 'string_type'],
    ['parent_id', false, 'string_type'],
    ['thread_id', 5, 'string_type'],
    ['turn_id', [], 'string_type'],
    ['started_at', undefined, 'missing'],
    ['started_at', 'soon', 'datetime_from_date_parsing'],
    ['started_at', true, 'datetime_from_date_parsing'],
    ['attributes', undefined, 'missing'],
    ['attributes', null, 'dict_type'],
    ['attributes', [], 'dict_type'],
    ['inputs', 'x', 'dict_type'],
    ['otel_dump', [], 'dict_type'],
    ['platform_run_id', 5, 'string_type'],
    ['platform_run_step', 3.5, 'int_type'],
    ['platform_run_step', 'x', 'int_parsing'],
    ['platform_run_step', true, 'int_type'],
  ])('answers 422 for %s = %j with its place', async (key, value, type) => {
    const { status, json, edge } = await start({ [key]: value })
    expect(status).toBe(422)
    expect(detail(json)).toEqual([{ loc: ['body', 'start', key], msg: expect.any(String), type }])
    expect(edge.rows()).toEqual([])
  })

  test('names every fault of a call', async () => {
    const { json } = await start({ op_name: 1, inputs: null, started_at: 'x' })
    expect(detail(json).map(({ loc }) => loc[2])).toEqual(['op_name', 'inputs', 'started_at'])
  })

  test.each([
    [undefined, 'missing'],
    [null, 'dict_type'],
    [[], 'dict_type'],
    ['x', 'dict_type'],
  ])('answers 422 for start = %j', async (value, type) => {
    const edge = createCallsWrite()
    const { status, json } = await edge.post('/call/start', { start: value })
    expect([status, detail(json)[0]]).toEqual([422, { loc: ['body', 'start'], msg: expect.any(String), type }])
  })

  test.each(['null', '[]', '5', '"x"'])('answers 422 for the body %s', async (body) => {
    const { status, json } = await createCallsWrite().post('/call/start', body, { raw: true })
    expect([status, detail(json)[0]?.loc]).toEqual([422, ['body']])
  })

  test('keeps an empty name given with a start, and 1024 characters beyond the basic plane', async () => {
    expect((await start({ display_name: '' })).row).toMatchObject({ named: 1 })
    expect((await start({ display_name: '😀'.repeat(1024) })).status).toBe(200)
    expect((await start({ display_name: '😀'.repeat(1025) })).status).toBe(400)
  })

  test('takes an empty op name, a plain name of 128 characters and a long op ref', async () => {
    expect((await start({ op_name: '' })).status).toBe(200)
    expect((await start({ op_name: 'é'.repeat(128) })).status).toBe(200)
    expect((await start({ op_name: `weave:///e/p/op/${'x'.repeat(500)}:v1` })).status).toBe(200)
    expect((await start({ op_name: 'weave-trace-internal:///x' })).status).toBe(200)
  })

  test.each([3, 3.0, '3', ' 3 ', '3.0', '+3'])('coerces the run step %j', async (value) => {
    expect((await start({ platform_run_step: value })).row).toMatchObject({ run_step: 3 })
  })

  test('takes the configured spelling of prefixed fields, and wb_ unless aliases are off', async () => {
    const given = { wb_run_id: 'e/p/alias', wb_run_step: 1 }
    expect((await start(given)).row).toMatchObject({ run_id: 'e/p/alias', run_step: 1 })
    expect((await start({ ...given, platform_run_id: 'e/p/own', platform_run_step: 2 })).row).toMatchObject({
      run_id: 'e/p/own',
      run_step: 2,
    })
    expect((await start({ ...given, platform_run_id: null })).row).toMatchObject({ run_id: 'e/p/alias' })
    expect((await start(given, { wireAliases: false })).row).not.toHaveProperty('run_id')
    expect((await start(given, { wirePrefix: 'wb', wireAliases: false })).row).toMatchObject({ run_id: 'e/p/alias' })
    expect((await start({ platform_run_id: 'bad' }, { wirePrefix: 'wb' })).status).toBe(200)
  })

  test('refuses projects that the key may not write', async () => {
    const edge = createCallsWrite()
    const { status } = await edge.post('/call/start', { start: aStart() }, { may: (project) => project !== 'e/p' })
    expect([status, edge.rows()]).toEqual([403, []])
  })

  test('replaces lone surrogates everywhere', async () => {
    const { row } = await start({ thread_id: 'a\ud800b', op_name: '\udc00', display_name: '\ud83d' })
    expect(row).toMatchObject({ thread_id: 'a\ufffdb', op_name: '\ufffd', display_name: '\ufffd' })
  })

  test('is safe from keys of the prototype chain', async () => {
    const edge = createCallsWrite()
    const body = `{"start":{"__proto__":{"op_name":"x","started_at":"2026-01-01"},"project_id":"e/p","attributes":{"__proto__":{"a":1}},"inputs":{}}}`
    const { status, json } = await edge.post('/call/start', body, { raw: true })
    expect(status).toBe(422)
    expect(detail(json).map(({ loc }) => loc[2])).toEqual(['op_name', 'started_at'])
  })
})

describe('/call/end', () => {
  test('stores every field', async () => {
    const { status, json, row } = await end({
      output: { o: 1 },
      exception: 'Bad\n"thing"',
      summary: { usage: { m: { prompt_tokens: 1 } } },
      platform_run_step_end: 9,
      trace_id: 5,
      is_eval: 'x',
    })
    expect([status, json]).toEqual([200, {}])
    const endedUs = Date.UTC(2026, 0, 2, 3, 4, 6) * 1000
    expect(row).toMatchObject({
      kind: 'end',
      ended_us: endedUs,
      payload_us: endedUs,
      exception: 'Bad\n"thing"',
      run_step_end: 9,
      usage_model: ['m'],
      output: { o: 1 },
      summary: { usage: { m: { prompt_tokens: 1 } } },
    })
    expect(row).not.toHaveProperty('user_id')
  })

  test('places its payload at the hint when that is usable', async () => {
    const hint = Date.UTC(2026, 0, 1) * 1000
    expect((await end({ started_at: '2026-01-01' })).row).toMatchObject({ payload_us: hint })
    const endedUs = Date.UTC(2026, 0, 2, 3, 4, 6) * 1000
    expect((await end({ started_at: '1970-01-01' })).row).toMatchObject({ payload_us: endedUs })
    expect((await end({ started_at: null })).row).toMatchObject({ payload_us: endedUs })
    expect((await end({ started_at: 'x' })).status).toBe(422)
  })

  test('writes an absent or null output as the text null', async () => {
    expect((await end()).row).toMatchObject({ output: 'null', end_bytes: 6 })
    expect((await end({ output: null })).row).toMatchObject({ output: 'null', end_bytes: 6 })
  })

  test.each(['', 'nope', callId.toUpperCase()])('answers 400 for the id %j', async (id) => {
    expect((await end({ id })).status).toBe(400)
  })

  test.each([
    ['id', null, 'string_type'],
    ['id', undefined, 'missing'],
    ['summary', null, 'dict_type'],
    ['summary', undefined, 'missing'],
    ['ended_at', null, 'datetime_from_date_parsing'],
    ['exception', 5, 'string_type'],
  ])('answers 422 for %s = %j', async (key, value, type) => {
    const { status, json } = await end({ [key]: value })
    expect([status, detail(json)]).toEqual([422, [{ loc: ['body', 'end', key], msg: expect.any(String), type }]])
  })
})

describe('/call/update', () => {
  const update = async (body: CallsRow) => {
    const edge = createCallsWrite()
    return { ...(await edge.post('/call/update', { project_id: 'e/p', call_id: callId, ...body })), edge }
  }

  test('stores the name, and an empty one', async () => {
    const { json, headers, edge } = await update({ display_name: 'New' })
    expect([json, headers]).toEqual([{}, { 'X-Callhouse-Position': 'calls=1' }])
    expect(edge.rows()).toMatchObject([{ kind: 'name', project_id: 'e/p', id: callId, named: 1, display_name: 'New' }])
    const cleared = (await update({ display_name: '' })).edge.rows()[0]
    expect(cleared).toMatchObject({ kind: 'name', named: 1 })
    expect(cleared).not.toHaveProperty('display_name')
  })

  test('needs a name', async () => {
    for (const body of [{}, { display_name: null }]) {
      const { status, json } = await update(body)
      expect([status, json]).toEqual([400, { reason: 'One of [display_name] is required for call update' }])
    }
    expect((await update({ display_name: 'x'.repeat(1025) })).status).toBe(400)
    expect((await update({ display_name: 5 })).status).toBe(422)
    expect((await update({ display_name: 'x', call_id: null })).status).toBe(422)
  })

  test('answers an id that no call can have like an unknown call', async () => {
    const { status, edge } = await update({ display_name: 'x', call_id: 'unknown' })
    expect([status, edge.rows()]).toEqual([200, []])
  })
})
