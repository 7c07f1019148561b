// tier: deep property
// Records of coding agents that name no prompt: their calls lie below the last prompt before them, whatever the order, the
// batches and the number of times in which the records of a session come.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noMaskings } from '../../services/content/masking/maskings.ts'
import { createProgress } from '../../services/core/log/progress.ts'
import { createJoiner } from '../../services/derived/logs/joiner.ts'
import { createEventMapping } from '../../services/ingest/otel/join.ts'
import { eventually } from '../fixtures/eventually.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { integer, text } from '../fixtures/otel.ts'
import { createRandom } from '../fixtures/random.ts'
import { limitMs, runs } from '../fixtures/runs.ts'

let server: LiveServer
beforeAll(async () => {
  server = await startLiveServer()
})
afterAll(() => server?.remove())

type Sent = { session: string; atMs: number; name: string; n: number }
type Call = { id: string; parent_id: string | null; turn_id: string | null; trace_id: string; thread_id: string } & {
  inputs: { prompt?: string }
  attributes: { n: number }
}

const beginNs = 1_772_712_000_000_000_000n
const record = ({ session, atMs, name, n }: Sent) => ({
  timeUnixNano: String(beginNs + BigInt(atMs) * 1_000_000n),
  eventName: 'event program/src/place.rs:12',
  attributes: [
    text('event.name', name),
    text('conversation.id', session),
    integer('n', n),
    ...(name === 'codex.user_prompt' ? [text('prompt', `prompt ${n}`)] : [text('tool_name', 'shell')]),
  ],
})
const sendLogs = (project_id: string, records: readonly Sent[]) =>
  server.send('/otel/v1/logs', { resourceLogs: [{ scopeLogs: [{ logRecords: records.map(record) }] }] }, { project_id })
const calls = (project_id: string) =>
  server.list<Call>('/calls/stream_query', { project_id, sort_by: [{ field: 'started_at', direction: 'asc' }] })

/** Number of the prompt that a record lies below, by the records alone; prompts at the same time are told apart by ids. */
function expectedParents(records: readonly Sent[], found: readonly Call[]): (string | null)[] {
  const idOf = new Map(found.map(({ id, attributes }) => [attributes.n, id]))
  const idText = ({ n }: Sent) => idOf.get(n) as string
  return found.map(({ attributes }) => {
    const own = records[attributes.n] as Sent
    if (own.name === 'codex.user_prompt') return null
    const before = records
      .filter(({ name, session, atMs }) => name === 'codex.user_prompt' && session === own.session && atMs <= own.atMs)
      .sort((a, b) => a.atMs - b.atMs || (idText(a) < idText(b) ? -1 : 1))
    const last = before.at(-1)
    return last === undefined ? null : idText(last)
  })
}

/** Waits until each call lies where its records say. */
async function settled(project_id: string, records: readonly Sent[]): Promise<Call[]> {
  return eventually(
    async () => {
      const found = await calls(project_id)
      expect(found).toHaveLength(records.length)
      expect(found.map(({ parent_id }) => parent_id)).toEqual(expectedParents(records, found))
      return found
    },
    { withinMs: 90_000, everyMs: 200 },
  )
}

const joinerOf = () => {
  const { store, log } = server.now()
  const mapping = createEventMapping(server.config, noMaskings)
  return createJoiner({
    store,
    log,
    progress: createProgress(),
    mapping,
    onError: (error) => expect.fail(error.message),
  })
}

const [prompt, tool] = ['codex.user_prompt', 'codex.tool_result']
const said: readonly Omit<Sent, 'n'>[] = [
  // Before any prompt, at the time of one, between two, at the time of two prompts, behind the last.
  { session: 's1', atMs: 0, name: tool },
  { session: 's1', atMs: 10, name: prompt },
  { session: 's1', atMs: 10, name: tool },
  { session: 's1', atMs: 11, name: tool },
  { session: 's1', atMs: 20, name: prompt },
  { session: 's1', atMs: 20, name: prompt },
  { session: 's1', atMs: 20, name: tool },
  { session: 's1', atMs: 25, name: tool },
  { session: 's1', atMs: 30, name: prompt },
  { session: 's1', atMs: 31, name: tool },
  { session: 's1', atMs: 31, name: tool },
  // A session without prompts, one with nothing else, and one whose prompt is behind all.
  { session: 's2', atMs: 15, name: tool },
  { session: 's3', atMs: 15, name: prompt },
  { session: 's4', atMs: 5, name: tool },
  { session: 's4', atMs: 6, name: prompt },
]
const records: readonly Sent[] = said.map((one, n) => ({ ...one, n }))

/** One arrival: batches of records, some of which come more than once. */
type Arrival = Sent[][]
const isPrompt = ({ name }: Sent) => name === prompt
const [prompts, others] = [records.filter(isPrompt), records.filter((one) => !isPrompt(one))]
const fixed: Record<string, Arrival> = {
  'at once': [[...records]],
  'one by one': records.map((one) => [one]),
  'one by one, the last first': records.toReversed().map((one) => [one]),
  'prompts last, one by one': [[...others], ...prompts.map((one) => [one])],
  'prompts last, the last first': [[...others], ...prompts.toReversed().map((one) => [one])],
  'prompts first': [[...prompts], ...others.map((one) => [one])],
  'twice, the other way round': [[...records], records.toReversed()],
}

function anArrival(seed: number): Arrival {
  const random = createRandom(seed)
  const again = records.filter(() => random.next() < 0.3)
  const order = [...records, ...again]
    .map((one) => [random.next(), one] as const)
    .sort(([a], [b]) => a - b)
    .map(([, one]) => one)
  const batches: Arrival = []
  while (order.length > 0) batches.push(order.splice(0, 1 + Math.floor(random.next() * 5)))
  return batches
}
const arrivals = {
  ...fixed,
  ...Object.fromEntries(Array.from({ length: runs(8, 60) }, (_, n) => [`random ${n}`, anArrival(n)])),
}

/** The stored facts of the calls, whatever their project and clocks. */
const shown = (found: readonly Call[]) =>
  found.map((call) => ({ ...call, project_id: '', storage_size_bytes: 0 })).sort((a, b) => (a.id < b.id ? -1 : 1))

describe('calls of records without a prompt', () => {
  it('are the same in whichever order, batches and number of times the records come', {
    timeout: 900_000,
  }, async () => {
    const projects = Object.entries(arrivals).map(([name, batches]) => ({
      project: `turns/${name.replace(/\W+/g, '-')}`,
      batches,
    }))
    for (const { project, batches } of projects) for (const batch of batches) await sendLogs(project, batch)
    const [first, ...rest] = await Promise.all(projects.map(({ project }) => settled(project, records)))
    for (const one of rest) expect(shown(one)).toEqual(shown(first as Call[]))
    // Nothing of it is left to be done, also for whoever knows nothing of what was done.
    expect(await joinerOf().look(86_400)).toBe(0)
    const again = await Promise.all(projects.map(({ project }) => calls(project)))
    for (const one of again) expect(shown(one)).toEqual(shown(first as Call[]))
  })

  it('come below prompts that arrive after a restart, and stay there when all are sent again after the next', async () => {
    const project = 'turns/restarts'
    await sendLogs(project, others)
    await server.restart()
    await sendLogs(project, prompts)
    await settled(project, records)
    await server.restart()
    await sendLogs(project, records)
    await settled(project, records)
    expect(await joinerOf().look(86_400)).toBe(0)
  })

  it('are moved by the thousand when the prompt of a flood comes last, and never without one', async () => {
    const project = 'turns/flood'
    const count = runs(3_000, 20_000)
    // All at one time, which is that of the prompt too.
    const flood = Array.from({ length: count }, (_, n) => ({ session: 'one', atMs: 1, name: tool, n }))
    // Requests that are refused because too much waits are sent again, as exporters do.
    for (let n = 0; n < count; n += 10_000)
      await eventually(() => sendLogs(project, flood.slice(n, n + 10_000)), { withinMs: limitMs(90_000), everyMs: 500 })
    const below = async (parent: string) => {
      const filter = { parent_ids: [parent] }
      return (await server.send<{ count: number }>('/calls/query_stats', { project_id: project, filter })).count
    }
    expect(await joinerOf().look(86_400)).toBe(0)
    await sendLogs(project, [{ session: 'one', atMs: 1, name: prompt, n: count }])
    const query = { $expr: { $eq: [{ $getField: 'op_name' }, { $literal: prompt }] } }
    const [root] = await server.list<Call>('/calls/stream_query', { project_id: project, query })
    await eventually(async () => expect(await below(root?.id as string)).toBe(count), {
      withinMs: limitMs(90_000),
      everyMs: 500,
    })
    expect(await joinerOf().look(86_400)).toBe(0)
  }, 900_000)
})
