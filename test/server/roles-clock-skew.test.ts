// tier: deep kafka
// Edges whose clocks are an hour ahead or behind: what is written later still wins, and nothing is lost.
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { uuidv7 } from '../../services/core/ids.ts'
import { basicAuth, type ChildServer, post } from '../fixtures/child-server.ts'
import { eventually } from '../fixtures/eventually.ts'
import { createInstallation, type Installation } from '../fixtures/installation.ts'
import { kafkaBrokers } from '../fixtures/kafka.ts'
import { createLoad } from '../fixtures/load.ts'

const project_id = 'faults/clock'
const hourMs = 3_600_000
const skewed = fileURLToPath(new URL('../fixtures/skewed-clock.ts', import.meta.url))
let installation: Installation
let query: ChildServer
let edges: { ahead: ChildServer; right: ChildServer; behind: ChildServer }

beforeAll(async () => {
  installation = await createInstallation(await kafkaBrokers())
  const edge = (aheadMs: number) =>
    installation.start('ingest', { NODE_OPTIONS: `--import=${skewed}`, TEST_CLOCK_AHEAD_MS: String(aheadMs) })
  // The first one makes the topics and the tables.
  const right = await edge(0)
  const [ahead, behind, , reader] = await Promise.all([
    edge(hourMs),
    edge(-hourMs),
    installation.start('worker'),
    installation.start('query'),
  ])
  edges = { ahead, right, behind } as typeof edges
  query = reader as ChildServer
})
afterAll(() => installation?.remove())

const send = async (server: ChildServer, path: string, body: object) => {
  const { status, text } = await post(server.url, path, body)
  expect([path, status, status === 200 ? '' : text]).toEqual([path, 200, ''])
  return JSON.parse(text) as Record<string, unknown>
}

it('the skew of clocks is noticed, reported and measured', async () => {
  const metric = async ({ url }: ChildServer) => {
    const text = await (await fetch(`${url}/metrics`, { headers: { authorization: basicAuth() } })).text()
    return Number(/^callhouse_clock_skew_seconds (\S+)/m.exec(text)?.[1])
  }
  expect(await metric(edges.ahead)).toBeCloseTo(3600, -2)
  expect(await metric(edges.behind)).toBeCloseTo(-3600, -2)
  for (const { output } of [edges.ahead, edges.behind])
    await eventually(() => expect(output()).toContain("this machine's clock differs"))
  expect(edges.right.output()).not.toContain("this machine's clock differs")
})

it('later names and versions win, whichever edge accepted them', async () => {
  const id = uuidv7()
  const started_at = new Date().toISOString()
  const start = { project_id, id, trace_id: id, op_name: 'op', started_at, attributes: {}, inputs: {} }
  await send(edges.ahead, '/call/start', { start })
  await send(edges.behind, '/call/end', { end: { project_id, id, ended_at: started_at, output: 1, summary: {} } })
  for (const name of ['ahead', 'right', 'behind', 'ahead', 'behind', 'right'] as const) {
    await send(edges[name], '/call/update', { project_id, call_id: id, display_name: `by ${name}` })
    const { call } = await send(query, '/call/read', { project_id, id })
    expect(call).toMatchObject({ display_name: `by ${name}`, output: 1 })
  }
  for (const [version, name] of (['ahead', 'right', 'behind', 'right'] as const).entries()) {
    const obj = { project_id, object_id: 'o', val: { version } }
    await send(edges[name], '/obj/create', { obj })
    const read = await send(query, '/obj/read', { project_id, object_id: 'o', digest: 'latest' })
    expect(read.obj).toMatchObject({ val: { version }, version_index: version, is_latest: 1 })
  }
})

it('no call is lost or doubled when the clocks of edges differ', async () => {
  const load = createLoad(project_id.replace('clock', 'skew'), 20260110)
  for (let n = 0; n < 12; n++) {
    const { url } = load.random.pick(Object.values(edges))
    expect((await load.send(url))?.status).toBe(200)
  }
  await load.check(query.url)
})
