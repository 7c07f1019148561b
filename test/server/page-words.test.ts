// Words of the page's filter find calls by texts with quotes, backslashes, tabs, line ends and any script, however they were sent.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { uuidv7 } from '../../services/core/ids.ts'
import { requestOf } from '../../services/web/page/engine/query-request.ts'
import { parseQuery, queryText, type Term } from '../../services/web/page/engine/query-text.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

const project = 'words/search'
const texts = [
  'C:\\Users\\anna',
  'say "hi" to him',
  "it's",
  'line one\nline two',
  'before\r\nafter',
  'tab\there',
  'zero\u0000byte',
  'bell\u0007rang',
  'unit\u001fseparated',
  'delete\u007fd',
  '\u2028separated',
  'Hello 内部 world',
  'مرحبا، كيف',
  'RÉSUMÉ',
  'two 👩‍👩‍👧 of them',
  '{"json": [1, 2]}',
  'https://a.example/b/c',
  '</script>',
  '50% off_now',
]

/** A span that failed, and one that did not, of which an event names what was thrown. */
const failing = 'words/failing'
const thrown = {
  message: 'orders "database" did not answer',
  events: [
    { name: 'retry', attributes: [{ key: 'note', value: { stringValue: 'exception of nothing' } }] },
    {
      name: 'exception',
      attributes: [
        { key: 'exception.message', value: { stringValue: 'a {"type":"Wrong"} ] text' } },
        { key: 'exception.escaped', value: { boolValue: false } },
        { key: 'exception.type', value: { stringValue: 'orders.TimeoutError' } },
        { key: 'exception.stacktrace', value: { stringValue: 'File "/openai/client.py"' } },
      ],
    },
  ],
}
async function sendFailing(): Promise<void> {
  const span = (name: string, n: number, code: number, more = {}) => ({
    traceId: `${n}`.padStart(32, 'a'),
    spanId: `${n}`.padStart(16, 'b'),
    name,
    startTimeUnixNano: '1767614400000000000',
    endTimeUnixNano: '1767614401000000000',
    events: thrown.events,
    attributes: [{ key: 'input.value', value: { stringValue: 'question' } }],
    status: { code, message: code === 2 ? thrown.message : '' },
    ...more,
  })
  // A number that no engine reads as one: such calls are looked at apart.
  const odd = [{ key: 'odd', value: { doubleValue: 1e300 } }]
  const spans = [
    span('failed', 1, 2),
    span('failed-odd', 2, 2, { attributes: odd }),
    span('went-on', 3, 1),
    span('untyped', 4, 2, { events: [] }),
  ]
  await server.send('/otel/v1/traces', { resourceSpans: [{ scopeSpans: [{ spans }] }] }, { project_id: failing })
  const exception = JSON.stringify({ type: 'ValueError', message: 'say "no"', traceback: [] })
  const at = '2026-01-05T12:00:00Z'
  const call = { project_id: failing, op_name: 'sdk', started_at: at, ended_at: at, attributes: {}, inputs: {} }
  await server.send(`/v2/${failing}/calls/complete`, {
    batch: [{ ...call, id: uuidv7(), trace_id: uuidv7(), output: null, summary: {}, exception }],
  })
}

let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer()
  await sendFailing()
  const escaped = (json: string) =>
    json.replace(/[\u007f-\uffff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
  for (const [n, text] of texts.entries())
    for (const [form, write] of [
      ['plain', (json: string) => json],
      ['escaped', escaped],
    ] as const) {
      const at = new Date(Date.now() - 1_000).toISOString()
      const call = (where: string, value: object) => ({
        project_id: project,
        id: uuidv7(),
        trace_id: uuidv7(),
        op_name: `${where}-${form}-${n}`,
        started_at: at,
        ended_at: at,
        attributes: {},
        inputs: where === 'inputs' ? value : {},
        output: where === 'output' ? value : null,
        summary: {},
      })
      // As arguments of tools are: JSON in a string.
      const batch = [call('inputs', { q: text }), call('output', { arguments: JSON.stringify({ q: text }) })]
      await server.send(`/v2/${project}/calls/complete`, write(JSON.stringify({ batch })))
    }
})

afterAll(() => server.remove())

const found = async (filter: string, of = project): Promise<string[]> =>
  (
    await server.list<{ op_name: string }>('/calls/stream_query', {
      project_id: of,
      ...requestOf(parseQuery(filter), of, { zoneOf: () => 'UTC' }),
      columns: ['op_name'],
    })
  ).map(({ op_name }) => op_name)

it.each(texts.map((text, n) => [text, n] as const))('%j', async (text, n) => {
  const all = ['inputs', 'output'].flatMap((where) => [`${where}-plain-${n}`, `${where}-escaped-${n}`])
  const word = queryText([[{ type: 'word', not: false, text }]])
  expect((await found(word)).sort()).toEqual([...all].sort())
  const values: Omit<Extract<Term, { type: 'cond' }>, 'field'> = {
    type: 'cond',
    not: false,
    operator: '~',
    values: [text],
  }
  for (const field of ['inputs', 'inputs.q'])
    expect((await found(queryText([[{ ...values, field }]]))).sort(), field).toEqual(
      all.filter((name) => name.startsWith('inputs')).sort(),
    )
  expect(await found(`-${word}`)).toHaveLength((texts.length - 1) * 4)
})

it('a backslash in quotes is one before other letters', async () => {
  for (const filter of ['"C:\\Users\\anna"', '"C:\\\\Users\\\\anna"', 'Users\\anna', '"line one\\nline two"'])
    expect(await found(filter), filter).toHaveLength(4)
})

const plainName = (name: string): string => name.replace(/^weave:.*\/op\/([^:]+):.*$/, '$1')

it.each([
  ['"did not answer"', ['failed', 'failed-odd', 'untyped']],
  ['-"did not answer"', ['sdk', 'went-on']],
  ['error~"did not answer"', ['failed', 'failed-odd', 'untyped']],
  ['error~timeout', ['failed', 'failed-odd']],
  ['TimeoutError', ['failed', 'failed-odd']],
  ['error~"TimeoutError: orders"', ['failed', 'failed-odd']],
  ['-error~timeout', ['sdk', 'untyped', 'went-on']],
  ['error~"orders \\"database\\""', ['failed', 'failed-odd', 'untyped']],
  ['error~valueerror', ['sdk']],
  ['"say \\"no\\""', ['sdk']],
  ['error~openai', []],
  ['error~Wrong', []],
])('%s finds errors by type and message', async (filter, names) => {
  expect((await found(filter, failing)).map(plainName).sort()).toEqual(names)
})

it('errors are a field of conditions, orders and groups', async () => {
  const field = 'summary.weave.error'
  const ask = { project_id: failing, sort_by: [{ field, direction: 'desc' }], columns: ['op_name'] }
  const names = (await server.list<{ op_name: string }>('/calls/stream_query', ask)).map(({ op_name }) => op_name)
  expect(names.map(plainName)).toEqual(['sdk', 'failed-odd', 'failed', 'untyped', 'went-on'])
  const [start, end] = ['2026-01-01T00:00:00Z', '2026-04-01T00:00:00Z']
  const asked = { project_id: failing, start, end, group_by: [field], metrics: [{ field: 'calls', as: 'sum' }] }
  type Groups = { groups: { keys: string[]; total: object }[] }
  const { groups } = await server.send<Groups>('/calls/aggregate', asked)
  const keys = [`orders.TimeoutError: ${thrown.message}`]
  expect(groups).toContainEqual(expect.objectContaining({ keys, total: { 'calls.sum': 2 } }))
  for (const [path, more] of [
    ['/calls/values', { fields: [field] }],
    ['/calls/cells', { call_ids: ['bbbbbbbbbbbbbbb1'], paths: [field] }],
  ] as const)
    await expect(server.send(path, { project_id: failing, ...more }), path).rejects.toThrow('422')
})
