// OTLP over HTTP: encodings, routing to projects, partial success, faults, durability.
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Refusal, unavailable } from '../../services/core/errors.ts'
import { json } from '../fixtures/http-server.ts'
import { aRequest, aSpan, type Otel, protobuf, startOtel, text } from '../fixtures/otel.ts'
import { encodeLogsRequest, encodeRequest, RpcStatus, TraceResponse } from '../fixtures/otlp-proto.ts'

let otel: Otel
beforeEach(async () => {
  otel = await startOtel()
})
afterEach(() => otel.stop())

const bytes = encodeRequest(aRequest([aSpan()]))
const bad = aSpan({ traceId: '0af7', spanId: 'b7ad6b7169203332', name: 'bad' })

const someRecords = {
  resourceLogs: [{ scopeLogs: [{ logRecords: [{ eventName: 'first' }, { eventName: 'last' }] }] }],
}

describe('encodings', () => {
  it.each([
    ['none', bytes, {}],
    ['identity', bytes, { 'content-encoding': 'identity' }],
    ['gzip', gzipSync(bytes), { 'content-encoding': 'gzip' }],
    ['deflate', deflateSync(bytes), { 'content-encoding': 'deflate' }],
    ['br', brotliCompressSync(bytes), { 'content-encoding': 'br' }],
  ])('protobuf with content encoding %s', async (_name, body, headers) => {
    const answer = await otel.post(body, protobuf, { project_id: 'ent/proj', ...headers })
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toBe(protobuf)
    expect(answer.bytes).toHaveLength(0)
    expect(answer.headers['x-callhouse-position']).toBe('files=1,objects=1,calls=1')
    expect(otel.newCalls()).toHaveLength(1)
  })

  it('takes a missing content type as protobuf', async () => {
    expect((await otel.post(bytes, undefined)).status).toBe(200)
    expect(otel.newCalls()).toHaveLength(1)
  })

  it('ignores parameters of the content type', async () => {
    const body = Buffer.from(JSON.stringify(aRequest([aSpan()])))
    const answer = await otel.post(body, 'application/json; charset=utf-8')
    expect([answer.status, json(answer)]).toEqual([200, {}])
  })

  it('refuses other content types and encodings', async () => {
    expect((await otel.post(bytes, 'text/plain')).status).toBe(415)
    expect((await otel.post(bytes, protobuf, { project_id: 'a/b', 'content-encoding': 'compress' })).status).toBe(415)
  })

  it('answers zero spans with success, whatever they are routed to', async () => {
    expect((await otel.post(Buffer.alloc(0), protobuf, {})).status).toBe(200)
    expect(json(await otel.postJson({}, {}))).toEqual({})
    expect(json(await otel.postJson(aRequest([]), {}))).toEqual({})
    expect(otel.memory.appends()).toBe(0)
  })
})

describe('bodies that cannot be decoded', () => {
  it('answers protobuf with google.rpc.Status in protobuf', async () => {
    const answer = await otel.post(bytes.subarray(0, bytes.length - 3), protobuf)
    expect(answer.status).toBe(400)
    expect(answer.headers['content-type']).toBe(protobuf)
    expect(RpcStatus.toObject(RpcStatus.decode(answer.bytes))).toEqual({
      code: 3,
      message: 'Invalid trace request: the message ends inside a field',
    })
  })

  it.each([
    [
      'spans',
      '/otel/v1/traces',
      encodeRequest(
        aRequest([
          aSpan(),
          {
            traceId: '5b8efff798038103d269b633813fc60c',
            spanId: 'eee19b7ec3c1b174',
            startTimeUnixNano: '1700000000000000000',
            name: 'last',
          },
        ]),
      ),
    ],
    ['log records', '/otel/v1/logs', encodeLogsRequest(someRecords)],
  ])('stores all %s but the last, which is damaged', async (noun, path, whole) => {
    const damaged = Buffer.from(whole)
    // The length of the last text in the body, which is that of its last item, says more than there is.
    const last = damaged.lastIndexOf('last')
    damaged[last - 1] = 100
    const rows = () => otel.memory.lines(noun === 'spans' ? 'calls' : 'logs').length
    const before = rows()
    const answer = await otel.post(damaged, protobuf, undefined, path)
    expect(answer.status).toBe(200)
    expect(TraceResponse.toObject(TraceResponse.decode(answer.bytes), { longs: Number })).toEqual({
      partialSuccess: {
        rejectedSpans: 1,
        errorMessage: `${noun.slice(0, -1)} 2 of the request cannot be read: the message ends inside a field`,
      },
    })
    expect(rows()).toBe(before + 1)
    expect((await otel.post(whole, protobuf, undefined, path)).status).toBe(200)
    expect(rows()).toBe(before + 3)
  })

  it.each(['{"resourceSpans": [', '[]', 'null', '{"resourceSpans": 5}'])(
    'answers JSON %s with google.rpc.Status in JSON',
    async (body) => {
      const answer = await otel.post(Buffer.from(body), 'application/json')
      expect(answer.status).toBe(400)
      expect(json(answer)).toEqual({ code: 3, message: expect.stringMatching(/^Invalid trace request: /) })
    },
  )
})

describe('projects', () => {
  const owned = (project: string) => [text('wandb.entity', 'ent'), text('wandb.project', project)]
  const two = (first: unknown[], second: unknown[]) => ({
    resourceSpans: [
      ...aRequest([aSpan()], first).resourceSpans,
      ...aRequest([aSpan({ spanId: '00000000000000aa' })], second).resourceSpans,
    ],
  })
  const projects = () => otel.newCalls().map(({ project_id }) => project_id)

  it('routes each resource by its attributes', async () => {
    const answer = await otel.postJson(two(owned('one'), owned('two')), {})
    expect(json(answer)).toEqual({})
    expect(projects()).toEqual(['ent/one', 'ent/two'])
  })

  it('takes attributes of every vendor namespace', async () => {
    await otel.postJson(aRequest([aSpan()], [text('platform.entity', 'e'), text('platform.project', 'p')]), {})
    expect(projects()).toEqual(['e/p'])
  })

  it('prefers the header', async () => {
    await otel.postJson(two(owned('one'), []))
    expect(projects()).toEqual(['ent/proj', 'ent/proj'])
  })

  it('rejects the spans of a resource without project when another has one', async () => {
    const answer = await otel.postJson(two(owned('one'), [text('wandb.entity', 'ent')]), {})
    expect([answer.status, json(answer)]).toEqual([
      200,
      {
        partialSuccess: {
          rejectedSpans: '1',
          errorMessage:
            'span "x" (trace_id 0af7651916cd43dd8448eb211c80319c, span_id 00000000000000aa): its resource names no project',
        },
      },
    ])
    expect(projects()).toEqual(['ent/one'])
  })

  it('answers 400 when no project is named at all', async () => {
    const answer = await otel.postJson(aRequest([aSpan()]), {})
    expect([answer.status, json(answer)]).toEqual([400, { reason: expect.stringContaining('No project') }])
  })

  it.each(['proj', 'a/b/c', '/p', 'e/'])('refuses the header %j', async (project) => {
    const answer = await otel.postJson(aRequest([aSpan()]), { project_id: project })
    expect([answer.status, json(answer)]).toEqual([400, { reason: expect.any(String) }])
  })

  it('answers 403 without a grant for one of the projects, and stores nothing', async () => {
    const { text: key } = otel.server.keys.create({ userId: 'u', entity: 'ent', grants: ['ent/one'], role: 'ingest' })
    const headers = { authorization: `Bearer ${key}` }
    expect((await otel.postJson(two(owned('one'), owned('two')), headers)).status).toBe(403)
    expect(otel.newCalls()).toEqual([])
    expect((await otel.postJson(aRequest([aSpan()], owned('one')), headers)).status).toBe(200)
    expect(otel.newCalls()).toEqual([expect.objectContaining({ user_id: 'u' })])
  })

  it('takes the key from a vendor header', async () => {
    const { text: key } = otel.server.keys.create({ userId: 'u', role: 'ingest' })
    const headers = { authorization: '', project_id: 'ent/proj', 'wandb-api-key': key }
    expect((await otel.post(bytes, protobuf, headers)).status).toBe(200)
    expect((await otel.post(bytes, protobuf, { ...headers, 'wandb-api-key': 'no' })).status).toBe(401)
  })
})

describe('exporters that were set up for another product', () => {
  const named = (project: string) => text('openinference.project.name', project)
  const projects = () => otel.newCalls().map(({ project_id }) => project_id)
  const create = (grants?: string[]) =>
    otel.server.keys.create({ userId: 'u', entity: 'ent', role: 'ingest', ...(grants && { grants }) }).text

  it.each([
    [{ 'langsmith-project': 'my project' }, 'ent/my-project'],
    [{ 'x-bt-parent': 'project_name:one' }, 'ent/one'],
    [{ 'x-project-name': 'one two' }, 'ent/one-two'],
    [{ 'x-mlflow-experiment-id': '17' }, 'ent/experiment-17'],
    [{ projectName: 'one' }, 'ent/one'],
    [{ projectName: 'one', 'Comet-Workspace': 'default' }, 'ent/one'],
    [{ projectName: 'one', 'Comet-Workspace': 'team' }, 'team/one'],
    // A name of ours counts first.
    [{ 'langsmith-project': 'one', project_id: 'ent/proj' }, 'ent/proj'],
  ])('name the project by %j', async (headers, project) => {
    const answer = await otel.postJson(aRequest([aSpan()]), { ...headers, authorization: `Bearer ${create()}` })
    expect([answer.status, projects()]).toEqual([200, [project]])
  })

  it('may not name a project without a grant, by header or resource', async () => {
    const headers = { authorization: `Bearer ${create(['ent/only'])}` }
    const foreign = { ...headers, 'langsmith-project': 'other' }
    expect((await otel.postJson(aRequest([aSpan()]), foreign)).status).toBe(403)
    // Phoenix names one always: the only project of a key counts before it.
    expect((await otel.postJson(aRequest([aSpan()], [named('default')]), headers)).status).toBe(200)
    expect(projects()).toEqual(['ent/only'])
  })

  it('name the project of a resource without its entity', async () => {
    const headers = { authorization: `Bearer ${create()}` }
    await otel.postJson(aRequest([aSpan()], [named('default')]), headers)
    expect(projects()).toEqual(['ent/default'])
  })

  it('are told what to set where a header names no project by its name', async () => {
    const named = { 'x-bt-parent': 'project_id:1' }
    const answer = await otel.postJson(aRequest([aSpan()]), { ...named, authorization: `Bearer ${create()}` })
    expect([answer.status, json(answer)]).toEqual([400, { reason: expect.stringMatching(/project_name:<name>/) }])
    const only = { ...named, authorization: `Bearer ${create(['ent/only'])}` }
    expect((await otel.postJson(aRequest([aSpan()]), only)).status).toBe(200)
    expect((await otel.postJson(aRequest([aSpan()]), { authorization: `Bearer ${create()}` })).status).toBe(400)
  })

  it('may not name a foreign entity', async () => {
    const headers = { authorization: `Bearer ${create(['ent/one'])}`, projectName: 'one', 'Comet-Workspace': 'team' }
    expect((await otel.postJson(aRequest([aSpan()]), headers)).status).toBe(403)
    expect(projects()).toEqual([])
  })

  it.each(['/api/public/otel/v1/traces', '/api/v1/private/otel/v1/traces', '/api/otel/v1/traces'])(
    'send the key bare, as x-api-key or x-auth-token, and to %s',
    async (path) => {
      const key = create(['ent/only'])
      const basic = Buffer.from(`any:${key}`).toString('base64')
      for (const headers of [
        { authorization: key },
        { authorization: '', 'x-api-key': key },
        { authorization: '', 'x-auth-token': key },
        { authorization: `Basic ${basic}` },
      ])
        expect((await otel.post(bytes, protobuf, headers, path)).status).toBe(200)
      expect(projects()).toEqual(Array(4).fill('ent/only'))
      expect((await otel.post(bytes, protobuf, { authorization: 'no' }, path)).status).toBe(401)
      expect((await otel.post(bytes, protobuf, { authorization: '', 'x-api-key': 'no' }, path)).status).toBe(401)
    },
  )
})

it('log records that a call waits for are flushed, and no others', async () => {
  const span = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' }
  const contents = 'gen_ai.client.inference.operation.details'
  const flushedBy = async (record: object) => {
    const before = otel.memory.flushed().length
    const body = { resourceLogs: [{ scopeLogs: [{ logRecords: [{ eventName: 'first' }, record] }] }] }
    expect((await otel.postJson(body, undefined, '/otel/v1/logs')).status).toBe(200)
    return otel.memory.flushed().slice(before)
  }
  expect(await flushedBy({ ...span, eventName: contents })).toEqual(['logs'])
  expect(await flushedBy({ eventName: contents })).toEqual([])
  expect(await flushedBy({ ...span, eventName: 'app.started' })).toEqual([])
})

describe('partial success', () => {
  it('keeps the good spans and tells about the others, in JSON', async () => {
    const answer = await otel.postJson(aRequest([aSpan(), bad]))
    expect(json(answer)).toEqual({
      partialSuccess: {
        rejectedSpans: '1',
        errorMessage: 'span "bad" (trace_id 0af7, span_id b7ad6b7169203332): the trace id is invalid',
      },
    })
    expect(otel.newCalls().map(({ id }) => id)).toEqual(['b7ad6b7169203331'])
  })

  it('tells it in protobuf', async () => {
    const answer = await otel.post(encodeRequest(aRequest([bad, aSpan()])), protobuf)
    expect(TraceResponse.toObject(TraceResponse.decode(answer.bytes), { longs: Number })).toEqual({
      partialSuccess: { rejectedSpans: 1, errorMessage: expect.stringContaining('span_id b7ad6b7169203332') },
    })
  })

  it('answers 200 when all spans are rejected, and reports twenty of them', async () => {
    const answer = await otel.postJson(aRequest(Array.from({ length: 200 }, () => bad)))
    expect(answer.status).toBe(200)
    const { partialSuccess } = json(answer) as { partialSuccess: { rejectedSpans: string; errorMessage: string } }
    expect(partialSuccess.rejectedSpans).toBe('200')
    expect(partialSuccess.errorMessage.split('; ')).toHaveLength(21)
    expect(partialSuccess.errorMessage.endsWith('; ...')).toBe(true)
    expect(otel.newCalls()).toEqual([])
    const inProtobuf = await otel.post(encodeRequest(aRequest(Array.from({ length: 200 }, () => bad))), protobuf)
    expect(TraceResponse.toObject(TraceResponse.decode(inProtobuf.bytes), { longs: Number })).toEqual({
      partialSuccess: { ...partialSuccess, rejectedSpans: 200 },
    })
  })
})

describe('durability', () => {
  it('passes overload on with Retry-After', async () => {
    otel.memory.refuse(new Refusal('over_limit', 'too many', { retryAfterSeconds: 3 }))
    const busy = await otel.post(bytes, protobuf)
    expect([busy.status, busy.headers['retry-after'], json(busy)]).toEqual([429, '3', { reason: 'too many' }])
    otel.memory.refuse(unavailable('no disk'))
    expect((await otel.postJson(aRequest([aSpan()]))).status).toBe(503)
    otel.memory.refuse(null)
    expect((await otel.post(bytes, protobuf)).status).toBe(200)
    expect(otel.newCalls()).toHaveLength(1)
  })

  it('writes the op object once, before the first call that refers to it', async () => {
    await otel.post(bytes, protobuf)
    await otel.post(bytes, protobuf)
    expect(otel.memory.rows('objects')).toHaveLength(1)
    expect(otel.memory.rows('files')).toHaveLength(1)
    const [first, again] = otel.newCalls()
    const [op] = otel.memory.rows('objects')
    expect(first?.op_name).toBe(`weave:///ent/proj/op/x:${op?.digest}`)
    expect(again).toEqual({ ...first, clock: again?.clock })
  })
})
