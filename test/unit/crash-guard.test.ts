// A batch that ends the process although every row of it survives by itself in a child: it comes to an end.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { Batch, Log, Position } from '../../services/core/log/log.ts'
import type { Progress } from '../../services/core/log/progress.ts'
import { type Store, StoreError } from '../../services/core/store/store.ts'
import { topicNames } from '../../services/events/registry.ts'
import type { DeadLetter, DeadLetters } from '../../services/worker/dead-letters/dead-letters.ts'
import { startWorker } from '../../services/worker/run.ts'
import { createInFlight } from '../../services/worker/split/in-flight.ts'

const rowCount = 1_000
const ids = Array.from({ length: rowCount }, (_, n) => `row-${n}`)
const batch: Batch = {
  topic: 'objects',
  partition: 0,
  firstOffset: 1,
  lastOffset: 1,
  rowCount,
  patchCount: 0,
  oldestMs: 0,
  records: [{ offset: 1, version: 1, rowCount, patchCount: 0, clock: 1n, sizeBytes: 1 }],
  source: { bytes: [Buffer.from(ids.map((id) => `{"project_id":"p","object_id":"${id}"}\n`).join(''))] },
}

/** Starts a process after the other until one has committed the batch. `ends` says which inserts end it. */
async function starts(ends: (ids: string[]) => boolean, refuses = (_: string[]) => false) {
  const dir = await mkdtemp(join(tmpdir(), 'callhouse-ends-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  const stored = new Map<string, number>()
  const letters: DeadLetter[] = []
  let refusals = 0
  for (let count = 1; count <= 40; count++) {
    const outcome = Promise.withResolvers<'ended' | 'committed'>()
    const store: Pick<Store, 'insert' | 'rows' | 'command'> = {
      async insert(_, source) {
        const found = Buffer.concat((source as { bytes: Buffer[] }).bytes)
          .toString()
          .match(/row-\d+/g) as string[]
        if (ends(found)) {
          outcome.resolve('ended')
          await new Promise(() => {})
        }
        if (refuses(found) && refusals++ < 2) throw new StoreError('outage', 0, 'away')
        for (const id of found) stored.set(id, (stored.get(id) ?? 0) + 1)
        return { rowsRead: found.length }
      },
      rows: async () => [],
      command: async () => {},
    }
    const log: Pick<Log, 'topics' | 'consume' | 'commit' | 'committed' | 'takeMore' | 'owns' | 'partitions'> = {
      topics: topicNames,
      async *consume(topic) {
        if (topic === 'objects') yield batch
      },
      commit: async (_: Position) => outcome.resolve('committed'),
      committed: async () => [],
      takeMore: () => [],
      partitions: () => 1,
      owns: () => false,
    }
    const worker = startWorker({
      log: log as Log,
      store: store as Store,
      inFlight: createInFlight(dir),
      progress: { applied() {}, offset: () => 0 } as unknown as Progress,
      deadLetters: { add: async (letter: DeadLetter) => void letters.push(letter) } as unknown as DeadLetters,
      probe: async () => 'survived',
      onFatal: outcome.reject,
    })
    if ((await outcome.promise) === 'ended') continue
    await worker.stop()
    return { count, stored, letters }
  }
  throw new Error('forty starts were not enough')
}

it('a batch of which two rows end the process only together goes in as smaller ones', async () => {
  const { count, stored, letters } = await starts((rows) => rows.includes('row-500') && rows.includes('row-503'))
  expect(letters).toEqual([])
  expect([...stored.keys()].sort()).toEqual([...ids].sort())
  // A row that went in once is not tried again at the next start.
  expect(Math.max(...stored.values())).toBe(1)
  expect(count).toBeLessThan(9)
})

it('a batch loses the one row that ends the process also when it comes alone', async () => {
  const { count, stored, letters } = await starts((rows) => rows.includes('row-123'))
  expect(letters).toMatchObject([
    { topic: 'objects', offset: 1, rowIndex: 123, row: expect.stringContaining('row-123') },
  ])
  expect(stored.size).toBe(rowCount - 1)
  expect(count).toBeLessThan(12)
})

it('a batch that ended the process loses no row to an outage that comes then', async () => {
  const alone = (rows: string[]) => rows.length === 1 && rows[0] === 'row-500'
  const { stored, letters } = await starts((rows) => rows.includes('row-500') && rows.length > 1, alone)
  expect(letters).toEqual([])
  expect(stored.size).toBe(rowCount)
})
