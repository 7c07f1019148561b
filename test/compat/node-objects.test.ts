// The published Node SDK publishes a dataset and reads it back.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ChildServer, startChildServer } from '../fixtures/child-server.ts'
import { runNode } from '../fixtures/node-sdk.ts'

type Report = { refs: [string, string]; back: unknown[] }

let dir: string
let server: ChildServer
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'callhouse-compat-'))
  server = await startChildServer(dir, { CALLHOUSE_WIRE_PREFIX: 'wb' })
})
afterAll(async () => {
  await server.stop()
  rmSync(dir, { recursive: true, force: true })
})

it('reads back the rows that it published, and the same digest for the same rows', async () => {
  const { refs, back } = await runNode<Report>('dataset.mjs', ['compat/node-objects'], { url: server.url, home: dir })
  expect(back).toEqual(Array.from({ length: 12 }, (_, i) => ({ i, half: i / 2, text: `row ${i} é` })))
  expect(refs[0]).toMatch(/^weave:\/\/\/compat\/node-objects\/object\/set:\w{43}$/)
  expect(refs[1]).toBe(refs[0])
})
