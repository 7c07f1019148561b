// The embedded log when writing fails: what failed is never acknowledged, what was acknowledged stays.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { Refusal } from '../../services/core/errors.ts'
import { asFault, type Fault } from '../../services/core/http/errors.ts'
import { readSegments } from '../../services/core/log/segments/read.ts'
import type { EmbeddedLog } from '../../services/core/log/segments/segment-log.ts'
import { eventually } from '../fixtures/eventually.ts'
import { applyRows, controlledFs, openLog, recordOf, temporaryFolder } from '../fixtures/log.ts'

async function refusal(promise: Promise<unknown>): Promise<Fault> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(Refusal)
  return asFault(error) as Fault
}

const append = (log: EmbeddedLog, id: string) => log.append('calls', [recordOf([id])])

async function retained(dir: string): Promise<[number, string][]> {
  const found: [number, string][] = []
  for await (const { header, rows } of readSegments({ dir, topic: 'calls' }))
    found.push([header.offset, (JSON.parse(rows.toString()) as { id: string }).id])
  return found
}

const faults = [
  { name: 'write', arrange: (c: ReturnType<typeof controlledFs>) => c.fail('writev', 'EIO') },
  { name: 'half a write', arrange: (c: ReturnType<typeof controlledFs>) => c.fail('writev', 'ENOSPC', 1, 40) },
  {
    name: 'a write but for its last byte',
    arrange: (c: ReturnType<typeof controlledFs>) => c.fail('writev', 'ENOSPC', 1, 205),
  },
  { name: 'sync', arrange: (c: ReturnType<typeof controlledFs>) => c.fail('datasync', 'EIO') },
] as const

describe('a failed write', () => {
  for (const { name, arrange } of faults)
    for (const before of [[], ['a', 'b']])
      test(`${name} ${before.length === 0 ? 'of the first record of a segment' : 'in a growing segment'}`, async () => {
        const control = controlledFs()
        const dir = await temporaryFolder()
        let log = await openLog(dir, { fs: control.fs })
        for (const id of before) await append(log, id)
        arrange(control)
        const failed = ['x', 'y', 'z'].map((id) => refusal(append(log, id)))
        for (const fault of await Promise.all(failed)) {
          expect(fault.status).toBe(503)
          expect(fault.headers['Retry-After']).toBeDefined()
        }
        expect(log.health().status).toBe('degraded')
        expect(await log.end('calls')).toMatchObject([{ offset: before.length }])
        // Nothing of the failed group is left when the next one is accepted.
        expect(await retained(dir)).toEqual(before.map((id, index) => [index + 1, id]))
        expect((await append(log, 'c')).offset).toBe(before.length + 1)
        expect(log.health().status).toBe('ok')
        expect(log.counters().failedGroups).toBe(1)
        const expected = [...before, 'c']
        expect((await applyRows(log, 'calls', expected.length)).ids).toEqual(expected)
        expect(log.health().unappliedBytes).toBe(0)
        await log.close()
        log = await openLog(dir)
        expect(await retained(dir)).toEqual(expected.map((id, index) => [index + 1, id]))
        expect(await log.end('calls')).toMatchObject([{ offset: expected.length }])
      })

  test('appends that arrive while a failing write runs are written after the repair', async () => {
    const control = controlledFs()
    const dir = await temporaryFolder()
    const log = await openLog(dir, { fs: control.fs })
    await append(log, 'a')
    let later: Promise<{ offset: number }> | null = null
    control.onSync = () => {
      later ??= append(log, 'later')
    }
    control.fail('datasync', 'EIO')
    expect((await refusal(append(log, 'x'))).status).toBe(503)
    expect((await (later as unknown as Promise<{ offset: number }>)).offset).toBe(2)
    expect((await applyRows(log, 'calls', 2)).ids).toEqual(['a', 'later'])
  })

  test('a segment that cannot be created, or whose folder cannot be synced, acknowledges nothing', async () => {
    for (const operation of ['open', 'syncDir'] as const) {
      const control = controlledFs()
      const dir = await temporaryFolder()
      const log = await openLog(dir, { fs: control.fs })
      control.fail(operation, 'EIO')
      expect((await refusal(append(log, 'x'))).status).toBe(503)
      expect((await readdir(join(dir, 'calls'))).filter((name) => name.endsWith('.jsonl'))).toEqual([])
      expect((await append(log, 'a')).offset).toBe(1)
      expect((await applyRows(log, 'calls', 1)).ids).toEqual(['a'])
    }
  })

  test('a failure that cannot be undone yet is undone later, by itself; nothing acknowledged is lost', async () => {
    for (const operation of ['truncate', 'open', 'datasync', 'syncDir'] as const) {
      const control = controlledFs()
      const dir = await temporaryFolder()
      let log = await openLog(dir, { fs: control.fs })
      // Only a segment without records has its folder synced.
      const before = operation === 'syncDir' ? [] : ['a', 'b']
      for (const id of before) await append(log, id)
      control.fail('datasync', 'EIO')
      control.fail(operation, 'EMFILE', Number.POSITIVE_INFINITY)
      expect((await refusal(append(log, 'x'))).status).toBe(503)
      expect(log.health()).toMatchObject({
        status: 'down',
        reason: expect.stringMatching(/could not be undone; is tried/),
      })
      expect((await refusal(append(log, 'y'))).status).toBe(503)
      control.fail(operation, 'EMFILE', 0)
      await eventually(() =>
        expect(log.health()).toMatchObject({ status: 'degraded', reason: expect.stringMatching(/was undone/) }),
      )
      expect((await append(log, 'c')).offset).toBe(before.length + 1)
      expect(log.health().status).toBe('ok')
      expect((await applyRows(log, 'calls', before.length + 1)).ids).toEqual([...before, 'c'])
      await log.close()
      log = await openLog(dir)
      expect(await retained(dir)).toEqual([...before, 'c'].map((id, index) => [index + 1, id]))
    }
  })

  test('a log is closed while a failure waits to be undone', async () => {
    const control = controlledFs()
    const dir = await temporaryFolder()
    let log = await openLog(dir, { fs: control.fs })
    await append(log, 'a')
    control.fail('datasync', 'EIO', 1)
    control.fail('truncate', 'EMFILE', Number.POSITIVE_INFINITY)
    expect((await refusal(append(log, 'x'))).status).toBe(503)
    await log.close()
    log = await openLog(dir)
    expect((await applyRows(log, 'calls', 1)).ids[0]).toBe('a')
  })

  test('a failure that is no passing one stops acceptance until the restart; nothing acknowledged is lost', async () => {
    for (const operation of ['truncate', 'open', 'datasync'] as const) {
      const control = controlledFs()
      const dir = await temporaryFolder()
      let log = await openLog(dir, { fs: control.fs })
      await append(log, 'a')
      await append(log, 'b')
      control.fail('datasync', 'EROFS', operation === 'datasync' ? 2 : 1)
      if (operation !== 'datasync') control.fail(operation, 'EROFS')
      expect((await refusal(append(log, 'x'))).status).toBe(503)
      expect(log.health()).toMatchObject({ status: 'down' })
      expect(log.health().reason).toMatch(/could not be undone/)
      expect((await refusal(append(log, 'y'))).status).toBe(503)
      // The other topics go on.
      await log.append('files', [recordOf(['f'])])
      await log.close()
      log = await openLog(dir)
      // The failed record may be there after a restart, as after any crash; it was not acknowledged.
      const { ids } = await applyRows(log, 'calls', 2)
      expect(ids.slice(0, 2)).toEqual(['a', 'b'])
      expect(['', 'x']).toContain(ids.slice(2).join())
      expect(log.health().status).toBe('ok')
    }
  })

  test('a failed commit is not remembered, the next one works', async () => {
    const control = controlledFs('position')
    const dir = await temporaryFolder()
    let log = await openLog(dir, { fs: control.fs })
    await append(log, 'a')
    await append(log, 'b')
    await log.commit({ topic: 'calls', partition: 0, offset: 1 })
    control.fail('datasync', 'EIO')
    await expect(log.commit({ topic: 'calls', partition: 0, offset: 2 })).rejects.toThrow('EIO')
    expect(await log.committed('calls')).toMatchObject([{ offset: 1 }])
    await log.commit({ topic: 'calls', partition: 0, offset: 2 })
    await log.close()
    log = await openLog(dir)
    expect(await log.committed('calls')).toMatchObject([{ offset: 2 }])
  })
})

describe('disk space', () => {
  const useFakeClock = (): void => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => {
      vi.useRealTimers()
    })
  }

  test('appends are refused with 503 while too little of the disk is free, and accepted again afterwards', async () => {
    useFakeClock()
    const control = controlledFs()
    const log = await openLog(await temporaryFolder(), { fs: control.fs, minFreeBytes: 1000 })
    control.space.freeBytes = 999
    control.space.totalBytes = 2000
    expect((await refusal(append(log, 'a'))).status).toBe(503)
    expect(log.health()).toMatchObject({ status: 'degraded', unappliedBytes: 0 })
    expect(log.health().reason).toMatch(/Disk space is low/)
    expect(await log.end('calls')).toMatchObject([{ offset: 0 }])
    expect(log.counters().groups).toBe(0)
    control.space.freeBytes = 1000
    vi.advanceTimersByTime(1000)
    expect((await append(log, 'a')).offset).toBe(1)
    expect(log.health().status).toBe('ok')
    // The other way round: a disk that fills up is noticed within a second of writing.
    control.space.freeBytes = 999
    vi.advanceTimersByTime(1000)
    expect((await refusal(append(log, 'b'))).status).toBe(503)
  })

  test('five percent of the disk count when they are more than the bound', async () => {
    const control = controlledFs()
    control.space.totalBytes = 100_000
    control.space.freeBytes = 4_999
    const low = await openLog(await temporaryFolder(), { fs: control.fs, minFreeBytes: 10 })
    expect((await refusal(append(low, 'a'))).status).toBe(503)
    control.space.freeBytes = 5_000
    const enough = await openLog(await temporaryFolder(), { fs: control.fs, minFreeBytes: 10 })
    expect((await append(enough, 'a')).offset).toBe(1)
  })

  test.each([
    ['of 20 TB no more than 16 GiB count', 20e12, 10, 16 * 2 ** 30],
    ['but the bound counts beyond that', 20e12, 10 ** 11, 10 ** 11],
    ['of 100 GB five percent count', 1e11, 2 ** 30, 5e9],
  ])('%s', async (_, totalBytes, minFreeBytes, needed) => {
    useFakeClock()
    const control = controlledFs()
    Object.assign(control.space, { totalBytes, freeBytes: needed })
    const log = await openLog(await temporaryFolder(), { fs: control.fs, minFreeBytes })
    expect((await append(log, 'a')).offset).toBe(1)
    control.space.freeBytes = needed - 1
    vi.advanceTimersByTime(1000)
    expect((await refusal(append(log, 'b'))).status).toBe(503)
  })

  test('a full disk is looked at again at once, and acceptance resumes with space', async () => {
    useFakeClock()
    const control = controlledFs()
    const dir = await temporaryFolder()
    const log = await openLog(dir, { fs: control.fs, minFreeBytes: 1000 })
    await append(log, 'a')
    control.fail('writev', 'ENOSPC', 1, 100)
    control.space.freeBytes = 0
    expect((await refusal(append(log, 'b'))).headers['Retry-After']).toBeDefined()
    const low = await refusal(append(log, 'c'))
    expect(low.message).toMatch(/Disk space is low/)
    expect(log.counters()).toMatchObject({ groups: 1, failedGroups: 1 })
    expect(await readFile(join(dir, 'calls', '0000000000000001.jsonl'), 'utf8')).not.toContain('"b"')
    control.space.freeBytes = 2 ** 40
    vi.advanceTimersByTime(1000)
    expect((await append(log, 'd')).offset).toBe(2)
    expect((await applyRows(log, 'calls', 2)).ids).toEqual(['a', 'd'])
  })
})
