// The order property: whatever the order, batching, redelivery, crashes and merges, a call's row is the same.
// again: property
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSerialQueue } from '../../services/core/concurrency/serial-queue.ts'
import type { Batch } from '../../services/core/log/log.ts'
import { createEmbeddedStore } from '../../services/core/store/chdb/chdb-store.ts'
import type { Store } from '../../services/core/store/store.ts'
import { topics } from '../../services/events/registry.ts'
import { createDeduplication } from '../../services/worker/calls/deduplicate.ts'
import { createCallMaterializer } from '../../services/worker/calls/merge-fragments.ts'
import { createPartsHistory, expected, type PartRow, partRowOf, project, visible } from '../fixtures/call-parts.ts'
import { createRandom } from '../fixtures/random.ts'
import { limitMs, runs } from '../fixtures/runs.ts'
import { copyMigratedStore } from '../fixtures/setup.ts'

describe('rows of a call, in any order of arrival', () => {
  let dir: string
  let store: Store
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'callhouse-order-'))
    await copyMigratedStore(dir)
    store = await createEmbeddedStore({
      dir,
      memoryCapBytes: 2 ** 31,
      queryTimeoutMs: 60_000,
      queryMemoryBytes: 2 ** 30,
    })
    await store.migrate()
  })
  afterAll(async () => {
    await store.close()
    rmSync(dir, { recursive: true, force: true })
  })

  const run = async (seed: number, histories: number, first: number, sweep: boolean): Promise<void> => {
    const random = createRandom(seed)
    const all = Array.from({ length: histories }, (_, n) => createPartsHistory(random, first + n))
    const file = join(dir, `segment-${seed}.jsonl`)
    const merge = async (): Promise<void> => {
      if (!random.chance(0.4)) return
      const table = random.pick(['calls', 'call_patches', 'payloads'])
      await store.command({ name: 'merge', sql: `OPTIMIZE TABLE callhouse.${table} FINAL`, params: {} })
    }
    let materializer = createCallMaterializer(store)
    /** @param steps how many of the three steps of a batch are done before a crash */
    const apply = async (batch: Batch, steps: number): Promise<void> => {
      await materializer.beforeInsert(batch)
      if (steps > 0) {
        const { rowsRead } = await store.insert(topics.calls, { file })
        expect(rowsRead).toBe(batch.rowCount)
        await merge()
      }
      if (steps > 1) await materializer.afterInsert(batch)
      await merge()
    }
    for (let round = 0; all.some((h) => h.applied < h.parts.length); round++) {
      // each history is cut on its own; sometimes parts that were applied long ago come again
      const slices = all.map((h) => {
        const from = random.chance(0.1) ? random.below(h.applied + 1) : h.applied
        return { history: h, from, to: Math.min(h.parts.length, h.applied + 1 + random.below(3)) }
      })
      const rows = slices.flatMap(({ history, from, to }) =>
        history.parts.slice(from, to).map((part) => ({ part, row: partRowOf(history.id, part) })),
      )
      writeFileSync(file, `${rows.map(({ row }) => JSON.stringify(row)).join('\n')}\n`)
      const patchCount = rows.filter(({ part }) => part.kind !== 'complete').length
      const offset = round + 1
      const record = { offset, version: 1, rowCount: rows.length, patchCount, clock: 0n, sizeBytes: 0 }
      const batch: Batch = {
        topic: 'calls',
        partition: 0,
        firstOffset: offset,
        lastOffset: offset,
        records: [record],
        rowCount: rows.length,
        patchCount,
        source: { file },
        oldestMs: 0,
      }
      const crashAfter = round < 30 && random.chance(0.3) ? random.below(3) : 3
      await apply(batch, crashAfter)
      if (crashAfter < 3) materializer = createCallMaterializer(store)
      else for (const { history, to } of slices) history.applied = to
    }
    if (sweep)
      await createDeduplication({
        store,
        calls: materializer,
        queue: createSerialQueue(),
        committed: async () => [],
        next: async () => ({ partition: 0, offset: 1 }),
      }).all()
    const got = await store.rows<PartRow>({ name: 'visible', sql: visible, params: { project } })
    const mine = new Set(all.map((h) => h.id))
    const want = all.flatMap(expected)
    const key = (row: PartRow) => `${row.id} ${row.trace_id}`
    const byKey = (a: PartRow, b: PartRow) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0)
    expect(got.filter((row) => mine.has(row.id)).sort(byKey)).toEqual(want.sort(byKey))
  }

  // segments small enough that the look for other start times is part of every batch
  it.each(Array.from({ length: runs(1, 10) }, (_, n) => n + 1))(
    'is the model, hundreds of histories at once (seed %i)',
    (seed) => run(seed, runs(400, 1_000), seed * 100_000, false),
    limitMs(240_000),
  )

  it(
    'rows are those of the model after deduplication, for thousands of histories in large segments',
    () => run(99, runs(1_500, 10_000), 10_000_000, true),
    400_000,
  )
})
