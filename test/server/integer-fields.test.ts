// Integer fields take one set of spellings on every route; what is larger than the engine counts is cut.
import { beforeAll, describe, expect, it } from 'vitest'
import type { RunningServer } from '../fixtures/live-server.ts'
import { sharedServer } from '../fixtures/shared-server.ts'

const project_id = 'acme/integers'
let server: RunningServer
let digest: string
beforeAll(async () => {
  server = await sharedServer()
  const table = { project_id, rows: [{ n: 0 }, { n: 1 }, { n: 2 }, { n: 3 }] }
  digest = (await server.send<{ digest: string }>('/table/create', { table })).digest
  for (const val of [1, 2, 3, 4])
    await server.send('/obj/create', { obj: { project_id, object_id: 'x', val: { n: val } } })
})

/** The answer to a body with `SPELLED` replaced by JSON text. */
async function ask(path: string, body: object, spelled: string) {
  const headers = { authorization: 'Bearer test-key' }
  const text = JSON.stringify(body).replace('"SPELLED"', spelled)
  const response = await fetch(`${server.now().url}${path}`, { method: 'POST', headers, body: text })
  return { status: response.status, json: (await response.json()) as Record<string, unknown> }
}

const field = 'SPELLED'
const evaluation = { name: 'e', dataset: `weave:///${project_id}/object/d:latest` }

/** Where the integer stands, and what the values 1 and 10^300 are answered. */
const fields: [string, () => object, (json: Record<string, unknown>) => unknown, unknown, [number, unknown]][] = [
  ['/objs/query', () => ({ project_id, limit: field }), (json) => (json.objs as unknown[])?.length, 1, [200, 4]],
  ['/objs/query', () => ({ project_id, offset: field }), (json) => (json.objs as unknown[])?.length, 3, [200, 0]],
  [
    '/table/query',
    () => ({ project_id, digest, limit: field }),
    (json) => (json.rows as unknown[])?.length,
    1,
    [200, 4],
  ],
  [
    '/table/query',
    () => ({ project_id, digest, offset: field }),
    (json) => (json.rows as unknown[])?.length,
    3,
    [200, 0],
  ],
  [
    '/table/update',
    () => ({ project_id, base_digest: digest, updates: [{ pop: { index: field } }] }),
    (json) => (json.updated_row_digests as unknown[])?.length,
    1,
    [400, undefined],
  ],
  [
    '/table/update',
    () => ({ project_id, base_digest: digest, updates: [{ insert: { index: field, row: {} } }] }),
    (json) => (json.updated_row_digests as unknown[])?.length,
    1,
    [400, undefined],
  ],
  [
    `/v2/${project_id}/evaluations`,
    () => ({ ...evaluation, trials: field }),
    (json) => json.object_id,
    'e',
    [422, undefined],
  ],
]

describe.each(fields)('%s %#', (path, body, shown, one, [status, most]) => {
  it('takes 1 however it is spelled', async () => {
    for (const spelled of ['1', '1.0', '"1"', '"+1"', '" 1.0 "', '10e-1']) {
      const answer = await ask(path, body(), spelled)
      expect([spelled, answer.status, shown(answer.json)], JSON.stringify(answer.json)).toEqual([spelled, 200, one])
    }
  })
  it('refuses what is no integer', async () => {
    for (const [spelled, type] of [
      ['1.5', 'int_from_float'],
      ['"x"', 'int_parsing'],
      ['"1.5"', 'int_parsing'],
      ['""', 'int_parsing'],
      ['true', 'int_type'],
      ['[1]', 'int_type'],
    ]) {
      const { status, json } = await ask(path, body(), spelled as string)
      expect([spelled, status, json]).toEqual([spelled, 422, { detail: [expect.objectContaining({ type })] }])
    }
  })
  it('cuts or refuses 10^300', async () => {
    const answer = await ask(path, body(), '1e300')
    expect([answer.status, shown(answer.json)], JSON.stringify(answer.json)).toEqual([status, most])
  })
})
