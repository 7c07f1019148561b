// Log records of deleted calls are hidden with them, and those that are deleted by themselves.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recordUserNames, threadNames, threadNamesOf } from '../../services/events/record-names.ts'
import { post } from '../fixtures/child-server.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { aRequest, aSpan, text } from '../fixtures/otel.ts'

let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer()
})
afterAll(() => server?.remove())

const day = { start: '2026-03-05T00:00:00Z', end: '2026-03-06T00:00:00Z' }
const ns = (n: number) => String(1_772_712_000_000_000_000n + BigInt(n))
const trace = (n: number) => String(n).padStart(32, 'a')
const span = (n: number) => String(n).padStart(16, 'b')

type Said = { trace?: string; span?: string; at?: number; attributes?: unknown[] }
let at = 0
const record = (word: string, { trace: traceId, span: spanId, ...more }: Said = {}) => ({
  timeUnixNano: ns(++at),
  body: { stringValue: word },
  ...(traceId && { traceId }),
  ...(spanId && { spanId }),
  ...more,
})
const sendLogs = (project_id: string, logRecords: unknown[]) =>
  server.send('/otel/v1/logs', { resourceLogs: [{ scopeLogs: [{ logRecords }] }] }, { project_id })
const sendSpans = (project_id: string, ...spans: [traceId: string, spanId: string][]) =>
  server.send('/otel/v1/traces', aRequest(spans.map(([traceId, spanId]) => aSpan({ traceId, spanId }))), { project_id })
const bodies = async (project_id: string, more: object = {}) =>
  (await server.list<{ body: unknown }>('/logs/query', { project_id, ...day, ...more })).map(({ body }) => body)
const remove = (project_id: string, ...call_ids: string[]) =>
  server.send<{ num_deleted: number }>('/calls/delete', { project_id, call_ids })

describe('log records', () => {
  it('of deleted calls are hidden, and those of a trace once all of its calls are', async () => {
    const project = 'hidden/calls'
    await sendSpans(project, [trace(1), span(1)], [trace(1), span(2)], [trace(2), span(3)])
    await sendLogs(project, [
      record('of one', { trace: trace(1), span: span(1) }),
      record('of two', { trace: trace(1), span: span(2) }),
      record('of the trace', { trace: trace(1) }),
      record('of another span of it', { trace: trace(1), span: span(9) }),
      record('of three', { trace: trace(2), span: span(3) }),
      record('the same span elsewhere', { trace: trace(3), span: span(1) }),
      record('of nothing'),
    ])
    const others = ['of three', 'the same span elsewhere', 'of nothing']
    const rest = ['of two', 'of the trace', 'of another span of it', ...others]
    expect(await bodies(project)).toEqual(['of one', ...rest])
    expect(await remove(project, span(1))).toEqual({ num_deleted: 1 })
    expect(await bodies(project)).toEqual(rest)
    expect(await bodies(project, { trace_id: trace(1), limit: 2 })).toEqual(rest.slice(0, 2))
    expect(await remove(project, span(2))).toEqual({ num_deleted: 1 })
    expect(await bodies(project)).toEqual(others)
    // Later records belong to a deleted call, too.
    await sendLogs(project, [record('late', { trace: trace(1), span: span(1) }), record('later', { trace: trace(1) })])
    expect(await bodies(project)).toEqual(others)
    expect(await bodies('hidden/other')).toEqual([])
  })

  it('that are hidden shorten no page, and cursors go over them', async () => {
    const project = 'hidden/pages'
    await sendSpans(project, [trace(1), span(1)], [trace(2), span(2)])
    const words = Array.from({ length: 40 }, (_, n) => `${n % 4 === 0 ? 'stays' : 'goes'} ${n}`)
    await sendLogs(
      project,
      words.map((word) => record(word, word.startsWith('goes') ? { trace: trace(1), span: span(1) } : {})),
    )
    await remove(project, span(1))
    const stays = words.filter((word) => word.startsWith('stays'))
    const found: unknown[] = []
    for (let after: string | undefined; ; ) {
      const page = await server.list<{ body: unknown; cursor: string }>('/logs/query', {
        project_id: project,
        ...day,
        limit: 3,
        ...(after && { after }),
      })
      found.push(...page.map(({ body }) => body))
      if (page.length < 3) break
      after = page.at(-1)?.cursor
    }
    expect(found).toEqual(stays)
  })

  it('of an agent whose call is its record are hidden with the call', async () => {
    const project = 'hidden/agent'
    const event = (name: string) => ({
      eventName: `claude_code.${name}`,
      attributes: [text('session.id', 's'), text('prompt.id', 'p')],
    })
    await sendLogs(project, [record('prompt', event('user_prompt')), record('request', event('api_request'))])
    const calls = await server.list<{ id: string; op_name: string }>('/calls/stream_query', { project_id: project })
    expect(calls).toHaveLength(2)
    await remove(project, ...calls.map(({ id }) => id))
    expect(await bodies(project)).toEqual([])
  })

  it('of deleted calls are hidden while these are held', async () => {
    const project = 'hidden/held'
    await sendSpans(project, [trace(1), span(1)])
    await sendLogs(project, [record('held', { trace: trace(1), span: span(1) }), record('trace', { trace: trace(1) })])
    await server.send(`/v2/${project}/holds`, { call_ids: [span(1)], reason: 'a case' })
    await remove(project, span(1))
    expect(await bodies(project)).toEqual([])
    expect((await post(server.now().url, '/logs/query', { project_id: project, ...day })).status).toBe(200)
  })

  it('are deleted by the conditions by which they are found, sent again or not', async () => {
    const project = 'hidden/deleted'
    const records = [
      record('goes with its text'),
      record('stays'),
      record('goes with its trace', { trace: trace(7) }),
      record('stays too', { trace: trace(8) }),
    ]
    await sendLogs(project, records)
    const ask = (body: object) => post(server.now().url, '/logs/delete', { project_id: project, ...day, ...body })
    const empty = [{ trace_id: '' }, { span_id: '' }, { contains: '' }]
    for (const unfit of [{ limit: 3 }, { traces: [] }, { end: undefined }, ...empty])
      expect([unfit, (await ask(unfit)).status]).toEqual([unfit, 422])
    expect((await ask({ start: 'x' })).status).toBe(400)
    const read = (body: object) => post(server.now().url, '/logs/query', { project_id: project, ...day, ...body })
    expect((await read({ severity: 3 })).status).toBe(422)
    const first = await ask({ contains: 'goes with its text' })
    expect(JSON.parse(first.text)).toEqual({ num_deleted: 1 })
    expect(first.headers.get('x-callhouse-erasure')).toMatch(/^[0-9a-f-]{36}$/)
    expect(first.headers.get('x-callhouse-position')).toMatch(/^logs/)
    expect(JSON.parse((await ask({ trace_id: trace(7) })).text)).toEqual({ num_deleted: 1 })
    expect(await bodies(project)).toEqual(['stays', 'stays too'])
    await sendLogs(project, records)
    expect(await bodies(project)).toEqual(['stays', 'stays too'])
    const none = await ask({ contains: 'goes' })
    expect([JSON.parse(none.text), none.headers.get('x-callhouse-erasure')]).toEqual([{ num_deleted: 0 }, null])
  })

  it.each([
    ['trace', { trace_ids: [trace(1)] }, ['by session', 'by user', 'by process']],
    ['session', { thread_ids: ['s-1'] }, ['of a call', 'by trace', 'by user', 'by process']],
    ['user', { user_ids: ['u-1'] }, ['of a call', 'by trace', 'by session']],
    ['conditions', { logs: { ...day, contains: 'by trace' } }, ['of a call', 'by session', 'by user', 'by process']],
  ])('are erased with what names their %s', async (what, selector, stay) => {
    const project = `hidden/erased-${what}`
    await sendSpans(project, [trace(1), span(1)])
    await sendLogs(project, [
      record('of a call', { trace: trace(1), span: span(1) }),
      record('by trace', { trace: trace(1) }),
      record('by session', { attributes: [text('session.id', 's-1')] }),
      record('by user', { attributes: [text('user.id', 'u-1')] }),
    ])
    const logRecords = [record('by process')]
    const resource = { attributes: [text('enduser.id', 'u-1')] }
    await server.send(
      '/otel/v1/logs',
      { resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] },
      { project_id: project },
    )
    const asked = await post(server.now().url, '/erasures', { project_id: project, ...selector, reason: 'asked for' })
    expect([asked.status, JSON.parse(asked.text)]).toMatchObject([202, { log_records: 5 - stay.length }])
    expect(await bodies(project)).toEqual(stay)
  })

  const erase = async (project_id: string, selector: object) => {
    const asked = await post(server.now().url, '/erasures', { project_id, ...selector, reason: 'asked for' })
    return JSON.parse(asked.text)
  }
  const value = (stringValue: string) => ({ stringValue })
  const map = (key: string, inner: string, of: object) => ({
    key,
    value: { kvlistValue: { values: [{ key: inner, value: of }] } },
  })
  const list = (key: string, ...texts: string[]) => ({ key, value: { arrayValue: { values: texts.map(value) } } })

  it('are found by ids of traces and spans in capitals, as their calls are', async () => {
    const project = 'hidden/capitals'
    const ids = [1, 2, 3].map((n) => [trace(n), span(n)] as [string, string])
    await sendSpans(project, ...ids)
    await sendLogs(
      project,
      ids.map(([traceId, spanId], n) => record(`of ${n}`, { trace: traceId, span: spanId })),
    )
    const [one, two, three] = ids.map((pair) => pair.map((id) => id.toUpperCase())) as string[][]
    expect(await bodies(project, { trace_id: one?.[0], span_id: one?.[1] })).toEqual(['of 0'])
    expect(await erase(project, { trace_ids: [one?.[0]] })).toMatchObject({ calls: 1, log_records: 1 })
    expect(await erase(project, { call_ids: [two?.[1]] })).toMatchObject({ calls: 1, missing: 0 })
    expect(await bodies(project)).toEqual(['of 2'])
    const logs = { project_id: project, ...day, trace_id: three?.[0] }
    expect(JSON.parse((await post(server.now().url, '/logs/delete', logs)).text)).toEqual({ num_deleted: 1 })
  })

  it('are erased by names that lie within other values, in lists and on the scope', async () => {
    const project = 'hidden/nested'
    const number = { intValue: '17' }
    await sendLogs(project, [
      record('by a value within', { attributes: [map('session', 'id', value('s-1'))] }),
      record('by a dotted name within', { attributes: [map('gen_ai', 'conversation.id', value('s-1'))] }),
      record('by a text of a list', { attributes: [list('session.id', 's-0', 's-1')] }),
      record('by a list within', { attributes: [{ ...map('session', 'id', list('', 's-1').value) }] }),
      record('by a number within', { attributes: [map('session', 'id', number)] }),
      record('stays: another', { attributes: [map('session', 'id', value('s-2')), list('session.id', 's-11')] }),
      record('stays: no name of a session', { attributes: [map('job', 'id', value('s-1')), list('tags', 's-1')] }),
      record('stays: a text', { attributes: [text('session', '{"id": "s-')] }),
    ])
    const logRecords = [record('by the scope')]
    const scope = { name: 'lib', attributes: [text('session.id', 's-1')] }
    await server.send(
      '/otel/v1/logs',
      { resourceLogs: [{ scopeLogs: [{ scope, logRecords }] }] },
      { project_id: project },
    )
    expect(await erase(project, { thread_ids: ['s-1', '17'] })).toMatchObject({ calls: 0, log_records: 6 })
    const left = await bodies(project)
    expect(left).toEqual(['stays: another', 'stays: no name of a session', 'stays: a text'])
    await sendLogs(project, [record('by a user within', { attributes: [map('enduser', 'id', value('u-1'))] })])
    expect(await erase(project, { user_ids: ['u-1'] })).toMatchObject({ log_records: 1 })
  })

  it('are erased by every name by which a span has its thread, and by those of records alone', async () => {
    const project = 'hidden/names'
    const { names } = threadNamesOf(['platform', 'wandb'])
    const ids = names.map((_, n) => `t-${n}`)
    const attributesOf = (n: number) => [
      text('gen_ai.operation.name', 'chat'),
      text(names[n] as string, ids[n] as string),
    ]
    const spans = ids.map((_, n) =>
      aSpan({ traceId: trace(n + 50), spanId: span(n + 50), attributes: attributesOf(n) }),
    )
    await server.send('/otel/v1/traces', aRequest(spans), { project_id: project })
    await sendLogs(
      project,
      ids.map((id, n) => record(id, { attributes: attributesOf(n) })),
    )
    const read = () =>
      server.list<{ thread_id: string | null }>('/calls/stream_query', { project_id: project, columns: ['thread_id'] })
    const threads = (await read()).flatMap(({ thread_id }) => thread_id ?? [])
    const ofSpans = [
      ...threadNames.conversation,
      ...threadNames.session,
      ...['platform', 'wandb'].map((one) => `${one}.${threadNames.vendor}`),
    ]
    expect(threads.toSorted()).toEqual(ofSpans.map((name) => ids[names.indexOf(name)]).toSorted())
    expect(names).toEqual(expect.arrayContaining(['thread_id', 'session_id', 'weave.thread_id', 'conversation.id']))
    expect(await erase(project, { thread_ids: ids })).toMatchObject({ calls: threads.length, log_records: ids.length })
    expect(await bodies(project)).toEqual([])
    expect((await read()).flatMap(({ thread_id }) => thread_id ?? [])).toEqual([])
    const users = [...recordUserNames.names]
    await sendLogs(
      project,
      users.map((name) => record(name, { attributes: [text(name, 'u-1')] })),
    )
    expect(users).toEqual(expect.arrayContaining(['user_id', 'enduser.id', 'langfuse.user.id']))
    expect(await erase(project, { user_ids: ['u-1'] })).toMatchObject({ log_records: users.length })
  })
})
