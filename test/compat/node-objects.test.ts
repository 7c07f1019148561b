// The published Node SDK publishes a dataset and reads it back.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ChildServer, startChildServer } from '../fixtures/child-server.ts'

const program = fileURLToPath(new URL('./dataset.mjs', import.meta.url))

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
  const { stdout } = await promisify(execFile)(process.execPath, [program, 'compat/node-objects'], {
    cwd: dir,
    env: {
      PATH: process.env.PATH,
      HOME: dir,
      WF_TRACE_SERVER_URL: server.url,
      WANDB_BASE_URL: server.url,
      WANDB_API_KEY: 'test-key',
    },
  })
  const { refs, back } = JSON.parse(stdout.trim().split('\n').at(-1) as string) as Report
  expect(back).toEqual(Array.from({ length: 12 }, (_, i) => ({ i, half: i / 2, text: `row ${i} é` })))
  expect(refs[0]).toMatch(/^weave:\/\/\/compat\/node-objects\/object\/set:\w{43}$/)
  expect(refs[1]).toBe(refs[0])
})
