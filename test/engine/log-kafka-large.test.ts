// tier: deep kafka
// Records that no message can hold: their rows go through blob storage, on a real broker.
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { createFolderBlobs } from '../../services/core/blobs/blobs.ts'
import { removeOlder } from '../../services/core/blobs/expiry.ts'
import { Refusal, unavailable } from '../../services/core/errors.ts'
import type { KafkaLogOptions } from '../../services/core/log/kafka/client.ts'
import { createKafkaLog } from '../../services/core/log/kafka/kafka-log.ts'
import { createLargeRecords, type LargeRecords } from '../../services/core/log/kafka/large-records.ts'
import { eventually } from '../fixtures/eventually.ts'
import { kafkaBrokers, kafkaSettings } from '../fixtures/kafka.ts'
import { applyRows, recordOf, temporaryFolder } from '../fixtures/log.ts'

// Starting a broker takes longer than a test may.
beforeAll(() => kafkaBrokers())

/** Logs over the same topics, and a place for large records that can be made to fail. */
async function cluster(more: Partial<KafkaLogOptions> = {}) {
  const dir = join(await temporaryFolder(), 'log-records')
  const kept = createLargeRecords(await createFolderBlobs({ dir, minFreeBytes: 0 }))
  const storage = { isDown: false, pointers: [] as Buffer[], loads: 0 }
  const largeRecords: LargeRecords = {
    async keep(rows) {
      if (storage.isDown) throw unavailable('Blob storage is not available')
      const pointer = await kept.keep(rows)
      storage.pointers.push(pointer)
      return pointer
    },
    async load(pointer, sizeBytes) {
      storage.loads++
      if (storage.isDown) throw new Error('Blob storage is not available')
      return kept.load(pointer, sizeBytes)
    },
  }
  const settings = kafkaSettings(await kafkaBrokers(), { largeRecords, ...more })
  const open = async (own: Partial<KafkaLogOptions> = {}) => {
    const log = await createKafkaLog({ ...settings, ...own })
    onTestFinished(() => log.close())
    return log
  }
  return { open, storage }
}

const large = (mebibytes: number) => ({ text: 'x'.repeat(mebibytes * 2 ** 20) })
const row = (id: string, more: object) => Buffer.from(`${JSON.stringify({ project_id: 'p', id, ...more })}\n`)

test('rows larger than a message come whole and in order, and again to the next worker', async () => {
  const { open, storage } = await cluster()
  const log = await open()
  const rows = Buffer.concat([row('a', {}), row('b', large(20)), row('c', {}), row('d', large(9))])
  const record = { ...recordOf(['a', 'b', 'c', 'd']), rows, rowCount: 4 }
  expect(await log.append('objects', [record])).toEqual({ topic: 'objects', partition: 0, offset: 4 })
  await log.append('objects', [recordOf(['e'])])
  expect(storage.pointers.length).toBe(2)
  const first = await applyRows(log, 'objects', 1, { commit: false })
  expect(first.ids[0]).toBe('a')
  await log.close()

  const next = await open()
  const { batches, ids } = await applyRows(next, 'objects', 5)
  expect(ids).toEqual(['a', 'b', 'c', 'd', 'e'])
  const bytes = batches.flatMap(({ source }) => ('bytes' in source ? source.bytes : []))
  expect(Buffer.concat(bytes).subarray(0, rows.length).equals(rows)).toBe(true)
  const sizes = batches.flatMap(({ records }) => records.map(({ sizeBytes }) => sizeBytes))
  expect(sizes).toEqual(bytes.map(({ length }) => length))
  // A batch is at most twice its usual size, or one record.
  for (const { records } of batches)
    expect(records.length === 1 || records.reduce((sum, one) => sum + one.sizeBytes, 0) <= 2 ** 24).toBe(true)
  expect(next.bufferedBytes()).toBe(0)
})

test('storage that is down refuses large records with 503, and delays only what lies in it', async () => {
  const { open, storage } = await cluster({ partitions: 2 })
  const log = await open()
  await log.append('calls', [{ ...recordOf(['a'], { key: '0' }), rows: row('a', large(9)) }])
  storage.isDown = true
  const refused = await log.append('calls', [{ ...recordOf(['b']), rows: row('b', large(9)) }]).catch((error) => error)
  expect(refused).toBeInstanceOf(Refusal)
  expect(refused).toMatchObject({ kind: 'unavailable', retryAfterSeconds: 1 })
  await log.append('calls', [recordOf(['c'], { key: '1' })])

  const ids: string[] = []
  const stop = new AbortController()
  const applying = (async () => {
    for await (const batch of log.consume('calls', stop.signal)) {
      for (const line of Buffer.concat((batch.source as { bytes: Buffer[] }).bytes)
        .toString()
        .trimEnd()
        .split('\n'))
        ids.push((JSON.parse(line) as { id: string }).id)
      await log.commit({ topic: 'calls', partition: batch.partition, offset: batch.lastOffset })
    }
  })()
  await eventually(() => expect([ids, storage.loads > 1]).toEqual([['c'], true]))
  expect(log.health()).toMatchObject({ status: 'degraded', reason: 'Blob storage is not available' })
  storage.isDown = false
  await eventually(() => expect(ids).toEqual(['c', 'a']))
  expect(log.health().status).toBe('ok')
  stop.abort()
  await applying
})

test('stored contents are compared with the kept ones, and only old ones are removed', async () => {
  const dir = join(await temporaryFolder(), 'log-records')
  const records = createLargeRecords(await createFolderBlobs({ dir, minFreeBytes: 0 }))
  const rows = Buffer.from('{"a":1}\n')
  const [one, two] = [await records.keep(rows), await records.keep(rows)]
  expect(one.equals(two)).toBe(false)
  expect(await records.load(one, rows.length)).toEqual(rows)
  await expect(records.load(one, rows.length - 1)).rejects.toThrow('is not the rows')
  await expect(records.load(one, rows.length + 1)).rejects.toThrow('is not the rows')
  const other = Buffer.concat([Buffer.alloc(64, 'a'), one.subarray(64)])
  await expect(records.load(other, rows.length)).rejects.toThrow('is not the rows')
  expect(await removeOlder(dir, Date.now() - 60_000)).toBe(0)
  expect(await removeOlder(dir, Date.now() + 60_000)).toBe(2)
  expect(await removeOlder(join(dir, 'nowhere'), 0)).toBe(0)
  await expect(records.load(one, rows.length)).rejects.toThrow(/cannot be read from blob storage .*ENOENT/)
})
