// Requests as lines for a shell, and costs of a call as lines.
import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { billsOf, unpricedOf } from '../../services/web/page/engine/bill.ts'
import { curlOf } from '../../services/web/page/engine/curl.ts'

it('a request is one line that a shell takes as it was sent, whatever it holds', () => {
  const body = JSON.stringify({ text: `it's "$HOME" \`id\` \\ \n $(id) '` })
  const line = curlOf(new URL("http://server/a'b?c=d&e=f"), 'POST', body)
  const script = `KEY=secret; curl() { printf '%s\\0' "$@"; }; ${line}`
  const given = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0')
  expect(given).toEqual([
    ...['-sS', '-X', 'POST', "http://server/a'b?c=d&e=f", '-H', 'Authorization: Bearer secret'],
    ...['-H', 'Content-Type: application/json', '-d', body, ''],
  ])
  expect(curlOf(new URL('http://server/a'), 'GET')).toBe(`curl -sS 'http://server/a' -H "Authorization: Bearer $KEY"`)
})

it('costs are lines by kind of tokens; what has no price is named', () => {
  const costs = { prompt_tokens: 10, prompt_token_cost: 0.5, prompt_tokens_total_cost: 5, completion_tokens: 0 }
  const weave = { costs: { m: { ...costs, pricing_level: 'default', effective_date: '2026-01-05T00:00:00Z' } } }
  const summary = { usage: { m: {}, free: {} }, weave }
  expect(billsOf(summary)).toEqual([
    {
      ...{ model: 'm', total: 5, since: '2026-01-05T00:00:00Z', level: 'default' },
      lines: [{ what: 'Input', tokens: 10, price: 0.5, cost: 5 }],
    },
  ])
  expect(unpricedOf(summary)).toEqual(['free'])
  for (const odd of [null, 1, [], { weave: 1 }, { weave: { costs: { m: null } }, usage: 'x' }])
    expect(billsOf(odd).every(({ lines }) => lines.length === 0)).toBe(true)
})
