// Seconds that are marked as dirty without a batch: each of them stays marked, whatever comes under the same position.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Position } from '../../services/core/log/log.ts'
import type { Store } from '../../services/core/store/store.ts'
import { createGatheredFieldValues } from '../../services/derived/field-index/gathered.ts'
import { createCallWriter } from '../../services/events/calls-writer.ts'
import { segmentRows } from '../../services/events/segment-rows.ts'
import { createApplier } from '../../services/worker/apply-batch.ts'
import { createKnownCalls } from '../../services/worker/calls/known-calls.ts'
import { complete } from '../fixtures/call-world.ts'
import { createTestStore } from '../fixtures/store.ts'

const noon = Date.UTC(2026, 3, 1, 12) / 1_000
const project = 'team/marks'
let made = 0
const calls: Position = { topic: 'calls', partition: 0, offset: 0 }

let store: Store
let remove: () => Promise<void>
beforeAll(async () => {
  ;({ store, remove } = await createTestStore())
})
afterAll(() => remove())
beforeEach(async () => {
  calls.offset = 0
  await store.command({ name: 'test', sql: 'TRUNCATE TABLE callhouse.call_marks', params: {} })
})

const batchAt = (
  offset: number,
  { rowCount, patchCount, rows }: { rowCount: number; patchCount: number; rows: Buffer },
) => ({
  ...{ topic: 'calls', partition: 0, firstOffset: offset, lastOffset: offset, oldestMs: 0 },
  records: [{ offset, version: 1, rowCount, patchCount, clock: 0n, sizeBytes: rows.length }],
  ...{ rowCount, patchCount, source: { bytes: [rows] } },
})

/** @param ownsTables whether no other process marks minutes */
async function createWorld(ownsTables: boolean) {
  const known = ownsTables ? createKnownCalls({ store }) : undefined
  await known?.fill()
  const gathered = createGatheredFieldValues(() => true)
  const applier = createApplier({
    store,
    log: { committed: async () => [calls] },
    deadLetters: { add: async () => expect.unreachable() },
    newCalls: { known, gathered },
  })
  const rowsFrom = (second: number) => {
    const writer = createCallWriter()
    writer.add(complete(`call-${made++}`, { projectId: project, startedUs: (noon + second) * 1e6 }))
    const [record] = writer.take()
    if (!record) throw new Error('no rows')
    return record
  }
  return {
    gathered,
    /** Applies a call that starts in this second once more, between two batches. */
    reapply: async (second: number) =>
      applier.reapply('calls', await segmentRows({ ...batchAt(calls.offset + 1, rowsFrom(second)) })),
    /** Marks calls by the second of the minute in which they start. */
    mark: (...seconds: number[]) =>
      applier.recountCalls(seconds.map((second) => ({ project, started_us: (noon + second) * 1e6 + 5 }))),
    async apply(second: number) {
      const offset = calls.offset + 1
      const batch = batchAt(offset, rowsFrom(second))
      await applier.apply(batch)
      gathered.committed(batch)
      calls.offset = offset
    },
  }
}

/** Marked seconds by position; 'all' = the minute. */
async function marked() {
  const sql = `SELECT toUInt32(position) AS position, toString(seconds) AS bits FROM callhouse.call_marks FINAL
    WHERE minute = toDateTime(${noon}, 'UTC') ORDER BY position`
  const rows = await store.rows<{ position: number; bits: string }>({ name: 'test', sql, params: {} })
  const secondsOf = (bits: bigint) => Array.from({ length: 60 }, (_, n) => n).filter((n) => (bits >> BigInt(n)) & 1n)
  return rows.map(({ position, bits }) => [position, bits === '0' ? 'all' : secondsOf(BigInt(bits))])
}

it('calls that are marked one after the other stay marked', async () => {
  const { mark, apply } = await createWorld(true)
  await apply(1)
  await mark(7, 59)
  await mark(30)
  expect(await marked()).toEqual([
    [1, [1]],
    [2, [7, 30, 59]],
  ])
})

it('the batch that comes under their position marks the whole minute, and its values are gathered', async () => {
  const { mark, apply, gathered } = await createWorld(true)
  await apply(1)
  await mark(7)
  await apply(8)
  await apply(9)
  expect(await marked()).toEqual([
    [1, [1]],
    [2, 'all'],
    [3, [9]],
  ])
  expect(gathered.take({ partitions: [0], covered: [0], upTo: [3] }).missing).toEqual({
    partitions: [],
    covered: [],
    upTo: [],
  })
})

it('a minute that is marked whole under their position stays so, whichever comes first', async () => {
  for (const isFirst of [true, false]) {
    const { mark, apply, reapply } = await createWorld(true)
    await apply(1)
    if (isFirst) await mark(7)
    await reapply(20)
    await mark(9)
    expect((await marked()).at(-1)).toEqual([calls.offset + 1, 'all'])
    await apply(2)
  }
})

it('minutes are marked where others write the tables too', async () => {
  const { mark } = await createWorld(false)
  await mark(7)
  expect(await marked()).toEqual([[1, 'all']])
})
