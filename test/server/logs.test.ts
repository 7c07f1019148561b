// OTLP log records: sent in each encoding, stored once, found by every filter.
import { ProtobufLogsSerializer } from '@opentelemetry/otlp-transformer'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { slotCount, slotOf } from '../../services/content/hash-slots.ts'
import { noMaskings } from '../../services/content/masking/maskings.ts'
import { createProgress } from '../../services/core/log/progress.ts'
import { bytesField, textField } from '../../services/core/protobuf.ts'
import { createJoiner } from '../../services/derived/logs/joiner.ts'
import { createEventMapping } from '../../services/ingest/otel/join.ts'
import { maxValueDepth } from '../../services/ingest/otel/spans.ts'
import { dropOldLogs } from '../../services/removal/retention.ts'
import { basicAuth, post } from '../fixtures/child-server.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { aRequest, aSpan, flag, integer, text } from '../fixtures/otel.ts'
import { encodeLogsRequest, LogsRequest, LogsResponse } from '../fixtures/otlp-proto.ts'

type Line = Record<string, unknown> & { id: string; cursor: string }

let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer(['--max-body-bytes', String(4 * 2 ** 20), '--otel-logs-as-io', 'false'])
})
afterAll(() => server?.remove())

const day = { start: '2026-03-05T00:00:00Z', end: '2026-03-06T00:00:00Z' }
const ns = (n: number) => String(1_772_712_000_000_000_000n + BigInt(n))
const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'
const requestOf = (logRecords: unknown[], resource: unknown[] = []) => ({
  resourceLogs: [
    {
      resource: { attributes: resource },
      scopeLogs: [{ scope: { name: 'library', version: '2', attributes: [text('x', 'y')] }, logRecords }],
    },
  ],
})
const send = (project_id: string, logRecords: unknown[], resource?: unknown[]) =>
  server.send<Record<string, unknown>>('/otel/v1/logs', requestOf(logRecords, resource), { project_id })
const bytes = (project_id: string, body: Buffer) =>
  fetch(`${server.now().url}/v1/logs`, {
    method: 'POST',
    body: new Uint8Array(body),
    headers: { authorization: basicAuth(), project_id, 'content-type': 'application/x-protobuf' },
  })
const query = (project_id: string, more: object = {}) =>
  server.list<Line>('/logs/query', { project_id, ...day, ...more })
const bodies = async (project_id: string, more: object = {}) => (await query(project_id, more)).map(({ body }) => body)
const line = (n: number, more: object = {}) => ({ timeUnixNano: ns(n), body: { stringValue: `line ${n}` }, ...more })

describe('log records', () => {
  it('come back with everything that they said', async () => {
    const record = {
      timeUnixNano: ns(123),
      observedTimeUnixNano: ns(456),
      severityNumber: 17,
      severityText: 'ERROR',
      traceId: traceId.toUpperCase(),
      spanId,
      eventName: 'an.event',
      body: { kvlistValue: { values: [{ key: 'a', value: { arrayValue: { values: [{ intValue: '1' }] } } }] } },
      attributes: [
        text('plain', 'true'),
        text('json', '{"a": 1.0}'),
        integer('big', '9007199254740993'),
        flag('flag', true),
        { key: 'double', value: { doubleValue: 0.5 } },
        { key: 'unset', value: {} },
        text('same', 'first'),
        integer('same', 2),
      ],
    }
    expect(await send('acme/whole', [record], [text('service.name', 'shop'), integer('pid', 7)])).toEqual({})
    const answer = await fetch(`${server.now().url}/logs/query`, {
      method: 'POST',
      headers: { authorization: basicAuth() },
      body: JSON.stringify({ project_id: 'acme/whole', ...day }),
    })
    const json = await answer.text()
    expect(json).toContain('"big":9007199254740993')
    const { id, cursor, ...shown } = JSON.parse(json.replace('"big":9007199254740993', '"big":1')) as Line
    expect([id, cursor]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), `${ns(123)}_${id}`])
    expect(shown).toEqual({
      time: '2026-03-05T12:00:00Z',
      time_unix_nano: ns(123),
      observed_time_unix_nano: ns(456),
      trace_id: traceId,
      span_id: spanId,
      severity_number: 17,
      severity_text: 'ERROR',
      event_name: 'an.event',
      body: { a: [1] },
      attributes: { plain: 'true', json: '{"a": 1.0}', big: 1, flag: true, double: 0.5, same: 2 },
      resource: { 'service.name': 'shop', pid: '7' },
      scope: { x: 'y', name: 'library', version: '2' },
    })
  })

  it('are the same rows when they are sent again, in whichever encoding', async () => {
    const records = [
      line(1),
      line(2, { traceId, spanId, severityNumber: 9 }),
      line(3, { attributes: [integer('n', 5)] }),
    ]
    await send('acme/again', records)
    const once = await query('acme/again')
    await send('acme/again', records.toReversed())
    expect((await bytes('acme/again', encodeLogsRequest(requestOf(records)))).status).toBe(200)
    expect(await query('acme/again')).toEqual(once)
    const { store } = server.now()
    await store.command({ name: 'test.merge', sql: 'OPTIMIZE TABLE callhouse.logs FINAL', params: {} })
    await store.command({ name: 'test.merge', sql: 'OPTIMIZE TABLE callhouse.logs_by_span FINAL', params: {} })
    const [counts] = await store.rows<{ logs: string; spans: string }>({
      name: 'test.count',
      sql: `SELECT toString(count()) AS logs, toString((SELECT count() FROM callhouse.logs_by_span WHERE project_id = 'acme/again')) AS spans
        FROM callhouse.logs WHERE project_id = 'acme/again'`,
      params: {},
    })
    expect(counts).toEqual({ logs: '3', spans: '1' })
  })

  it('of the published SDK are read', async () => {
    const at: [number, number] = [1_772_712_000, 0]
    const record = {
      hrTime: at,
      hrTimeObserved: at,
      severityNumber: 9,
      severityText: 'INFO',
      body: 'from the SDK',
      eventName: 'sdk.event',
      attributes: { list: ['a', 'b'], n: 1.5 },
      droppedAttributesCount: 0,
      instrumentationScope: { name: 'a-library', version: '3' },
      resource: resourceFromAttributes({ 'service.name': 'sdk' }),
    }
    const body = ProtobufLogsSerializer.serializeRequest([record] as never) as Uint8Array
    expect((await bytes('acme/sdk', Buffer.from(body))).status).toBe(200)
    expect(await query('acme/sdk')).toEqual([
      expect.objectContaining({
        body: 'from the SDK',
        event_name: 'sdk.event',
        severity_number: 9,
        attributes: { list: ['a', 'b'], n: 1.5 },
        scope: { name: 'a-library', version: '3' },
      }),
    ])
  })

  it('without a time have that of their observation, else of their arrival', async () => {
    await send('acme/times', [{ observedTimeUnixNano: ns(9), body: { stringValue: 'observed' } }])
    const beforeMs = Date.now()
    await send('acme/times', [{ body: { stringValue: 'taken' } }])
    const found = await query('acme/times', { end: new Date(Date.now() + 60_000).toISOString() })
    expect(found.map(({ body, time_unix_nano: at }) => [body, at === ns(9)])).toEqual([
      ['observed', true],
      ['taken', false],
    ])
    expect(Number(found[1]?.time_unix_nano) / 1e6).toBeGreaterThanOrEqual(beforeMs)
  })

  it('of impossible times have that of their arrival, and it is said', async () => {
    const records = [line(1), line(2, { timeUnixNano: '1000' }), line(3, { timeUnixNano: '9000000000000000000' })]
    expect(await send('acme/refused', records)).toEqual({
      partialSuccess: {
        rejectedLogRecords: '0',
        errorMessage: expect.stringContaining('before 2000 or in the future'),
      },
    })
    const answer = await bytes('acme/refused', encodeLogsRequest(requestOf(records)))
    const reply = LogsResponse.toObject(LogsResponse.decode(Buffer.from(await answer.arrayBuffer())), { longs: String })
    expect(reply).toMatchObject({ partialSuccess: { errorMessage: expect.stringContaining('before 2000') } })
    expect(await bodies('acme/refused')).toEqual(['line 1'])
    const until = { end: new Date(Date.now() + 60_000).toISOString() }
    expect(new Set(await bodies('acme/refused', until))).toEqual(new Set(['line 1', 'line 2', 'line 3']))
    expect((await bytes('acme/refused', Buffer.from([10, 200]))).status).toBe(400)
  })

  it('keep no credentials, and content as refs', async () => {
    const image = `data:text/plain;base64,${Buffer.alloc(9_000, 'content').toString('base64')}`
    const secret = 'sk-very-secret'
    await send('acme/hidden', [
      line(1, {
        body: { kvlistValue: { values: [text('api_key', secret), text('image', image)] } },
        attributes: [
          text('http.request.header.authorization', secret),
          text('api_key', secret),
          text('document', `{"password": "p", "client_secret": "${secret}"}`),
          text('image', image),
        ],
      }),
    ])
    const [found] = await query('acme/hidden')
    expect(JSON.stringify(found)).not.toContain(secret)
    expect(found).toMatchObject({
      body: { api_key: 'REDACTED', image: expect.stringMatching(/^weave:\/\/\/acme\/hidden\/object\//) },
      attributes: {
        'http.request.header.authorization': 'REDACTED',
        api_key: 'REDACTED',
        image: expect.stringMatching(/^weave:\/\/\//),
        document: expect.stringContaining('REDACTED'),
      },
    })
  })

  it('keep long texts whole, and those of files as refs, in each encoding', async () => {
    const long = 'long text, no file. '.repeat(15_000)
    const file = `data:text/plain;base64,${Buffer.alloc(300_000, 'content').toString('base64')}`
    const records = [line(1, { body: { stringValue: long }, attributes: [text('long', long), text('file', file)] })]
    records.push(line(2, { body: { stringValue: file } }))
    await send('acme/long-json', records)
    expect((await bytes('acme/long', encodeLogsRequest(requestOf(records)))).status).toBe(200)
    for (const project of ['acme/long-json', 'acme/long']) {
      const ref = expect.stringMatching(`^weave:///${project}/object/`)
      expect(await query(project)).toEqual([
        expect.objectContaining({ body: long, attributes: { long, file: ref } }),
        expect.objectContaining({ body: ref }),
      ])
    }
  })

  it('hold values of every type, nested to the bound; deeper ones are cut', async () => {
    type Nested = { sent: object; shown: unknown; bytes: Buffer }
    const sent = {
      kvlistValue: {
        values: [
          text('text', 'x'),
          integer('whole', 7),
          flag('flag', true),
          { key: 'none', value: {} },
          { key: 'double', value: { doubleValue: 0.5 } },
          { key: 'bytes', value: { bytesValue: 'AAEC' } },
        ],
      },
    }
    const AnyValue = LogsRequest.root.lookupType('opentelemetry.proto.common.v1.AnyValue')
    const leaves: Nested = {
      sent,
      // protobufjs gives up before the bound: what lies around the leaves is written here.
      bytes: Buffer.from(AnyValue.encode(AnyValue.fromObject(sent)).finish()),
      shown: { text: 'x', whole: 7, flag: true, double: 0.5, bytes: 'AAEC' },
    }
    const member = (key: string, value: Buffer) => Buffer.concat([textField(1, key), bytesField(2, value)])
    const around = ({ sent, shown, bytes }: Nested, n: number): Nested =>
      n % 2 === 0
        ? { sent: { arrayValue: { values: [sent] } }, shown: [shown], bytes: bytesField(5, bytesField(1, bytes)) }
        : {
            sent: { kvlistValue: { values: [{ key: 'a', value: sent }] } },
            shown: { a: shown },
            bytes: bytesField(6, bytesField(1, member('a', bytes))),
          }
    const nested = (levels: number) => Array.from({ length: levels }, (_, n) => n).reduce(around, leaves)
    const encodings = {
      json: async (project: string, { sent }: Nested) => {
        const request = requestOf([line(1, { body: sent, attributes: [{ key: 'deep', value: sent }] })])
        return (await post(server.now().url, '/otel/v1/logs', request, { project_id: project })).status
      },
      protobuf: async (project: string, { bytes: value }: Nested) => {
        const at = Buffer.alloc(9, 9)
        at.writeBigUInt64LE(BigInt(ns(1)), 1)
        const record = Buffer.concat([at, bytesField(5, value), bytesField(6, member('deep', value))])
        return (await bytes(project, bytesField(1, bytesField(2, bytesField(2, record))))).status
      },
    }
    // The members of the innermost value are a level of their own.
    const levels = maxValueDepth - 2
    for (const [encoding, sendOne] of Object.entries(encodings)) {
      const project = `acme/deep-${encoding}`
      expect([encoding, await sendOne(project, nested(levels))]).toEqual([encoding, 200])
      expect([encoding, await sendOne(`${project}er`, nested(levels + 1))]).toEqual([encoding, 200])
      expect(await query(`${project}er`)).toHaveLength(1)
      const { shown } = nested(levels)
      expect(await query(project)).toEqual([expect.objectContaining({ body: shown, attributes: { deep: shown } })])
    }
  })

  it('are found by each filter', async () => {
    await send('acme/found', [
      line(1, { traceId, spanId, severityNumber: 5 }),
      line(2, { traceId, spanId: 'a'.repeat(16), eventName: 'one' }),
      line(3, { traceId: 'b'.repeat(32), severityNumber: 13, attributes: [text('event.name', 'two')] }),
      line(4, { severityNumber: 17, attributes: [text('k', 'a needle here')] }),
      line(5, { timeUnixNano: '1772755200000000000' }),
    ])
    const all = ['line 1', 'line 2', 'line 3', 'line 4']
    expect(await bodies('acme/found')).toEqual(all)
    expect(await bodies('acme/found', { trace_id: traceId })).toEqual(['line 1', 'line 2'])
    expect(await bodies('acme/found', { trace_id: traceId, span_id: spanId })).toEqual(['line 1'])
    expect(await bodies('acme/found', { span_id: spanId })).toEqual(['line 1'])
    expect(await bodies('acme/found', { event_names: ['one', 'two'] })).toEqual(['line 2', 'line 3'])
    expect(await bodies('acme/found', { event_names: [] })).toEqual([])
    expect(await bodies('acme/found', { min_severity: 13 })).toEqual(['line 3', 'line 4'])
    expect(await bodies('acme/found', { min_severity: 2 ** 53 })).toEqual([])
    expect(await bodies('acme/found', { contains: 'needle' })).toEqual(['line 4'])
    expect(await bodies('acme/found', { contains: 'line 2' })).toEqual(['line 2'])
    expect(await bodies('acme/other')).toEqual([])
    const pages: unknown[] = []
    for (let after: string | undefined; ; ) {
      const page = await query('acme/found', { limit: 2, ...(after && { after }) })
      pages.push(page.map(({ body }) => body))
      if (page.length < 2) break
      after = page.at(-1)?.cursor
    }
    expect(pages).toEqual([all.slice(0, 2), all.slice(2), []])
  })

  it.each([
    [{ start: 'x' }, 400],
    [{ limit: 1001 }, 400],
    [{ limit: 0 }, 422],
    [{ after: 'x' }, 400],
    [{ start: day.end, end: day.start }, 400],
  ])('are not asked for by %j', async (more, status) => {
    const body = JSON.stringify({ project_id: 'acme/found', ...day, ...more })
    const headers = { authorization: basicAuth() }
    expect((await fetch(`${server.now().url}/logs/query`, { method: 'POST', headers, body })).status).toBe(status)
  })

  it('are part of no call where that is switched off', async () => {
    const [project_id, count] = ['logs/apart', 30]
    const idOf = (n: number) => n.toString(16).padStart(16, 'e')
    const ids = Array.from({ length: count }, (_, n) => ({ traceId, spanId: idOf(n) }))
    const eventName = 'gen_ai.client.inference.operation.details'
    const attributes = [text('gen_ai.input.messages', '[{"content":"question"}]')]
    await send(
      project_id,
      ids.map((own) => line(1, { ...own, eventName, attributes })),
    )
    await server.send('/otel/v1/traces', aRequest(ids.map((own) => aSpan(own))), { project_id })
    expect(await bodies(project_id)).toHaveLength(count)
    const call = await server.send<{ call: { inputs: object } }>('/call/read', { project_id, id: idOf(0) })
    expect(call.call.inputs).toEqual({})
    // Other joiners find all of them still to be joined: the one of the project's hash slot.
    const { store, log } = server.now()
    const own = slotOf(project_id)
    const joinerOf = (slot: number) =>
      createJoiner({
        store,
        log,
        progress: createProgress(),
        slots: () => [slot],
        mapping: createEventMapping(server.config, noMaskings),
        onError: (error) => expect.fail(error.message),
      })
    expect(await joinerOf((own + 1) % slotCount).look(86_400)).toBe(0)
    expect(await joinerOf(own).look(86_400)).toBe(count)
  })

  it('that are large are answered in several reads', async () => {
    const long = 'x'.repeat(900_000)
    for (let n = 0; n < 16; n += 4)
      await send(
        'acme/large',
        [0, 1, 2, 3].map((i) => line(n + i, { attributes: [text('long', long)] })),
      )
    expect(await bodies('acme/large')).toEqual(Array.from({ length: 16 }, (_, n) => `line ${n}`))
  })

  it('are removed by months, once all of a month is too old', async () => {
    const { store } = server.now()
    const months = ['2025-11-30', '2025-12-31', '2026-01-01']
    for (const month of months) {
      const timeUnixNano = `${Date.parse(`${month}T12:00:00Z`)}000000`
      await send('acme/old', [line(1, { timeUnixNano, traceId, spanId, body: { stringValue: month } })])
    }
    const all = { start: '2025-01-01T00:00:00Z', trace_id: traceId }
    expect(await bodies('acme/old', all)).toEqual(months)
    const nowMs = Date.parse('2026-01-31T00:00:00Z')
    expect(await dropOldLogs(store, { own: Number.POSITIVE_INFINITY, derived: 30 }, nowMs)).toEqual([])
    expect(await dropOldLogs(store, { own: 30, derived: 30 }, nowMs)).toEqual([
      'logs 202511',
      'logs 202512',
      'logs_by_span 202511',
      'logs_by_span 202512',
    ])
    expect(await bodies('acme/old', all)).toEqual(months.slice(2))
    expect(await dropOldLogs(store, { own: 30, derived: 30 }, nowMs)).toEqual([])
  })

  it('by the million in one body are refused before they take the memory', async () => {
    // resource_logs { scope_logs { log_records {} … } }
    const count = 1_000_000
    const records = Buffer.alloc(count * 2)
    for (let i = 0; i < records.length; i += 2) records[i] = 18
    const within = (field: number, inner: Buffer) => {
      const size: number[] = []
      for (let rest = inner.length; ; rest >>>= 7) {
        size.push(rest > 127 ? (rest & 127) | 128 : rest)
        if (rest <= 127) break
      }
      return Buffer.concat([Buffer.from([field * 8 + 2, ...size]), inner])
    }
    expect((await bytes('acme/many', within(1, within(2, records)))).status).toBe(413)
  })
})
