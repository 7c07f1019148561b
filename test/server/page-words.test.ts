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

let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer()
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

const found = async (filter: string): Promise<string[]> =>
  (
    await server.list<{ op_name: string }>('/calls/stream_query', {
      project_id: project,
      ...requestOf(parseQuery(filter), project, { zoneOf: () => 'UTC' }),
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
