// tier: deep crash
// kill -9 while calls come in: every acknowledged call is there exactly once afterwards, also of a quiet project beside.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { uuidv7 } from '../../services/core/ids.ts'
import { type ChildServer, post, postLines, startChildServer } from '../fixtures/child-server.ts'
import { createQuietProject } from '../fixtures/quiet-project.ts'
import { createRandom } from '../fixtures/random.ts'
import { runs } from '../fixtures/runs.ts'

const rounds = runs(4, 20)
const project = 'crash/load'
let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'callhouse-kill-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

type Sent = { id: string; ended: boolean }

/** A batch of calls: whole ones, lone starts, and ends of starts that were acknowledged earlier. */
function batchOf(random: ReturnType<typeof createRandom>, open: string[]): { items: unknown[]; sent: Sent[] } {
  const items: unknown[] = []
  const sent: Sent[] = []
  const started_at = new Date().toISOString()
  for (let n = 0; n < 40; n++) {
    const lone = open.length > 0 && random.chance(0.3) ? open.pop() : undefined
    const id = lone ?? uuidv7()
    const whole = random.chance(0.6)
    const start = { project_id: project, id, op_name: 'load', started_at, attributes: {}, inputs: { n } }
    const end = { project_id: project, id, ended_at: started_at, summary: {}, output: { n } }
    if (!lone) items.push({ mode: 'start', req: { start } })
    if (lone || whole) items.push({ mode: 'end', req: { end } })
    sent.push({ id, ended: Boolean(lone) || whole })
  }
  return { items, sent }
}

it(`no acknowledged call is lost or doubled over ${rounds} kills of the server`, async () => {
  const random = createRandom(20260105)
  const acknowledged = new Map<string, boolean>()
  const attempted = new Set<string>()
  const refused = new Set<string>()
  const open: string[] = []
  const quiet = createQuietProject('crash/quiet')
  let server: ChildServer
  /** Sends a batch and notes what was attempted, acknowledged and refused; false = the server is gone. */
  const sendBatch = async (url: string): Promise<boolean> => {
    const { items, sent } = batchOf(random, open)
    for (const { id } of sent) attempted.add(id)
    const answer = await post(url, '/call/upsert_batch', { batch: items }).catch(() => undefined)
    if (!answer) return false
    if (answer.status === 429) {
      // More waits than one project may have; nothing of it was taken.
      for (const { id } of sent) if (!acknowledged.has(id)) refused.add(id)
      await sleep(Number(answer.headers.get('retry-after')) * 1000)
      return true
    }
    expect(answer.status).toBe(200)
    for (const { id, ended } of sent) {
      acknowledged.set(id, ended || acknowledged.get(id) === true)
      if (!ended) open.push(id)
    }
    return true
  }
  for (let round = 0; round < rounds; round++) {
    server = await startChildServer(dir)
    // the kill falls somewhere between the acknowledgement of one batch and the next ones under way
    const killAfter = 3 + random.below(25)
    let answered = 0
    const quietReads = quiet.reads()
    let killing: Promise<void> | undefined
    const sender = async (): Promise<void> => {
      while (!killing) {
        if (!(await sendBatch(server.url))) return
        // not before the other project was served beside
        if (++answered >= killAfter && quiet.reads() > quietReads) killing ??= server.kill()
      }
    }
    const quietSender = async (): Promise<void> => {
      while (!killing && (await quiet.write(server.url)));
    }
    await Promise.all([sender(), sender(), sender(), quietSender()])
    await killing
  }
  server = await startChildServer(dir)
  const rows = await postLines<{ id: string; ended_at: string | null; output: unknown }>(
    server.url,
    '/calls/stream_query',
    {
      project_id: project,
    },
  )
  const seen = new Map<string, number>()
  for (const { id } of rows) seen.set(id, (seen.get(id) ?? 0) + 1)
  expect([...seen].filter(([, n]) => n > 1)).toEqual([])
  expect([...acknowledged.keys()].filter((id) => !seen.has(id))).toEqual([])
  expect([...seen.keys()].filter((id) => !attempted.has(id) || refused.has(id))).toEqual([])
  const ended = new Set(rows.filter((row) => row.ended_at !== null && row.output !== null).map((row) => row.id))
  expect([...acknowledged].filter(([id, isEnded]) => isEnded && !ended.has(id))).toEqual([])
  expect(acknowledged.size).toBeGreaterThan(rounds * 40)
  const { text } = await post(server.url, '/calls/query_stats', { project_id: project })
  expect(JSON.parse(text).count).toBe(rows.length)
  await quiet.check(server.url)
  expect(await server.stop()).toBe(0)
})
