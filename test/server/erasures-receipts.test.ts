// Erasures to their end: by other ways in, after a start in the middle, held and released, and with receipts in a chain.
import { createHash } from 'node:crypto'
import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { canonicalJson } from '../../services/core/json/canonical.ts'
import { basicAuth, post } from '../fixtures/child-server.ts'
import {
  derive,
  erase,
  erasedId,
  placesOf,
  reaches,
  readErasure,
  receiptsOf,
  removed,
  sendCall,
  startErasingServer,
} from '../fixtures/erasing-server.ts'
import type { LiveServer } from '../fixtures/live-server.ts'

let server: LiveServer
beforeAll(async () => {
  server = await startErasingServer()
})
afterAll(() => server.remove())

const project = 'ent/erased'

it('what /calls/delete deletes is removed, too, and what comes again goes with the next', async () => {
  await sendCall(server, project, 4, 'canary-four')
  const deleted = await post(server.now().url, '/calls/delete', { project_id: project, call_ids: [erasedId(4)] })
  expect(JSON.parse(deleted.text)).toEqual({ num_deleted: 1 })
  await removed(server, project, deleted.headers.get('x-callhouse-erasure') as string)
  expect(await placesOf(server, 'canary-four')).toEqual([])
  await sendCall(server, project, 4, 'canary-again')
  expect(
    await server.list('/calls/stream_query', { project_id: project, filter: { call_ids: [erasedId(4)] } }),
  ).toEqual([])
  await sendCall(server, project, 5, 'canary-five')
  const { body } = await erase(server, { project_id: project, thread_ids: ['thread-canary-five'], reason: 'a thread' })
  expect(body).toMatchObject({ calls: 1, missing: 0 })
  await removed(server, project, body.erasure_id)
  await derive(server)
  for (const word of ['canary-again', 'canary-five']) expect(await placesOf(server, word)).toEqual([])
})

it('a start in the middle goes on with it, and dead letters go, too', async () => {
  const row = `{"kind":"start","project_id":"${project}","id":"${erasedId(6)}","clock":7,"inputs":{"text":"refused canary-six"}}`
  const place = { topic: 'calls', partition: 0, rowIndex: 0, reason: 'refused', at: new Date().toISOString() }
  const letters = join(server.dataDir, 'deadletters.jsonl')
  const others = JSON.stringify({ ...place, id: 'other', offset: 1_000_001, row: row.replace(erasedId(6), 'other') })
  await appendFile(letters, `${JSON.stringify({ ...place, id: 'own', offset: 1_000_000, row })}\n${others}\n`)
  await server.restart()
  await sendCall(server, project, 6, 'canary-six')
  await derive(server)
  const query = { $expr: { $eq: [{ $getField: 'inputs.text' }, { $literal: 'in canary-six' }] } }
  const { body } = await erase(server, { project_id: project, query, reason: 'a query' })
  expect(body).toMatchObject({ calls: 1 })
  await server.restart()
  await removed(server, project, body.erasure_id)
  expect(await placesOf(server, 'canary-six')).toEqual([])
  expect(await readFile(letters, 'utf8')).toBe(`${others}\n`)
  expect(await readErasure(server, project, body.erasure_id)).toMatchObject({ counts: { dead_letters: 1 } })
})

it('waits while something of the project is held, and goes on when it is released', async () => {
  const held = 'ent/held'
  await sendCall(server, held, 1, 'canary-held')
  const hold = await server.send<{ id: string }>(`/v2/${held}/holds`, { all: true, reason: 'a case' })
  const { body } = await erase(server, { project_id: held, call_ids: [erasedId(1)], reason: 'asked for' })
  await reaches(server, held, body.erasure_id, 'held')
  // It is hidden all the same.
  expect(await server.list('/calls/stream_query', { project_id: held })).toEqual([])
  expect(await placesOf(server, 'canary-held')).toContain('payloads')
  const headers = { authorization: basicAuth() }
  await fetch(`${server.now().url}/v2/${held}/holds/${hold.id}`, { method: 'DELETE', headers })
  await removed(server, held, body.erasure_id)
  expect(await placesOf(server, 'canary-held')).toEqual([])
})

it('is done once the files that were replaced are gone, with receipts in a chain', async () => {
  await expect
    .poll(async () => (await receiptsOf(server, project)).map(({ status }) => status), {
      timeout: 120_000,
      interval: 500,
    })
    .toEqual(['done', 'done', 'done'])
  const receipts = (await receiptsOf(server, project)).sort((a, b) =>
    String(a.done_at).localeCompare(String(b.done_at)),
  )
  const hashes = receipts.map(({ hash }) => hash)
  expect(new Set(hashes).size).toBe(3)
  const previous = receipts.map((receipt) => receipt.previous)
  expect(previous.filter((one) => one === '')).toHaveLength(1)
  for (const one of previous) if (one !== '') expect(hashes).toContain(one)
  for (const { hash, ...rest } of receipts)
    expect(
      createHash('sha256')
        .update(canonicalJson(JSON.stringify(rest)))
        .digest('hex'),
    ).toBe(hash)
})
