// Applied segments of the embedded log: merged and compressed, readable for the retention time, then removed.
import { copyFile, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { readSegments } from '../../services/core/log/segments/read.ts'
import type { EmbeddedLog } from '../../services/core/log/segments/segment-log.ts'
import { isSpare } from '../../services/core/log/segments/spares.ts'
import { applyRows, controlledFs, openLog, recordOf, temporaryFolder } from '../fixtures/log.ts'

const files = async (dir: string): Promise<string[]> =>
  (await readdir(join(dir, 'calls'))).filter((name) => !['position', 'id'].includes(name) && !isSpare(name)).sort()

async function read(dir: string, range: { fromOffset?: number; toOffset?: number } = {}): Promise<string[]> {
  const found: string[] = []
  for await (const { header, rows } of readSegments({ dir, topic: 'calls', ...range }))
    found.push(`${header.offset}=${rows.toString().match(/"id":"([^"]*)"/)?.[1]}`)
  return found
}

/** Appends and applies segments of one record each. */
async function applySegments(log: EmbeddedLog, ids: string[]): Promise<void> {
  for (const id of ids) {
    await log.append('calls', [recordOf([id])])
    await applyRows(log, 'calls', 1)
  }
}

const plain = (offset: number): string => `${String(offset).padStart(16, '0')}.jsonl`
const archive = (first: number, last: number): string =>
  `${String(first).padStart(16, '0')}-${String(last).padStart(16, '0')}.jsonl.zst`

test('applied segments are merged into archives, the newest stays as it is', async () => {
  const dir = await temporaryFolder()
  const log = await openLog(dir)
  await applySegments(log, ['a', 'b', 'c', 'd'])
  await log.append('calls', [recordOf(['e'])])
  await log.tidy()
  expect(await files(dir)).toEqual([archive(1, 3), plain(4), plain(5)])
  expect(await read(dir)).toEqual(['1=a', '2=b', '3=c', '4=d', '5=e'])
  expect(await read(dir, { fromOffset: 2, toOffset: 4 })).toEqual(['2=b', '3=c', '4=d'])
})

test('archives have the size of a segment', async () => {
  const dir = await temporaryFolder()
  const log = await openLog(dir, { segmentBytes: 500 })
  await applySegments(log, ['a', 'b', 'c', 'd', 'e', 'f'])
  await log.tidy()
  expect(await files(dir)).toEqual([archive(1, 2), archive(3, 4), archive(5, 5), plain(6)])
  expect(await read(dir)).toEqual(['1=a', '2=b', '3=c', '4=d', '5=e', '6=f'])
})

test('records come back byte for byte', async () => {
  const dir = await temporaryFolder()
  const log = await openLog(dir)
  const rows = Buffer.from('{"id":"a","n":1.0,\n "m":12345678901234567890}\n{}\n')
  for (const bytes of [rows, Buffer.from('{}\n'), rows]) {
    await log.append('calls', [{ ...recordOf(['a']), rows: bytes }])
    for await (const { lastOffset: offset } of log.consume('calls', new AbortController().signal)) {
      await log.commit({ topic: 'calls', partition: 0, offset })
      break
    }
  }
  await log.tidy()
  const found: Buffer[] = []
  for await (const record of readSegments({ dir, topic: 'calls' })) found.push(record.rows)
  expect(found).toEqual([rows, Buffer.from('{}\n'), rows])
})

test('a restart goes on after archives, with offset and clock', async () => {
  const dir = await temporaryFolder()
  let log = await openLog(dir)
  await log.append('calls', [recordOf(['first'], { clock: 99n })])
  await applyRows(log, 'calls', 1)
  await applySegments(log, ['b', 'c'])
  await log.tidy()
  await log.close()
  log = await openLog(dir)
  expect(log.lastClock()).toBe(99n)
  expect(log.health().unappliedBytes).toBe(0)
  expect((await log.append('calls', [recordOf(['d'])])).offset).toBe(4)
  await applyRows(log, 'calls', 1)
  await log.tidy()
  expect(await read(dir)).toEqual(['1=first', '2=b', '3=c', '4=d'])
})

test('a segment older than the retention time is removed when the tables are known to hold it, the newest segment never', async () => {
  const dir = await temporaryFolder()
  let log = await openLog(dir, { retentionMs: 3_600_000 })
  await applySegments(log, ['a', 'b', 'c'])
  await log.tidy()
  await applySegments(log, ['d', 'e'])
  expect(await files(dir)).toEqual([archive(1, 2), plain(3), plain(4), plain(5)])
  for (const name of await files(dir)) await utimes(join(dir, 'calls', name), 1, 1)
  await log.tidy()
  expect(await files(dir)).toContain(archive(1, 2))
  log.remembered([{ topic: 'calls', partition: 0, offset: 3 }])
  await log.tidy()
  expect(await files(dir)).toEqual([archive(3, 4), plain(5)])
  expect((await log.identity())[0]).toMatchObject({ topic: 'calls', kept: [{ partition: 0, first: 3, end: 5 }] })
  for (const name of await files(dir)) await utimes(join(dir, 'calls', name), 1, 1)
  log.remembered([{ topic: 'calls', partition: 0, offset: 5 }])
  await log.tidy()
  expect(await files(dir)).toEqual([plain(5)])
  await log.close()
  log = await openLog(dir, { retentionMs: 3_600_000 })
  await log.tidy()
  expect(await files(dir)).toEqual([plain(5)])
  expect((await log.append('calls', [recordOf(['f'])])).offset).toBe(6)
  expect(await read(dir)).toEqual(['5=e', '6=f'])
  expect(await read(dir, { fromOffset: 2 })).toEqual(['5=e', '6=f'])
})

test('a segment older than the age at which data of some project is hidden is removed sooner', async () => {
  const dir = await temporaryFolder()
  let hiddenAfterMs = Number.POSITIVE_INFINITY
  const log = await openLog(dir, { retentionMs: 36_000_000, hiddenAfterMs: () => hiddenAfterMs })
  await applySegments(log, ['a', 'b', 'c'])
  await log.tidy()
  const anHourAgo = Date.now() / 1_000 - 3_600
  for (const name of await files(dir)) await utimes(join(dir, 'calls', name), anHourAgo, anHourAgo)
  log.remembered([{ topic: 'calls', partition: 0, offset: 3 }])
  await log.tidy()
  expect(await files(dir)).toContain(archive(1, 2))
  hiddenAfterMs = 1_800_000
  await log.tidy()
  expect(await files(dir)).toEqual([plain(3)])
  await log.close()
})

test('unapplied segments are never removed, however old', async () => {
  const dir = await temporaryFolder()
  const log = await openLog(dir, { retentionMs: 0, segmentBytes: 300 })
  for (const id of ['a', 'b', 'c']) await log.append('calls', [recordOf([id])])
  for (const name of await files(dir)) await utimes(join(dir, 'calls', name), 1, 1)
  await log.tidy()
  expect((await applyRows(log, 'calls', 3)).ids).toEqual(['a', 'b', 'c'])
})

test('a crash between an archive and the removal of its segments doubles nothing', async () => {
  const dir = await temporaryFolder()
  let log = await openLog(dir)
  await applySegments(log, ['a', 'b', 'c'])
  const kept = await temporaryFolder()
  for (const name of [plain(1), plain(2)]) await copyFile(join(dir, 'calls', name), join(kept, name))
  await log.tidy()
  await log.close()
  for (const name of [plain(1), plain(2)]) await copyFile(join(kept, name), join(dir, 'calls', name))
  expect(await read(dir)).toEqual(['1=a', '2=b', '3=c'])
  log = await openLog(dir)
  expect(await files(dir)).toEqual([archive(1, 2), plain(3)])
  expect(await read(dir)).toEqual(['1=a', '2=b', '3=c'])
})

test('when an archive cannot be written the segments stay', async () => {
  for (const operation of ['writev', 'datasync', 'rename'] as const) {
    const control = controlledFs('.zst')
    const dir = await temporaryFolder()
    const log = await openLog(dir, { fs: control.fs })
    await applySegments(log, ['a', 'b', 'c'])
    control.fail(operation, 'EIO')
    await log.tidy()
    expect((await files(dir)).filter((name) => !name.endsWith('.tmp'))).toEqual([plain(1), plain(2), plain(3)])
    await log.tidy()
    expect(await files(dir)).toEqual([archive(1, 2), plain(3)])
  }
})

test('a damaged segment is not archived and stops no other', async () => {
  const dir = await temporaryFolder()
  let log = await openLog(dir)
  await applySegments(log, ['a', 'b', 'c', 'd', 'e'])
  const bytes = await readFile(join(dir, 'calls', plain(2)))
  await writeFile(join(dir, 'calls', plain(2)), bytes.fill('x', 170, 171))
  await log.tidy()
  const expected = [archive(1, 1), plain(2), archive(3, 4), plain(5)].sort()
  expect(await files(dir)).toEqual(expected)
  await log.close()
  log = await openLog(dir)
  expect(await files(dir)).toEqual(expected)
  expect(await read(dir, { fromOffset: 3 })).toEqual(['3=c', '4=d', '5=e'])
  await expect(read(dir)).rejects.toThrow(/damaged at byte 0: checksum of record 2/)
})

test('without the position file everything that is retained is applied again, archives included', async () => {
  const dir = await temporaryFolder()
  let log = await openLog(dir)
  await applySegments(log, ['a', 'b', 'c'])
  await log.tidy()
  await log.append('calls', [recordOf(['d'])])
  await log.close()
  await rm(join(dir, 'calls', 'position'))
  for (const name of await files(dir)) await utimes(join(dir, 'calls', name), 1, 1)
  log = await openLog(dir)
  await log.tidy()
  const { ids, batches } = await applyRows(log, 'calls', 4)
  expect(ids).toEqual(['a', 'b', 'c', 'd'])
  expect(batches[0]).toMatchObject({ firstOffset: 1, lastOffset: 2, rowCount: 2 })
  expect(await files(dir)).toEqual([archive(1, 2), plain(3), plain(4)])
  expect(log.health().unappliedBytes).toBe(0)
  log.remembered([{ topic: 'calls', partition: 0, offset: 4 }])
  await log.tidy()
  expect(await files(dir)).toEqual([plain(4)])
})

test('records can be read while the log archives and appends', async () => {
  const dir = await temporaryFolder()
  const log = await openLog(dir)
  await applySegments(log, ['a', 'b', 'c', 'd'])
  const found: number[] = []
  for await (const { header } of readSegments({ dir, topic: 'calls' })) {
    found.push(header.offset)
    if (header.offset === 1) await log.tidy()
    if (header.offset === 2) await log.append('calls', [recordOf(['e'])])
  }
  expect(found).toEqual([1, 2, 3, 4, 5])
})

test('applied records are archived by themselves once they fill a segment and the log is quiet', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const dir = await temporaryFolder()
  const log = await openLog(dir, { segmentBytes: 500 })
  const apply = async (id: string): Promise<void> => {
    const applied = applyRows(log, 'calls', 1)
    await log.append('calls', [recordOf([id])])
    log.flush('calls')
    vi.advanceTimersByTime(1)
    await applied
  }
  await apply('a')
  await apply('b')
  vi.advanceTimersByTime(60_000)
  for (const id of ['c', 'd']) await apply(id)
  vi.advanceTimersByTime(2_000)
  while (!(await files(dir)).includes(archive(1, 2)));
  expect(await files(dir)).toContain(plain(3))
  while (!(await files(dir)).includes(archive(3, 3))) vi.advanceTimersByTime(10_000)
  expect(await read(dir)).toEqual(['1=a', '2=b', '3=c', '4=d'])
})
