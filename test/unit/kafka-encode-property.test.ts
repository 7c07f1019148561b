// Produce requests that we encode are byte for byte those of kafkajs, and the lag of a partition is counted right.
// again: property
import { createRequire } from 'node:module'
import fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import { crc32c, encodeProduce, type ProduceFields } from '../../services/core/log/kafka/encode.ts'
import { createPartitionLag } from '../../services/core/log/kafka/lag.ts'
import { partitionOf, splitRecord } from '../../services/core/log/kafka/message.ts'
import { recordOf } from '../fixtures/log-record.ts'
import { runs } from '../fixtures/runs.ts'

type Encoded = { buffer: Buffer }
const produceV7 = createRequire(import.meta.url)('kafkajs/src/protocol/requests/produce/v7/request') as (
  fields: ProduceFields,
) => { encode(): Promise<Encoded> }

const ascii = fc.string({ unit: fc.constantFrom(...'abcXYZ019 .-_'), maxLength: 80 })
const message = fc.record({
  key: fc.option(fc.oneof(fc.string({ maxLength: 80 }), fc.constant(Buffer.from([0, 255])))),
  value: fc.oneof(
    { weight: 1, arbitrary: fc.constant(null) },
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    fc.constantFrom(0, 63, 64, 8_191, 8_192, 70_000).map((length) => Buffer.alloc(length, 7)),
  ),
  headers: fc.dictionary(
    ascii.filter((name) => name !== '' && name !== '__proto__'),
    ascii,
    { maxKeys: 3 },
  ),
})
const fields: fc.Arbitrary<ProduceFields> = fc.record({
  acks: fc.constant(-1),
  timeout: fc.integer({ min: 1, max: 60_000 }),
  compression: fc.constantFrom(0, 1),
  producerId: fc.bigInt({ min: -1n, max: 2n ** 62n }).map(String),
  producerEpoch: fc.integer({ min: 0, max: 32_000 }),
  topicData: fc.array(
    fc.record({
      topic: ascii,
      partitions: fc.array(
        fc.record({
          partition: fc.integer({ min: 0, max: 1_000 }),
          firstSequence: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
          messages: fc.oneof(
            fc.array(message, { minLength: 1, maxLength: 5 }),
            // record numbers of two bytes
            message.map((one) => new Array(70).fill({ ...one, value: (one.value ?? Buffer.alloc(0)).subarray(0, 20) })),
          ),
        }),
        { minLength: 1, maxLength: 3 },
      ),
    }),
    { minLength: 1, maxLength: 3 },
  ),
})

test('a request has the bytes that kafkajs would send', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  await fc.assert(
    fc.asyncProperty(fields, async (one) => {
      const theirs = await produceV7(one).encode()
      expect((await encodeProduce(one)).equals(theirs.buffer)).toBe(true)
    }),
    { numRuns: runs(150, 3000) },
  )
})

test('CRC-32C of known vectors', () => {
  const of = (bytes: Buffer) => crc32c(bytes, 0, bytes.length)
  // RFC 3720, B.4
  expect(of(Buffer.from('123456789'))).toBe(0xe3069283)
  expect(of(Buffer.alloc(32))).toBe(0x8a9136aa)
  expect(of(Buffer.alloc(32, 0xff))).toBe(0x62a8ab43)
  expect(of(Buffer.alloc(0))).toBe(0)
})

test('unapplied bytes and age of own appends are exact, whatever is committed when', () => {
  const step = fc.record({
    records: fc.integer({ min: 1, max: 3 }),
    each: fc.integer({ min: 1, max: 9 }),
    isSeen: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.array(fc.nat(200), { maxLength: 20 }), (steps, commits) => {
      const lag = createPartitionLag()
      const sizes: { bytes: number; atMs: number }[] = []
      for (const [atMs, { records, each, isSeen }] of steps.entries()) {
        const end = sizes.length + records
        for (let i = 0; i < records; i++) sizes.push({ bytes: each, atMs })
        // Another look-up may see the end before the producer hears of it.
        if (isSeen) lag.observed(end, atMs)
        lag.appended(end, records, records * each, atMs)
      }
      let position = 0
      const check = () => {
        const rest = sizes.slice(position)
        expect(lag.unappliedBytes()).toBe(rest.reduce((sum, { bytes }) => sum + bytes, 0))
        expect(lag.oldestMs()).toBe(rest[0]?.atMs ?? null)
        expect([lag.position(), lag.end()]).toEqual([position, sizes.length])
      }
      check()
      for (const commit of commits) {
        position = Math.max(position, Math.min(commit, sizes.length))
        lag.committed(Math.min(commit, sizes.length))
        check()
      }
    }),
  )
})

test('lag that lasts takes no more memory and keeps its sum and its age', () => {
  const lag = createPartitionLag()
  for (let n = 1; n <= 100_000; n++) lag.appended(n, 1, 10, n)
  expect(lag.unappliedBytes()).toBe(1_000_000)
  expect(lag.oldestMs()).toBe(1)
  lag.committed(50_000)
  expect(Math.abs(lag.unappliedBytes() - 500_000)).toBeLessThan(20_000)
  lag.committed(100_000)
  expect([lag.unappliedBytes(), lag.oldestMs()]).toEqual([0, null])
})

test('appends of others count with the mean size of the known ones', () => {
  const lag = createPartitionLag()
  lag.committed(10)
  lag.appended(12, 2, 400, 1)
  lag.observed(15, 2)
  expect(lag.unappliedBytes()).toBe(1_000)
  lag.committed(13)
  expect([lag.unappliedBytes(), lag.oldestMs(), lag.position()]).toEqual([400, 2, 13])
  lag.committed(5)
  expect(lag.position()).toBe(13)
})

test('records are split between rows only, and keys find their partition', () => {
  const record = recordOf(['a', 'b', 'c', 'd'])
  const row = record.rows.length / 4
  expect(splitRecord(record, record.rows.length)).toEqual([record])
  const parts = splitRecord(record, 2 * row + 1)
  expect(parts.map(({ rowCount }) => rowCount)).toEqual([2, 2])
  expect(Buffer.concat(parts.map(({ rows }) => rows))).toEqual(record.rows)
  expect(splitRecord(record, row - 1).map(({ rowCount }) => rowCount)).toEqual([1, 1, 1, 1])
  const odd = { ...record, patchCount: 1 }
  expect(splitRecord(odd, row)).toEqual([odd])
  expect(splitRecord({ ...record, patchCount: 4 }, row).map(({ patchCount }) => patchCount)).toEqual([1, 1, 1, 1])
  const short = { ...record, rowCount: 3 }
  expect(splitRecord(short, row)).toEqual([short])
  const mixed = Buffer.from(
    '{"kind":"complete","id":"a"}\n{"kind":"end","id":"bbbbbbb"}\n{"kind":"complete","id":"c"}\n',
  )
  const split = splitRecord({ ...record, rows: mixed, rowCount: 3, patchCount: 1 }, 60)
  expect(split.map(({ rowCount, patchCount }) => [rowCount, patchCount])).toEqual([
    [2, 1],
    [1, 0],
  ])
  expect(['0', '5', '6'].map((key) => partitionOf(key, 6))).toEqual([0, 5, partitionOf('6', 6)])
  const spread = new Set(Array.from({ length: 100 }, (_, n) => partitionOf(`a/b/${n}`, 6)))
  expect(spread.size).toBe(6)
})
