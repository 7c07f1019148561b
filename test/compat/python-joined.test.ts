// The published Python SDK reads calls through refs and by their feedback: get_calls with expand_columns, filters and sorts.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ChildServer, startChildServer } from '../fixtures/child-server.ts'
import { installSdk, runPython, sdkVersion } from '../fixtures/python-sdk.ts'

/** Names of the calls that were found, and how many the count says. */
type Found = [names: string, count: number]
type Report = { expanded: { settings: unknown; example: unknown }[]; values: number[]; users: string[] } & Record<
  'deep' | 'row' | 'sorted' | 'unlisted' | 'feedback' | 'reaction' | 'best' | 'both',
  Found
>

describe(`calls of the Python SDK ${sdkVersion}`, () => {
  let dir: string
  let server: ChildServer
  beforeAll(async () => {
    await installSdk()
    dir = mkdtempSync(join(tmpdir(), 'callhouse-compat-'))
    server = await startChildServer(dir, { CALLHOUSE_WIRE_PREFIX: 'wb' })
  }, 300_000)
  afterAll(async () => {
    await server.stop()
    rmSync(dir, { recursive: true, force: true })
  })

  it('are read through refs and by feedback', { timeout: 180_000 }, async () => {
    const report = await runPython<Report>('joined.py', ['compat/python-joined'], { url: server.url, home: dir })
    expect(report).toMatchObject({
      expanded: [
        { settings: { size: 3, child: { temp: 0.7, label: 'warm' } }, example: { q: 'one', score: 10 } },
        { settings: { size: 1 }, example: { q: 'two', score: 2.5 } },
      ],
      deep: ['a', 1],
      row: ['b', 1],
      sorted: ['ba', 2],
      unlisted: ['', 0],
      values: [3, 1],
      feedback: ['b', 1],
      reaction: ['ab', 2],
      best: ['ba', 2],
      both: ['a', 1],
      users: ['tester', 'tester'],
    })
  })
})
