// A worker that gets batches of several partitions: one insert, a position for each, rows that keep their place.
import { expect, it } from 'vitest'
import { batchMembers, combined } from '../../services/core/log/combined-batch.ts'
import type { Batch, Log, Position } from '../../services/core/log/log.ts'
import type { Progress } from '../../services/core/log/progress.ts'
import { type Store, StoreError } from '../../services/core/store/store.ts'
import { topicNames } from '../../services/events/registry.ts'
import { segmentRows } from '../../services/events/segment-rows.ts'
import type { DeadLetter, DeadLetters } from '../../services/worker/dead-letters/dead-letters.ts'
import { startWorker } from '../../services/worker/run.ts'
import { noInFlight } from '../../services/worker/split/in-flight.ts'

const row = (partition: number, n: number): string => `{"project_id":"p","id":"${partition}-${n}"}\n`

/** Two records of two rows each. */
const batchOf = (partition: number, more: Partial<Batch> = {}): Batch => ({
  topic: 'objects',
  partition,
  firstOffset: 11,
  lastOffset: 12,
  rowCount: 4,
  patchCount: 1,
  oldestMs: 100 - partition,
  records: [11, 12].map((offset) => ({ offset, version: 1, rowCount: 2, patchCount: 0, clock: 1n, sizeBytes: 70 })),
  source: { bytes: [0, 2].map((n) => Buffer.from(row(partition, n) + row(partition, n + 1))) },
  ...more,
})

const parts = [batchOf(3), batchOf(0), batchOf(7)] as const

it('batches of several partitions become one with the rows of all', async () => {
  const [first, ...others] = parts
  const batch = combined(first, [...others])
  expect(batch).toMatchObject({ partition: 3, lastOffset: 12, rowCount: 12, patchCount: 3, oldestMs: 93 })
  expect(batchMembers(batch)).toEqual(parts)
  const places = (await segmentRows(batch)).map(
    ({ partition, offset, rowIndex, text }) => `${partition}/${offset}/${rowIndex} ${JSON.parse(`${text}`).id}`,
  )
  expect(places).toEqual(
    [3, 0, 7].flatMap((p) => [`${p}/11/0 ${p}-0`, `${p}/11/1 ${p}-1`, `${p}/12/0 ${p}-2`, `${p}/12/1 ${p}-3`]),
  )
  expect(combined(first, [])).toBe(first)
})

/** A worker that finds these batches; the first commits of these partitions fail. */
function start(insert: (lines: string[]) => void, failing: number[] = []) {
  const stopped = Promise.withResolvers<void>()
  const inserts: number[] = []
  const commits: Position[] = []
  const applied: Position[] = []
  const letters: DeadLetter[] = []
  const begun: number[] = []
  const [first, ...others] = parts
  const log: Partial<Log> = {
    topics: topicNames,
    async *consume(topic) {
      if (topic === 'objects') yield first
      if (topic === 'objects') stopped.resolve()
    },
    takeMore: (topic, bytes) => (topic === 'objects' && bytes > 1_000 ? [...others] : []),
    async commit(position) {
      const at = failing.indexOf(position.partition)
      if (at !== -1) {
        failing.splice(at, 1)
        throw Object.assign(new Error('joining'), { code: 'EAGAIN' })
      }
      commits.push(position)
    },
    committed: async () => [],
    partitions: () => 1,
    owns: () => false,
  }
  const store: Partial<Store> = {
    async insert(_topic, source) {
      const lines = Buffer.concat((source as { bytes: Buffer[] }).bytes)
        .toString()
        .split('\n')
        .slice(0, -1)
      inserts.push(lines.length)
      insert(lines)
      return { rowsRead: lines.length }
    },
    rows: async () => [],
    command: async () => {},
  }
  const worker = startWorker({
    log: log as Log,
    store: store as Store,
    progress: { applied: (position: Position) => void applied.push(position), offset: () => 0 } as unknown as Progress,
    deadLetters: { add: async (letter: DeadLetter) => void letters.push(letter) } as unknown as DeadLetters,
    inFlight: {
      ...noInFlight,
      begin: ({ partition }) => begun.push(partition) * 0,
      end: ({ partition }) => void begun.push(-partition),
    },
    onFatal: stopped.reject,
  })
  return { inserts, commits, applied, letters, begun, done: stopped.promise.then(() => worker.stop()) }
}

const positions = (found: Position[]) => found.map(({ partition, offset }) => `${partition}=${offset}`).sort()

it('a combined batch is inserted at once, and the position of each partition moves', async () => {
  const { inserts, commits, applied, begun, done } = start(() => {}, [7])
  await done
  expect(inserts).toEqual([12])
  const all = ['0=12', '3=12', '7=12']
  // The commit that failed was tried again; the others may have been repeated with it.
  expect([...new Set(positions(commits))]).toEqual(all)
  expect(positions(applied)).toEqual(all)
  expect(begun).toEqual([3, 0, 7, -3, -0, -7])
})

it('a refused row of a combined batch becomes a dead letter that names its own partition', async () => {
  const { letters, commits, done } = start((lines) => {
    if (lines.some((line) => line.includes('"7-2"'))) throw new StoreError('data', 117, 'poison')
  })
  await done
  expect(letters).toMatchObject([{ topic: 'objects', partition: 7, offset: 12, rowIndex: 0 }])
  expect(positions(commits)).toEqual(['0=12', '3=12', '7=12'])
})
