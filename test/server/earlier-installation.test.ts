// tier: deep slow
// An installation of an earlier layout: today's server starts on it and answers as it did, at once, while its tables are
// made anew, and afterwards; what is written then is answered as by an installation that never had another layout.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { follow } from '../../services/cli/follow.ts'
import { askOverSocket } from '../../services/core/process/control-socket.ts'
import { type Asker, createAsker, eachOf, post, type Sent } from '../fixtures/asker.ts'
import { basicAuth, type ChildServer, startChildServer } from '../fixtures/child-server.ts'
import { earlierAnswers, makeEarlierInstallation, makeItsLog } from '../fixtures/earlier-installation.ts'
import { idOf } from '../fixtures/whole-world.ts'

const project_id = 'old/world'
const reads = earlierAnswers()
const expected = reads.map(({ text }) => text)
const folders: string[] = []
const servers: ChildServer[] = []
const askers: Asker[] = []

async function open(make: (dir: string) => Promise<void>): Promise<Asker> {
  const dir = await mkdtemp(join(tmpdir(), 'callhouse-earlier-'))
  folders.push(dir)
  await make(dir)
  const server = await startChildServer(dir)
  servers.push(server)
  const asker = createAsker(server.url)
  askers.push(asker)
  return asker
}

async function answersOf(asker: Asker): Promise<string[]> {
  const answers: string[] = []
  await eachOf([...reads.entries()], 6, async ([n, read]) => {
    answers[n] = (await asker.ask(read, { authorization: basicAuth() })).text
  })
  return answers
}

/** The reads with other answers than these, with both. */
const different = (answers: readonly string[], wanted: readonly string[]) =>
  reads.flatMap(({ method, path, body }, n) =>
    answers[n] === wanted[n] ? [] : [{ method, path, body, answer: answers[n], wanted: wanted[n] }],
  )

let moved: Asker

beforeAll(async () => {
  moved = await open(makeEarlierInstallation)
})
afterAll(async () => {
  for (const asker of askers) await asker.close()
  await Promise.all(servers.map((server) => server.kill()))
  for (const dir of folders) await rm(dir, { recursive: true })
})

it('answers every read as before, from its first moment on', async () => {
  expect(reads.length).toBeGreaterThan(80)
  expect(different(await answersOf(moved), expected)).toEqual([])
})

it('answers every read as before while its tables are made anew, and afterwards', async () => {
  const ask = async (command: string, args: string[]) => {
    const reply = await askOverSocket(folders[0] as string, { command, args })
    if (!reply?.ok) throw new Error(reply?.reason)
    return reply.result
  }
  const lines: string[] = []
  let isDone = false
  const rebuilding = (async () => {
    const tables = ['calls', 'payloads', 'call_keys', 'turns', 'call_stats', 'payload_leaves']
    for (const table of tables) await follow(ask, 'rebuild.start', [table, '1000000'], (line) => lines.push(line))
  })().finally(() => {
    isDone = true
  })
  let asked = 0
  for (; !isDone; asked++) {
    const n = asked % reads.length
    const { text } = await moved.ask(reads[n] as Sent, { authorization: basicAuth() })
    if (text !== expected[n]) expect({ ...reads[n], text }).toEqual({ ...reads[n], text: expected[n] })
  }
  await rebuilding
  expect(lines.filter((line) => line.includes('done, 100 %'))).toHaveLength(6)
  expect(asked).toBeGreaterThan(20)
  expect(different(await answersOf(moved), expected)).toEqual([])
})

it('takes parts of calls that it had as an installation does that applied the same log today', async () => {
  const fresh = await open(makeItsLog)
  const start = (n: number, started_at: string) => ({
    mode: 'start',
    req: {
      start: { project_id, id: idOf(n), trace_id: idOf(n), op_name: 'late', started_at, attributes: {}, inputs: { n } },
    },
  })
  const end = (n: number) => ({
    mode: 'end',
    req: { end: { project_id, id: idOf(n), ended_at: '2026-02-06T09:00:00Z', output: { late: n }, summary: {} } },
  })
  // An end of a call that ran, one more of one that had ended, a start of an end that was alone, a start at another time.
  const batch = [end(206), end(200), start(211, '2026-02-06T08:31:00Z'), start(12, '2026-02-06T08:32:00Z')]
  for (const asker of [moved, fresh]) {
    const headers = { authorization: basicAuth() }
    await asker.json(post('/call/upsert_batch', { batch }), headers)
    await asker.json(post('/call/update', { project_id, call_id: idOf(201), display_name: 'named late' }), headers)
    await asker.json(post('/calls/delete', { project_id, call_ids: [idOf(202), idOf(5)] }), headers)
  }
  const now = await answersOf(fresh)
  expect(different(now, expected).length).toBeGreaterThan(20)
  expect(different(await answersOf(moved), now)).toEqual([])
})
