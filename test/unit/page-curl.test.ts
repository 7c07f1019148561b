// Requests as lines for a shell.
import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { curlOf } from '../../services/web/page/engine/curl.ts'

it('a request is one line that a shell takes as it was sent, whatever it holds', () => {
  const body = JSON.stringify({ text: `it's "$HOME" \`id\` \\ \n $(id) '` })
  const line = curlOf(new URL("http://server/a'b?c=d&e=f"), 'POST', body)
  const script = `KEY=secret; curl() { printf '%s\\0' "$@"; }; ${line}`
  const given = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0')
  expect(given).toEqual([
    '-sS',
    '-X',
    'POST',
    "http://server/a'b?c=d&e=f",
    '-H',
    'Authorization: Bearer secret',
    '-H',
    'Content-Type: application/json',
    '-d',
    body,
    '',
  ])
  expect(curlOf(new URL('http://server/a'), 'GET')).toBe(`curl -sS 'http://server/a' -H "Authorization: Bearer $KEY"`)
})
