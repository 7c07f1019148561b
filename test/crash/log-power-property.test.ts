// The machine stops at any operation of the embedded log and loses what no sync has made durable.
// again: property
import { expect, test } from 'vitest'
import { readSegments } from '../../services/core/log/segments/read.ts'
import { createEmbeddedLog, type EmbeddedLog } from '../../services/core/log/segments/segment-log.ts'
import { defaults, recordOf, temporaryFolder } from '../fixtures/log.ts'
import { createLosingDisk, type LosingDisk } from '../fixtures/losing-disk.ts'
import { createRandom, type Random } from '../fixtures/random.ts'
import { limitMs, runs } from '../fixtures/runs.ts'

const topic = 'calls'

type Written = { acknowledged: Map<number, string>; committed: number; next: number }

const openOn = (disk: LosingDisk, dir: string): Promise<EmbeddedLog> =>
  createEmbeddedLog({ ...defaults, dir, fs: disk.fs, lock: { check() {} }, segmentBytes: 40_000 })

async function recordsOf(disk: LosingDisk, dir: string): Promise<Map<number, string>> {
  const found = new Map<number, string>()
  for await (const { header, rows } of readSegments({ dir, topic, fs: disk.fs }))
    found.set(header.offset, (JSON.parse(rows.toString()) as { id: string }).id)
  return found
}

/** Appends, applies and archives until the machine stops. */
async function live(log: EmbeddedLog, random: Random, written: Written): Promise<void> {
  const controller = new AbortController()
  async function write(): Promise<void> {
    for (;;) {
      const id = `${written.next++}`
      const text = 'y'.repeat(random.below(random.chance(0.1) ? 30_000 : 2_000))
      const { offset } = await log.append(topic, [recordOf([id], { text })])
      written.acknowledged.set(offset, id)
    }
  }
  async function apply(): Promise<void> {
    for await (const { lastOffset } of log.consume(topic, controller.signal)) {
      await log.commit({ topic, partition: 0, offset: lastOffset })
      written.committed = lastOffset
      if (random.chance(0.1)) await log.tidy()
    }
  }
  await Promise.all([write(), write(), write(), apply()].map((each) => each.catch(() => controller.abort())))
}

test(
  'acknowledged records are there after a machine has stopped at any operation, as often as it stops',
  async () => {
    const dir = await temporaryFolder()
    let onSpares = 0
    for (let seed = 1; seed <= runs(15, 600); seed++) {
      const random = createRandom(seed)
      let disk = createLosingDisk(random)
      const written: Written = { acknowledged: new Map(), committed: 0, next: 0 }
      for (let round = 0; round < 4; round++) {
        const log = await openOn(disk, dir)
        // No stop of a machine looks as if a disk had lost what was synced.
        expect(log.health().lost, `seed ${seed}, round ${round}`).toBeUndefined()
        const found = await recordsOf(disk, dir)
        const lost = [...written.acknowledged].filter(([offset, id]) => found.get(offset) !== id)
        expect(lost, `seed ${seed}, round ${round}`).toEqual([])
        expect([...found.keys()], `seed ${seed}, round ${round}`).toEqual(Array.from(found, (_, at) => at + 1))
        expect((await log.committed(topic))[0]?.offset).toBeGreaterThanOrEqual(written.committed)
        for (const [offset, id] of found) written.acknowledged.set(offset, id)
        disk.stopAfter(random.below(400))
        await live(log, random, written)
        expect(disk.isStopped()).toBe(true)
        const { segments, dirSyncs } = log.counters()
        onSpares += segments - dirSyncs
        await log.close().catch(() => {})
        disk = disk.restart()
      }
    }
    expect(onSpares).toBeGreaterThan(runs(20, 400))
  },
  limitMs(120_000),
)
