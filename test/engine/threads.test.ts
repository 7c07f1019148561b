// Threads: which turns count, windows of time, sorting, paging and faults.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { baseUs, type CallWorld, complete, createCallWorld, start } from '../fixtures/call-world.ts'
import { createRandom } from '../fixtures/random.ts'

let world: CallWorld
const secondUs = 1_000_000
const uuid = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`
const turn = (n: number, threadId: string, from: number, to: number | null) => {
  const begun = { threadId, turnId: uuid(n), startedUs: baseUs + from * secondUs }
  return to === null ? start(uuid(n), begun) : complete(uuid(n), { ...begun, endedUs: baseUs + to * secondUs })
}
const at = (seconds: number) => new Date(baseUs / 1000 + seconds * 1000).toISOString()
const list = async (body: object = {}) => (await world.ask('/threads/stream_query', body)).lines
const names = async (body: object = {}) => (await list(body)).map((line) => line.thread_id)

beforeAll(async () => {
  world = await createCallWorld()
  await world.apply([
    turn(1, 'example', 0, 2),
    turn(2, 'example', 10, 14),
    turn(3, 'example', 40, null),
    complete(uuid(4), { threadId: 'example', turnId: uuid(1), startedUs: baseUs + secondUs }),
    turn(5, 'long', 100, 200),
    turn(6, 'short', 300, 300.0005),
    turn(7, 'open', 500, null),
    turn(8, '', 600, 601),
    turn(9, 'moved from', 700, 701),
    turn(10, 'deleted', 800, 801),
    turn(11, 'long', 90, 95),
    complete(uuid(12), { projectId: 'ent/elsewhere', threadId: 'elsewhere', turnId: uuid(12) }),
  ])
  await world.apply([turn(9, 'moved to', 700, 703)])
  // sent again at the same time: one without its thread, one as a child of another turn
  const left = { projectId: 'ent/left' }
  await world.apply(
    [turn(13, 'left', 900, null), turn(14, 'left', 910, null), turn(15, 'left', 920, 921)].map((part) => ({
      ...part,
      ...left,
    })),
  )
  await world.apply([
    start(uuid(13), { ...left, startedUs: baseUs + 900 * secondUs }),
    start(uuid(14), { ...left, threadId: 'left', turnId: uuid(15), startedUs: baseUs + 910 * secondUs }),
  ])
  await world.ask('/calls/delete', { call_ids: [uuid(10)] })
  // whole ones sent again whole: without a thread, in another thread, as no turn, and once more as it was
  const again = { projectId: 'ent/again' }
  const whole = (n: number, thread: string, turnId = uuid(n)) => ({
    ...turn(n, thread, 1000 + n, 1001 + n),
    ...again,
    turnId,
  })
  const before = [20, 21, 22, 23].map((n) => whole(n, 'old'))
  await world.apply(before)
  await world.apply([whole(20, ''), whole(21, 'new'), whole(22, 'old', uuid(21)), whole(23, 'old')])
  // what was accepted earlier comes late, and changes nothing
  await world.apply(before)
})
afterAll(() => world.remove())

describe('/threads/stream_query', () => {
  it('answers the example of the specification', async () => {
    expect(await list({ filter: { thread_ids: ['example'] } })).toEqual([
      {
        thread_id: 'example',
        turn_count: 3,
        start_time: '2026-03-10T12:00:00Z',
        last_updated: '2026-03-10T12:00:14Z',
        first_turn_id: uuid(1),
        last_turn_id: uuid(2),
        p50_turn_duration_ms: 3000,
        p99_turn_duration_ms: 3980,
      },
    ])
  })
  it('lists the last updated first, without open, nameless, deleted and former threads', async () => {
    expect(await names()).toEqual(['moved to', 'short', 'long', 'example'])
  })
  it.each([
    ['thread_id', 'asc', ['example', 'long', 'moved to', 'short']],
    ['turn_count', 'desc', ['example', 'long', 'moved to', 'short']],
    ['start_time', 'asc', ['example', 'long', 'short', 'moved to']],
    ['last_updated', 'asc', ['example', 'long', 'short', 'moved to']],
    ['p50_turn_duration_ms', 'desc', ['long', 'example', 'moved to', 'short']],
    ['p99_turn_duration_ms', 'asc', ['short', 'moved to', 'example', 'long']],
  ])('sorts by %s %s', async (field, direction, expected) => {
    expect(await names({ sort_by: [{ field, direction }] })).toEqual(expected)
  })
  it('keeps fractions of a millisecond', async () => {
    const [line] = await list({ filter: { thread_ids: ['short'] } })
    expect(line).toMatchObject({ p50_turn_duration_ms: 0.5, last_updated: '2026-03-10T12:05:00.000500Z' })
  })
  it('takes the turns strictly inside a window', async () => {
    const filter = { after_datetime: at(0), before_datetime: at(100) }
    const lines = await list({ filter, sort_by: [{ field: 'thread_id', direction: 'asc' }] })
    expect(lines).toMatchObject([
      { thread_id: 'example', turn_count: 2, first_turn_id: uuid(2) },
      { thread_id: 'long', turn_count: 1, first_turn_id: uuid(11) },
    ])
    expect(await names({ filter: { ...filter, thread_ids: ['long', 'moved from'] } })).toEqual(['long'])
  })
  it('finds a moved turn under its new thread only', async () => {
    expect(await names({ filter: { thread_ids: ['moved from'] } })).toEqual([])
    expect(await names({ filter: { thread_ids: ['moved to'] } })).toEqual(['moved to'])
  })
  it('pages through threads', async () => {
    expect(await names({ limit: 2, offset: 1 })).toEqual(['short', 'long'])
    expect(await names({ offset: 3 })).toEqual(['example'])
    expect(await names({ offset: 9 })).toEqual([])
    expect(await names({ limit: 0 })).toEqual([])
  })
  it('ignores an empty list of threads', async () => {
    expect(await names({ filter: { thread_ids: [] } })).toHaveLength(4)
  })
  it.each([
    [{ limit: -1 }, 400],
    [{ offset: -1 }, 400],
    [{ sort_by: [{ field: 'name', direction: 'asc' }] }, 400],
    [{ sort_by: [{ field: 'thread_id', direction: 'up' }] }, 422],
    [{ filter: { after_datetime: 'soon' } }, 400],
    [{ filter: { thread_ids: 'x' } }, 422],
    [{ filter: null, sort_by: null, limit: null, offset: null }, 200],
  ])('%j is answered %i', async (body, status) => {
    expect((await world.ask('/threads/stream_query', body)).status).toBe(status)
  })
  it('answers as application/x-ndjson unless the other one is asked for', async () => {
    const type = async (headers: Record<string, string>) =>
      (await world.ask('/threads/stream_query', {}, headers)).headers['Content-Type']
    expect(await type({})).toBe('application/x-ndjson')
    expect(await type({ accept: 'application/jsonl' })).toBe('application/jsonl')
  })

  it('forgets turns of finished calls that were sent again', async () => {
    const lines = await list({ project_id: 'ent/again', sort_by: [{ field: 'thread_id', direction: 'asc' }] })
    expect(lines).toMatchObject([
      { thread_id: 'new', turn_count: 1, first_turn_id: uuid(21) },
      { thread_id: 'old', turn_count: 1, first_turn_id: uuid(23) },
    ])
  })

  it('forgets turns of calls that were sent again without a thread', async () => {
    const [left] = await list({ project_id: 'ent/left' })
    expect(left).toMatchObject({ turn_count: 1, first_turn_id: uuid(15), last_turn_id: uuid(15) })
  })
})

describe('spans of a conversation', () => {
  const project_id = 'ent/spans'
  const span = (n: number, from: number, to: number, parent: number | null, thread = 'conversation') => ({
    ...turn(n, thread, from, to),
    projectId: project_id,
    ...(parent !== null && { parentId: uuid(parent) }),
  })
  const all = (body: object = {}) => list({ project_id, sort_by: [{ field: 'thread_id', direction: 'asc' }], ...body })

  it('are one turn with those below them, whichever comes first', async () => {
    // The model calls and the tool come before the agent that they belong to, as exporters send them.
    await world.apply([span(50, 1, 2, 53), span(51, 3, 4, 53), span(52, 2, 3, 51)])
    expect(await all()).toMatchObject([{ turn_count: 2 }])
    await world.apply([span(53, 0, 10, null), span(54, 20, 24, null)])
    const one = [{ turn_count: 2, first_turn_id: uuid(53), last_turn_id: uuid(54), p50_turn_duration_ms: 7000 }]
    expect(await all()).toMatchObject(one)
    expect(await list({ project_id, limit: 5 })).toMatchObject(one)
    expect(await all({ filter: { thread_ids: ['conversation'] } })).toMatchObject(one)
    // A window that the agent began before has none of its calls either.
    expect(await all({ filter: { after_datetime: at(0) } })).toMatchObject([{ turn_count: 1, first_turn_id: uuid(54) }])
  })

  it('are turns of their own below a turn of another thread, and once their parent is none any more', async () => {
    await world.apply([span(55, 30, 40, null, 'outer'), span(56, 31, 32, 55, 'inner'), span(57, 31, 33, 55, 'outer')])
    const counts = async () => (await all()).map((line) => [line.thread_id, line.turn_count])
    const expected = [
      ['conversation', 2],
      ['inner', 1],
      ['outer', 1],
    ]
    expect(await counts()).toEqual(expected)
    await world.apply([span(55, 30, 40, null, 'elsewhere')])
    expect(await counts()).toEqual([
      ['conversation', 2],
      ['elsewhere', 1],
      ['inner', 1],
      ['outer', 1],
    ])
    expect(await all({ filter: { thread_ids: ['outer'] } })).toMatchObject([{ first_turn_id: uuid(57) }])
    await world.ask('/calls/delete', { project_id, call_ids: [uuid(54)] })
    expect(await all({ filter: { thread_ids: ['conversation'] } })).toMatchObject([{ turn_count: 1 }])
  })
})

it('the list of threads answers pages of the latest threads as the whole list has them', async () => {
  const project = { projectId: 'ent/latest' }
  const random = createRandom(5)
  type Turn = { n: number; thread: string; from: number; to: number | null }
  const apply = (turns: Turn[]) =>
    world.apply(turns.map(({ n, thread, from, to }) => ({ ...turn(n, thread, from, to), ...project })))
  const threads = Array.from({ length: 60 }, (_, n) => `thread ${n}`)
  const first = Array.from({ length: 240 }, (_, n): Turn => {
    const from = random.below(2_000)
    return { n: 1_000 + n, thread: random.pick(threads), from, to: random.chance(0.1) ? null : from + random.below(50) }
  })
  await apply(first)
  // ends that become earlier, turns that change their thread: what a thread once was must not count
  await apply(
    first
      .filter((_, n) => n % 3 === 0)
      .map((one) => ({
        ...one,
        to: one.to && one.from,
        thread: random.chance(0.5) ? random.pick(threads) : one.thread,
      })),
  )
  // and many that end at one time
  await apply(threads.slice(0, 30).map((thread, n) => ({ n: 2_000 + n, thread, from: 1_900, to: 3_000 })))
  const ask = (body: object) => list({ project_id: 'ent/latest', ...body })
  const whole = await ask({})
  expect(whole.length).toBeGreaterThan(50)
  for (const [offset, limit] of [
    [0, 5],
    [3, 7],
    [28, 4],
    [0, 31],
    [50, 100],
    [200, 5],
  ] as const)
    expect(await ask({ offset, limit }), `${offset}, ${limit}`).toEqual(whole.slice(offset, offset + limit))
  const filter = { thread_ids: threads.slice(5, 40), after_datetime: at(300) }
  expect(await ask({ filter, limit: 6, offset: 2 })).toEqual((await ask({ filter })).slice(2, 8))
})
