// tier: deep crash
// A server that is killed while the directory changes: every change that was answered is in the audit log, and the log is whole.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { callhouse } from '../fixtures/callhouse.ts'
import { basicAuth, postLines, startChildServer } from '../fixtures/child-server.ts'

/** The output of `callhouse audit verify` for a folder on which no server runs. */
const verified = (folder: string): Promise<string> =>
  callhouse(['audit', 'verify', '--data-dir', folder], { CALLHOUSE_KEYS: 'tester:test-key' })

type Line = { target: string; outcome: string; chain: string; seq: number }

it('no recorded event is lost, and no change stands without one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'callhouse-audit-'))
  const answered: string[] = []
  let server = await startChildServer(folder)
  const change = async (project: string, signal: AbortSignal): Promise<number> => {
    const response = await fetch(`${server.url}/v2/acme/${project}/settings/limits`, {
      method: 'PUT',
      body: JSON.stringify({ calls_per_minute: 7 }),
      headers: { authorization: basicAuth(), 'content-type': 'application/json' },
      signal,
    })
    await response.text()
    return response.status
  }
  try {
    for (let round = 0; round < 3; round++) {
      const gone = new AbortController()
      const exited = new Promise<string | null>((resolve) =>
        server.child.once('exit', (_, signal) => {
          // A server that is killed may leave an answer open.
          gone.abort()
          resolve(signal)
        }),
      )
      const ends: unknown[] = []
      // Several at one time, so that the kill comes in the midst of some.
      const writers = [0, 1, 2, 3].map(async (writer) => {
        for (let n = 0; n < 1_000; n++) {
          const project = `p${round}-${writer}-${n}`
          const status = await change(project, gone.signal).catch((error: unknown) => error)
          if (status !== 200) return ends.push(status)
          answered.push(`acme/${project}`)
          if (answered.length === 60 * (round + 1)) server.child.kill('SIGKILL')
        }
      })
      await Promise.all(writers)
      // Nothing but the kill ends them.
      expect(server.child.killed, `${ends.join('\n')}\n${server.output()}`).toBe(true)
      expect(await exited, server.output()).toBe('SIGKILL')
      server = await startChildServer(folder)
    }
    const found: Line[] = []
    for (let after: string | undefined; ; ) {
      const page = await postLines<Line & { id: string }>(server.url, '/audit/query', {
        action: 'limits.changed',
        limit: 1_000,
        after,
      })
      found.push(...page)
      after = page.at(-1)?.id
      if (page.length < 1_000) break
    }
    const recorded = new Map(found.map((line) => [line.target, line.outcome]))
    expect(answered.length).toBeGreaterThanOrEqual(180)
    expect(answered.filter((project) => recorded.get(project) !== 'done')).toEqual([])
    // Some unanswered changes may be recorded; changes that are set are always recorded.
    for (const project of recorded.keys())
      if (!answered.includes(project)) expect(['begun', 'done']).toContain(recorded.get(project))
    await server.stop()
    expect(await verified(folder)).toMatch(/^\d+ events in \d+ chains: whole\n$/)
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
})
