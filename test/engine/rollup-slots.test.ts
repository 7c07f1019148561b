// Counters and statistics that several workers keep, each of the projects of its hash slots: exact whoever holds what.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { slotCount, slotOf, slotsOf } from '../../services/content/hash-slots.ts'
import type { Position } from '../../services/core/log/log.ts'
import type { Store } from '../../services/core/store/store.ts'
import type { Assignment } from '../../services/derived/rollups/coverage.ts'
import { createRollups } from '../../services/derived/rollups/rollups.ts'
import { countProject, createCountCache } from '../../services/query/calls/access/counts.ts'
import { createTestStore } from '../fixtures/store.ts'

const projects = Array.from({ length: 4 }, (_, n) => `team/slots-${n}`)
const names = projects.map((name) => `'${name}'`)
const committed: Position[] = [0, 1, 2].map((partition) => ({ topic: 'calls', partition, offset: 0 }))
const sent = new Map(projects.map((name) => [name, 0]))
const cache = createCountCache()
let store: Store
let remove: () => Promise<void>
let next = 0

beforeAll(async () => {
  ;({ store, remove } = await createTestStore())
})
afterAll(() => remove())

const run = (sql: string) => store.command({ name: 'test', sql, params: {} })
const read = <T>(sql: string) => store.rows<T>({ name: 'test', sql, params: {} })

/** One batch of a partition with calls of every project: rows, dirty buckets, then the position. */
async function apply(partition: number, calls: number): Promise<void> {
  const position = committed[partition] as Position
  await run(`INSERT INTO callhouse.calls_in (kind, project_id, id, clock, started_us, ended_us, trace_id)
    SELECT 'complete', arrayJoin([${names}]), toString(${next} + number), 1, 1800000000000000, 1800000000000000, 't'
    FROM numbers(${calls})`)
  next += calls
  for (const name of projects) sent.set(name, (sent.get(name) ?? 0) + calls)
  await run(`INSERT INTO callhouse.call_marks (project_id, partition, position, minute)
    SELECT arrayJoin([${names}]), ${partition}, ${position.offset + 1}, toDateTime(1800000000, 'UTC')`)
  position.offset++
}

/** A worker that holds some partitions. */
const holder = (held: readonly number[]) => {
  const state = { held }
  const assignment = (): Assignment => ({
    slots: slotsOf(committed.length, (partition) => state.held.includes(partition)),
    isLeader: state.held.includes(0),
  })
  const rollups = createRollups({
    store,
    assignment,
    committed: async () => committed.map((position) => ({ ...position })),
    onError(error) {
      throw error
    },
  })
  return { ...rollups, state, holds: (name: string) => state.held.includes(slotOf(name) % committed.length) }
}

/** Calls by project as the tables of counters and of statistics have them. */
async function derived() {
  const rows = await read<{ project: string; counted: number; told: number }>(`
    SELECT project_id AS project, toUInt32(sum(c)) AS counted, toUInt32(sum(s)) AS told FROM
    (
      SELECT project_id, calls AS c, 0 AS s FROM callhouse.call_counts_hourly FINAL
      UNION ALL SELECT project_id, 0, calls FROM callhouse.call_stats FINAL WHERE seconds = 3600
    ) GROUP BY project_id`)
  return Object.fromEntries(rows.map(({ project, counted, told }) => [project, [counted, told]]))
}
const truth = (of: (name: string) => number) => Object.fromEntries(projects.map((name) => [name, [of(name), of(name)]]))
async function expectExactCounts() {
  const counts = await Promise.all(projects.map((name) => countProject(store, name as never, 'calls', {}, cache)))
  expect(counts).toEqual(projects.map((name) => sent.get(name)))
}
const coverNames = async () =>
  (await read<{ name: string }>(`SELECT DISTINCT name FROM callhouse.rollups ORDER BY name`)).map(({ name }) => name)

it('SQL puts a project in the same slot', async () => {
  const all = [...projects, 'ä/ü', 'entity/日本', `${'x'.repeat(100)}/y`, '']
  const rows = await store.rows<{ name: string; slot: number }>({
    name: 'test',
    sql: `SELECT name, toUInt8(CRC32(name) % ${slotCount}) AS slot FROM (SELECT arrayJoin({names:Array(String)}) AS name)`,
    params: { names: all },
  })
  expect(rows.map(({ name, slot }) => [name, slot])).toEqual(all.map((name) => [name, slotOf(name)]))
  expect(new Set(projects.map((name) => slotOf(name) % committed.length)).size).toBe(3)
})

it('a rollup that nobody has begun is begun by the worker with partition 0, for all projects', async () => {
  await apply(0, 2)
  const other = holder([1, 2])
  await other.refresh()
  expect(await derived()).toEqual({})
  await holder([0]).refresh()
  expect(await derived()).toEqual(truth((name) => sent.get(name) as number))
  expect(await coverNames()).toEqual(['call_counts', 'call_stats', 'call_stats_calls_by_op', 'trace_parts'])
  await expectExactCounts()
})

it('each worker derives its own projects, readers count the others from the calls', async () => {
  const [first, second] = [holder([0]), holder([1, 2])]
  const before = new Map(sent)
  await apply(1, 3)
  await apply(2, 1)
  await expectExactCounts()
  await second.refresh()
  const ofSecond = (name: string) => (second.holds(name) ? sent : before).get(name) as number
  expect(await derived()).toEqual(truth(ofSecond))
  await expectExactCounts()
  await first.refresh()
  expect(await derived()).toEqual(truth((name) => sent.get(name) as number))
  await expectExactCounts()
  expect((await coverNames()).filter((name) => name.startsWith('call_counts/'))).toHaveLength(slotCount)
})

it('a worker that comes to the partitions of another goes on where that one stopped', async () => {
  const [first, second] = [holder([0]), holder([1, 2])]
  await apply(0, 4)
  await first.refresh()
  const before = new Map(sent)
  await apply(1, 1)
  second.state.held = []
  await second.refresh()
  first.state.held = [0, 1]
  await first.refresh()
  const stale = projects.filter((name) => slotOf(name) % 3 === 2)
  expect(stale.length).toBeGreaterThan(0)
  const found = await derived()
  for (const name of projects)
    if (stale.includes(name)) expect(found[name]?.[0]).toBeLessThan(before.get(name) as number)
    else expect(found[name]).toEqual([sent.get(name), sent.get(name)])
  await expectExactCounts()
  first.state.held = [0, 1, 2]
  await first.refresh()
  expect(await derived()).toEqual(truth((name) => sent.get(name) as number))
  await expectExactCounts()
})

it('two workers that both hold a partition for a moment count nothing twice', async () => {
  const [first, second] = [holder([0, 1]), holder([1, 2])]
  await apply(0, 1)
  await apply(2, 2)
  await Promise.all([first.refresh(), second.refresh()])
  expect(await derived()).toEqual(truth((name) => sent.get(name) as number))
  await expectExactCounts()
})
