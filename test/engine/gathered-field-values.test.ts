// Field values that are gathered while batches are applied are those that reading the payloads back gives: generated
// documents, batches that take another way, outages, positions that are covered bit by bit.
// again: property
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Batch, Position } from '../../services/core/log/log.ts'
import { type Store, StoreError } from '../../services/core/store/store.ts'
import type { Budget } from '../../services/derived/budget.ts'
import { createFieldIndex } from '../../services/derived/field-index/field-index.ts'
import { createRollups } from '../../services/derived/rollups/rollups.ts'
import type { CallFragment } from '../../services/events/calls.ts'
import { createCallWriter } from '../../services/events/calls-writer.ts'
import { segmentRows } from '../../services/events/segment-rows.ts'
import { createApplier } from '../../services/worker/apply-batch.ts'
import { baseUs, clock, complete, end, rename, start } from '../fixtures/call-world.ts'
import { createRandom } from '../fixtures/random.ts'
import { runs } from '../fixtures/runs.ts'
import { createTestStore } from '../fixtures/store.ts'

const random = createRandom(23)
const scalars = [
  '0',
  '5.0',
  '-0',
  '1e3',
  '255',
  '1e21',
  '9007199254740993',
  'null',
  'true',
  '[]',
  '{}',
  '[1,{"a":5}]',
  '""',
  '"5"',
  '"abc"',
  '"+5"',
  '"\\u00e9\\n"',
  '"it\'s ,\\"summary\\":1"',
  '"😀"',
  JSON.stringify('long '.repeat(60)),
]
const keys = ['a', 'a.b', '', 'é', 'k"', 'summary', 'start_bytes', 'output', 'odd']
function value(depth: number): string {
  if (depth === 0 || random.chance(0.5)) return random.pick(scalars)
  const gap = random.chance(0.2) ? ' ' : ''
  const members = Array.from(
    { length: random.below(4) },
    () => `${gap}${JSON.stringify(random.pick(keys))}${gap}:${gap}${value(depth - 1)}`,
  )
  return random.chance(0.2) ? `[${value(depth - 1)}]` : `{${members.join(',')}}`
}
const wide = `{${Array.from({ length: 80 }, (_, n) => `"k${n}":${n}`).join(',')},"a":5}`
const huge = `{"a":5,"b":"${'x'.repeat(70_000)}"}`
const document = (): string => (random.chance(0.05) ? random.pick([wide, huge]) : value(3))

let store: Store
let remove: () => Promise<void>
let made = 0
beforeAll(async () => {
  ;({ store, remove } = await createTestStore())
})
afterAll(() => remove())

const more = (): CallFragment => {
  const id = `g${made++}`
  const fields = {
    projectId: random.pick(['ent/one', 'ent/twö', 'ent/start_bytes:7']),
    startedUs: baseUs + random.below(3 * 3600) * 1_000_000,
    odd: random.chance(0.05),
    attributes: random.chance(0.2) ? '' : document(),
    inputs: document(),
    traceId: ',"start_bytes":1',
    opName: random.pick(['op', ',"attributes":{"a":1}']),
    otelDump: random.chance(0.2) ? '{"name":"span","a":5}' : '',
  }
  return random.chance(0.7)
    ? complete(id, { ...fields, output: document(), summary: random.chance(0.2) ? '' : document(), exception: 'no' })
    : start(id, fields)
}

const withoutPayload = ({ projectId, id }: CallFragment): CallFragment =>
  random.chance(0.5)
    ? { ...rename(id, 'another name'), projectId }
    : { kind: 'delete', projectId, id, clock: clock.next() }

function batchOf(parts: readonly CallFragment[], offset: number): Batch {
  const writer = createCallWriter()
  for (const part of parts) writer.add(part)
  const [record] = writer.take()
  if (!record) throw new Error('no rows')
  return {
    topic: 'calls',
    partition: 0,
    firstOffset: offset,
    lastOffset: offset,
    records: [{ offset, rowCount: record.rowCount, sizeBytes: record.rows.length }],
    rowCount: record.rowCount,
    patchCount: record.patchCount,
    oldestMs: Date.now(),
    source: { bytes: [record.rows] },
  } as unknown as Batch
}

/** The rows of the tables, whatever their groups. */
async function indexed(): Promise<string[]> {
  const of = async (sql: string) =>
    (await store.rows<{ line: string }>({ name: 'test', sql, params: {} })).map(({ line }) => line)
  return [
    ...(await of(`SELECT DISTINCT toString((project_id, path, kind, part, v.1, v.2, v.3)) AS line FROM callhouse.payload_leaves
      ARRAY JOIN arrayMap((us, n) -> (us, num[n], str[n]), at, arrayEnumerate(at)) AS v ORDER BY line`)),
    ...(await of(`SELECT toString((project_id, part, v.1, v.2)) AS line FROM callhouse.payload_chunks
      ARRAY JOIN arrayZip(at, clock) AS v ORDER BY line`)),
  ]
}

describe.each([
  ['everything goes in as it is', { patches: 0, outages: 0, repairs: 0 }],
  ['some batches have ends', { patches: 0.3, outages: 0, repairs: 0 }],
  ['rows are applied once more between batches', { patches: 0, outages: 0, repairs: 0.3 }],
  ['statements fail', { patches: 0.2, outages: 0.05, repairs: 0.1 }],
])('%s', (name, { patches, outages, repairs }) => {
  it('indexes what the payloads hold', async () => {
    const commands: string[] = []
    const outage = new StoreError('outage', 0, 'a test')
    const unsteady: Store = {
      ...store,
      async command(query, options) {
        commands.push(query.name)
        if (random.chance(outages)) throw outage
        await store.command(query, options)
        if (random.chance(outages)) throw outage
      },
      async insert(topic, source) {
        if (random.chance(outages)) throw outage
        return store.insert(topic, source)
      },
      rows(query, options) {
        commands.push(query.name)
        return store.rows(query, options)
      },
    }
    let offset = 1_000 * made
    // A part of the log that was covered before: nothing of it was gathered.
    const committed: Position[] = [{ topic: 'calls', partition: 0, offset }]
    const index = createFieldIndex({ store: unsteady, isSoleDeriver: () => true })
    const rollups = createRollups({
      store: unsteady,
      committed: async () => committed.map((position) => ({ ...position })),
      table: [index.rollup],
      onError() {},
    })
    const applier = createApplier({
      store: unsteady,
      log: { committed: async () => committed },
      deadLetters: { add: () => Promise.reject(new Error('no row is refused')) },
      newCalls: { gathered: index.gathered },
    })
    const untilDone = async (step: () => Promise<unknown>) => {
      for (;;)
        try {
          return await step()
        } catch (error) {
          if (error !== outage) throw error
        }
    }
    await untilDone(() => rollups.refresh())
    commands.length = 0
    for (let n = 0; n < runs(4, 40); n++) {
      const parts = Array.from({ length: 1 + random.below(30) }, more)
      const first = parts[0] as CallFragment
      if (random.chance(patches)) parts.push(end(`alone${made}`, { projectId: first.projectId, output: document() }))
      const apply = async (batch: Batch) => {
        await untilDone(() => applier.apply(batch))
        index.gathered.committed(batch)
        ;(committed[0] as Position).offset = offset
      }
      await apply(batchOf(parts, ++offset))
      // Under the position of the next batch.
      if (random.chance(repairs)) {
        const rows = await segmentRows(batchOf([more()], offset))
        await untilDone(() => applier.reapply('calls', rows))
      }
      if (random.chance(0.3)) await apply(batchOf([withoutPayload(first)], ++offset))
      if (random.chance(0.3)) await untilDone(() => rollups.refresh())
    }
    await untilDone(() => rollups.refresh())
    if (patches === 0 && repairs === 0) expect(commands).not.toContain('field-index-due')
    const found = await indexed()
    for (const table of ['payload_leaves', 'payload_chunks', 'rollups'])
      await store.command({ name: 'test', sql: `TRUNCATE TABLE callhouse.${table}`, params: {} })
    const back = createFieldIndex({ store })
    await createRollups({
      store,
      committed: async () => committed,
      table: [back.rollup],
      onError(error) {
        throw error
      },
    }).refresh()
    const expected = await indexed()
    expect(expected.length, name).toBeGreaterThan(100)
    // After an outage rows may be stored, and noted, twice.
    const once = (lines: string[]) => (outages > 0 ? [...new Set(lines)] : lines)
    expect(once(found)).toEqual(once(expected))
  })
})

/** An index of an empty store with batches of calls that are gathered. */
async function emptyIndex(budget?: Budget) {
  for (const table of ['payload_leaves', 'payload_chunks', 'rollups', 'call_marks', 'payloads', 'calls'])
    await store.command({ name: 'test', sql: `TRUNCATE TABLE callhouse.${table}`, params: {} })
  const steps = { beforeReading: async () => {} }
  const watched: Store = {
    ...store,
    rows: async (query, options) => {
      const rows = await store.rows(query, options)
      if (query.name === 'field-index-due') await steps.beforeReading()
      return rows as never
    },
  }
  const committed: Position = { topic: 'calls', partition: 0, offset: 0 }
  const index = createFieldIndex({ store: watched, isSoleDeriver: () => true, ...(budget && { budget }) })
  const rollups = createRollups({
    store: watched,
    committed: async () => [{ ...committed }],
    table: [index.rollup],
    onError(error) {
      throw error
    },
  })
  const applier = createApplier({
    store: watched,
    log: { committed: async () => [committed] },
    deadLetters: { add: () => Promise.reject(new Error('no row is refused')) },
    newCalls: { gathered: index.gathered },
  })
  const apply = async (calls: number, isGathered = true) => {
    const batch = batchOf(Array.from({ length: calls }, more), committed.offset + 1)
    await applier.apply(batch)
    if (isGathered) index.gathered.committed(batch)
    else index.gathered.forget()
    committed.offset++
  }
  return { index, rollups, apply, steps }
}

const indexedRows = async (): Promise<number> => {
  const sql = 'SELECT toUInt32(sum(length(at))) AS n FROM callhouse.payload_chunks'
  return (await store.rows<{ n: number }>({ name: 'test', sql, params: {} }))[0]?.n ?? 0
}

it('values that are gathered while payloads are read back are written once', async () => {
  const { rollups, apply, steps } = await emptyIndex()
  await apply(20, false)
  await apply(30)
  steps.beforeReading = async () => {
    steps.beforeReading = async () => {}
    await apply(40)
  }
  await rollups.refresh()
  expect(await indexedRows()).toBe(90)
  await rollups.refresh()
  expect(await indexedRows()).toBe(90)
})

it('gathered values are written without a turn of the budget, which others are waiting for', async () => {
  let turns = 0
  const { rollups, apply } = await emptyIndex({
    run: (job) => {
      turns++
      return job()
    },
  })
  await rollups.refresh()
  turns = 0
  for (let n = 0; n < 3; n++) await apply(10)
  await rollups.refresh()
  expect([await indexedRows(), turns]).toEqual([30, 0])
  await apply(10, false)
  await rollups.refresh()
  expect([await indexedRows(), turns > 0]).toEqual([40, true])
})
