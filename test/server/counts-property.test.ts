// tier: deep property
// Counts of projects that write at the same time under the same ids: never less than what was acknowledged, and exact
// once it is quiet.
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Worker } from '../../services/worker/run.ts'
import { type Asker, createAsker, post } from '../fixtures/asker.ts'
import { basicAuth } from '../fixtures/child-server.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { createRandom, type Random } from '../fixtures/random.ts'
import { runs } from '../fixtures/runs.ts'

const projects = ['one/app', 'two/app', 'two/other', 'three/app']
const idOf = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`
const baseMs = Date.UTC(2026, 2, 5, 11, 30)
/** Minutes of three hours, on both sides of the end of a month for some. */
const timeOf = (minute: number, n: number) =>
  new Date(baseMs + minute * 60_000 + (n % 50) * 1_000 + (n % 7 === 0 ? 26 * 86_400_000 : 0)).toISOString()

let server: LiveServer
let asker: Asker
const headers = { authorization: basicAuth('test-key') }

beforeAll(async () => {
  server = await startLiveServer()
  asker = createAsker(server.now().url, 32)
})
afterAll(async () => {
  await asker?.close()
  await server?.remove()
})

const count = async (project_id: string, more: object = {}) =>
  (await asker.json<{ count: number }>(post('/calls/query_stats', { project_id, ...more }), headers)).count

const list = async (project_id: string, more: object = {}) => {
  const { status, text } = await asker.ask(
    post('/calls/stream_query', { project_id, columns: ['id', 'started_at', 'parent_id'], ...more }),
    headers,
  )
  expect(status).toBe(200)
  return text.split('\n').filter((line) => line !== '')
}

type Start = { id: string; n: number; minute: number; isChild: boolean }
const startOf = (project_id: string, { id, n, minute, isChild }: Start) => ({
  project_id,
  id,
  trace_id: idOf(0),
  op_name: 'op',
  started_at: timeOf(minute, n),
  attributes: {},
  inputs: {},
  ...(isChild ? { parent_id: idOf(0) } : {}),
})
const endOf = (project_id: string, { id, n, minute }: Start) => ({
  project_id,
  id,
  ended_at: new Date(Date.parse(timeOf(minute, n)) + 500).toISOString(),
  output: {},
  summary: {},
})

/** Writes calls that are new, so that counts only grow; tells how many are acknowledged and how many were begun. */
function createGrowing(project: string, random: Random) {
  let next = 0
  const state = { acknowledged: 0, begun: 0 }
  const ending: Promise<unknown>[] = []
  const fresh = (): Start => {
    const n = next++
    return { id: idOf(n), n, minute: random.below(150), isChild: random.chance(0.5) }
  }
  return {
    state,
    async write() {
      const calls = Array.from({ length: 1 + random.below(6) }, fresh)
      state.begun += calls.length
      const how = random.below(3)
      if (how === 0)
        await asker.json(
          post(`/v2/${project}/calls/complete`, {
            batch: calls.map((one) => ({ ...startOf(project, one), ...endOf(project, one) })),
          }),
          headers,
        )
      else {
        const starts = calls.map((one) => ({ mode: 'start', req: { start: startOf(project, one) } }))
        const ends = calls.map((one) => ({ mode: 'end', req: { end: endOf(project, one) } }))
        if (how === 1) await asker.json(post('/call/upsert_batch', { batch: [...starts, ...ends] }), headers)
        else {
          await asker.json(post('/call/upsert_batch', { batch: starts }), headers)
          ending.push(asker.json(post('/call/upsert_batch', { batch: ends }), headers))
        }
      }
      state.acknowledged += calls.length
    },
    /** Ends of calls that nobody waited for. */
    ended: () => Promise.all(ending),
  }
}

/** Changes calls: they move, end, get names, are sent again and are deleted. */
function createChanging(project: string, random: Random) {
  const some = (): Start => {
    const n = random.below(60)
    return { id: idOf(n), n, minute: random.below(150), isChild: random.chance(0.5) }
  }
  return {
    async write() {
      const calls = Array.from({ length: 1 + random.below(4) }, some)
      const [first] = calls as [Start]
      const how = random.below(5)
      if (how === 0)
        await asker.json(
          post(`/v2/${project}/calls/complete`, {
            batch: calls.map((one) => ({ ...startOf(project, one), ...endOf(project, one) })),
          }),
          headers,
        )
      else if (how === 1)
        await asker.json(
          post('/call/upsert_batch', {
            batch: calls.map((one) => ({ mode: 'start', req: { start: startOf(project, one) } })),
          }),
          headers,
        )
      else if (how === 2)
        await asker.json(
          post('/call/upsert_batch', {
            batch: calls.map((one) => ({ mode: 'end', req: { end: endOf(project, one) } })),
          }),
          headers,
        )
      else if (how === 3)
        await asker.json(
          post('/call/update', { project_id: project, call_id: first.id, display_name: `n${first.minute}` }),
          headers,
        )
      else if (random.chance(0.3))
        await asker.json(post('/calls/delete', { project_id: project, call_ids: [first.id] }), headers)
    },
  }
}

async function exact(project: string): Promise<string[]> {
  const wrong: string[] = []
  const filters = [{}, { filter: { trace_roots_only: true } }]
  for (const filter of filters)
    for (let again = 0; again < 2; again++) {
      const [counted, lines] = [await count(project, filter), await list(project, filter)]
      if (counted !== lines.length)
        wrong.push(`${project} ${JSON.stringify(filter)} counts ${counted}, lists ${lines.length}`)
    }
  return wrong
}

/** Writes of each of the eight writers: a second or two of work. */
const writesEach = 8
const rounds = Number(process.env.ROUNDS ?? runs(1, 60))

it.each(Array.from({ length: rounds }, (_, n) => n + Number(process.env.SEED ?? 0)))('round %i', async (seed) => {
  const random = createRandom(seed)
  const worker = server.now().worker as Worker
  const [a, b, c, d] = projects.map((project) => `${project}-${seed}`) as [string, string, string, string]
  const growing = [a, b].map((project) => ({ project, ...createGrowing(project, createRandom(random.below(2 ** 31))) }))
  const changing = [c, d].map((project) => ({
    project,
    ...createChanging(project, createRandom(random.below(2 ** 31))),
  }))
  const writers = [...growing, ...changing].flatMap((one) => [one, one])
  let writing = writers.length
  const isOn = () => writing > 0
  const wrong: string[] = []
  await Promise.all([
    ...writers.map(async ({ write }) => {
      for (let n = 0; n < writesEach; n++) await write()
      writing--
    }),
    ...growing.flatMap(({ project, state }) =>
      [0, 1].map(async () => {
        let last = 0
        while (isOn()) {
          const least = Math.max(last, state.acknowledged)
          last = await count(project)
          if (last < least || last > state.begun) wrong.push(`${project}: ${last} not in ${least} to ${state.begun}`)
        }
      }),
    ),
    ...changing.map(async ({ project }) => {
      while (isOn()) await count(project)
    }),
    (async () => {
      while (isOn()) {
        await worker.rollups.refresh()
        await new Promise((resolve) => setTimeout(resolve, random.below(60)))
      }
    })(),
  ])
  await Promise.all(growing.map(({ ended }) => ended()))
  expect(wrong).toEqual([])
  const quiet = await Promise.all([a, b, c, d].map(exact))
  await worker.rollups.refresh()
  const covered = await Promise.all([a, b, c, d].map(exact))
  expect([...quiet.flat(), ...covered.flat()]).toEqual([])
})
