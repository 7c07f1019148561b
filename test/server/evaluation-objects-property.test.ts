// Property: whatever stands in the path and the query of an evaluation object's route, the answer is below 500, and
// objects that were not named stay as they are. HOSTILE_RUNS sets how many requests are sent, HOSTILE_SEED which ones.
// again: property
import { beforeAll, expect, it } from 'vitest'
import { basicAuth } from '../fixtures/child-server.ts'
import { evaluationsOf, type Kind } from '../fixtures/evaluation-objects.ts'
import type { RunningServer } from '../fixtures/live-server.ts'
import { createRandom } from '../fixtures/random.ts'
import { limitMs, runs } from '../fixtures/runs.ts'
import { sharedServer } from '../fixtures/shared-server.ts'

const requests = Number(process.env.HOSTILE_RUNS ?? runs(64, 1_600))
const random = createRandom(Number(process.env.HOSTILE_SEED ?? 14))
const kinds: Kind[] = ['ops', 'datasets', 'scorers', 'evaluations', 'models']
const odd = [
  'mine',
  'Mine',
  'kept.',
  'latest',
  'v0',
  'v-1',
  'v1e3',
  `v${'9'.repeat(400)}`,
  'a'.repeat(43),
  'b'.repeat(3_000),
  '..',
  '.',
  'a/b',
  '%',
  '\u0000',
  '\n\nDROP',
  "'; DROP TABLE callhouse.objects; --",
  '\\',
  '{x:String}',
  'é😀',
  '__proto__',
  'constructor',
  '*',
  ':',
  'a:b',
  'weave:///fuzz/a/object/mine:v0',
  ' ',
  '\ud800'.toWellFormed(),
]
const raw = ['%E0%A4%A', '%', '%00', '%2e%2e%2f', '%C3%28', '+', ';', '%u0041']
const queries = [
  '',
  'limit=1',
  'limit=0',
  'limit=-1',
  'limit=x',
  'limit=1e3',
  `limit=${'9'.repeat(300)}`,
  'limit=1&limit=x',
  'offset=1',
  'offset=-0',
  'offset=%20',
  `offset=${2 ** 53}`,
  'eager=x',
  'eager=true',
  'digests=',
  'digests=v0',
  'digests=latest&digests=v0',
  `digests=${'a'.repeat(3_000)}`,
  'digests[]=v0',
  'freshness=any',
  'freshness=no',
  '%ff=%ff',
  '&&&=',
  'digests=%00',
  'limit=+1',
  'offset=%2B1',
]

let server: RunningServer
beforeAll(async () => {
  server = await sharedServer()
})

it('random paths and queries of evaluation objects are answered below 500', { timeout: limitMs(300_000) }, async () => {
  const of = evaluationsOf(server, 'fuzz/objects')
  const made: [Kind, { object_id: string; digest: string }][] = []
  for (const kind of kinds) {
    const body = { rows: [], dataset: 'weave:///fuzz/a/object/x:y', source_code: 's', op_source_code: 's' }
    for (const name of [`kept ${kind}`, `mine ${kind}`])
      made.push([kind, (await of.create(kind, { ...body, name })) as { object_id: string; digest: string }])
  }
  const kept = made.filter(([, { object_id }]) => object_id.startsWith('kept'))
  const before = await Promise.all(
    kept.map(async ([kind, { object_id }]) => (await of.read(kind, object_id, 'v0')).text),
  )

  const part = () => {
    if (random.chance(0.1)) return random.pick(raw)
    const text = random.chance(0.2) ? `mine_${random.pick(kinds)}` : random.pick(odd)
    return encodeURIComponent(text).replaceAll('.', random.chance(0.5) ? '%2E' : '.')
  }
  const request = () => {
    const project = random.chance(0.9) ? 'fuzz/objects' : `${part()}/${part()}`
    const kind = random.pick(kinds)
    const query = `?${random.pick(queries)}&${random.pick(queries)}`
    const method = random.pick(['GET', 'GET', 'DELETE'])
    const path = random.pick(['', `/${part()}`, `/${part()}/versions/${part()}`, `/${part()}/versions/${part()}`])
    return { method, path: `/v2/${project}/${kind}${path}${query}` }
  }
  const statuses = new Map<number, number>()
  const ask = async ({ method, path }: { method: string; path: string }): Promise<string> => {
    const response = await fetch(server.now().url + path, {
      method,
      headers: { authorization: basicAuth(), accept: random.pick(['*/*', 'application/x-ndjson']) },
      signal: AbortSignal.timeout(60_000),
    })
    const text = await response.text()
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
    if (response.status === 200) return ''
    return response.status < 500 && /"(detail|reason)"/.test(text)
      ? ''
      : `${response.status} ${text} to ${method} ${path}`
  }
  const failed: string[] = []
  for (let n = 0; n < requests; n += 8)
    failed.push(...(await Promise.all(Array.from({ length: 8 }, () => ask(request())))).filter(Boolean))
  expect(failed).toEqual([])
  // Both sides of the border are met.
  for (const status of [200, 400, 404, 405, 422]) expect(statuses.get(status), `${status}`).toBeGreaterThan(0)

  const after = await Promise.all(
    kept.map(async ([kind, { object_id }]) => (await of.read(kind, object_id, 'v0')).text),
  )
  expect(after).toEqual(before)
  expect(server.lines.filter((line) => /"level":(50|60)/.test(line))).toEqual([])
})
