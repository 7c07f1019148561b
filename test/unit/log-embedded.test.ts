// The embedded log: the contract, and what is particular to segment files.
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Session } from 'chdb'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { LogFs } from '../../services/core/files/disk.ts'
import type { Batch } from '../../services/core/log/log.ts'
import { createEmbeddedLog } from '../../services/core/log/segments/segment-log.ts'
import { isSpare } from '../../services/core/log/segments/spares.ts'
import { structureOf } from '../../services/core/log/topic.ts'
import { topics } from '../../services/events/registry.ts'
import { logContract } from '../engine/log.contract.ts'
import { eventually } from '../fixtures/eventually.ts'
import {
  applyRows,
  controlledFs,
  defaults,
  idsOf,
  openLog,
  recordOf,
  roomyFs,
  temporaryFolder,
} from '../fixtures/log.ts'

logContract('embedded', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'log-contract-'))
  return {
    open: (options) => createEmbeddedLog({ dir, fs: roomyFs, ...defaults, ...options }),
    dispose: () => rm(dir, { recursive: true, force: true }),
  }
})

const never = (): AbortSignal => new AbortController().signal

describe('segments', () => {
  test('the engine reads a segment with the structure of its topic', async () => {
    const log = await openLog(await temporaryFolder())
    const payload = '{"a": [1.0, 12345678901234567890123, 1e400], "a": null}'
    const whole = `{"kind":"complete","project_id":"a/b","id":"one","clock":${2n ** 60n},"started_us":1700000000000000,"input_refs":["r"],"inputs":${payload},"output":"null"}\n`
    const patch = '{"kind":"name","project_id":"a/b","id":"two","clock":8}\n'
    await log.append('calls', [
      { rows: Buffer.from(whole + patch), rowCount: 2, patchCount: 1, clock: 2n ** 60n, key: 'one' },
      { rows: Buffer.from(patch), rowCount: 1, patchCount: 1, clock: 8n, key: 'two' },
      { rows: Buffer.from('{}\n'), rowCount: 1, patchCount: 0, clock: 8n, key: 'none' },
    ])
    await log.append('objects', [
      {
        rows: Buffer.from(
          '{"project_id":"a/b","object_id":"o","kind":"op","digest":"d","clock":9,"event":"created","val":{"x":1}}\n',
        ),
        rowCount: 1,
        patchCount: 0,
        clock: 9n,
        key: 'o',
      },
    ])
    const session = new Session(await temporaryFolder('log-engine-'))
    onTestFinished(() => session.cleanup())
    const read = async (topic: 'calls' | 'objects', columns: string): Promise<unknown[]> => {
      for await (const { source } of log.consume(topic, never())) {
        const file = 'file' in source ? source.file : ''
        const structure = structureOf(topics[topic]).replaceAll("'", "\\'")
        await session.queryAsync(
          `CREATE TABLE ${topic}_read ENGINE = Memory AS SELECT * FROM file('${file}', JSONEachRow, '${structure}')
           SETTINGS input_format_skip_unknown_fields = 0`,
        )
        const sql = `SELECT ${columns} FROM ${topic}_read`
        const text = (await session.queryAsync(sql, { format: 'JSONCompactEachRow' })).text()
        return text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line))
      }
      return []
    }
    const rows = await read(
      'calls',
      "kind, id, toString(clock), started_us = 1700000000000000, run_step = -1, inputs, output, _record != ''",
    )
    expect(rows).toEqual([
      ['complete', 'one', String(2n ** 60n), 1, 1, payload, 'null', 1],
      ['name', 'two', '8', 0, 1, '', '', 0],
      ['name', 'two', '8', 0, 1, '', '', 1],
      ['complete', '', '0', 0, 1, '', '', 1],
    ])
    expect(await read('objects', 'object_id, kind, event, val')).toEqual([['o', 'op', 'created', '{"x":1}']])
  })

  test('a folder whose name the engine would expand is reached through a link', async () => {
    const dir = join(await temporaryFolder(), 'da ta {1,2}::*')
    await mkdir(dir)
    const log = await openLog(dir)
    await log.append('calls', [recordOf(['a'])])
    const { batches, ids } = await applyRows(log, 'calls', 1, { commit: false })
    expect(ids).toEqual(['a'])
    const file = (batches[0] as Batch & { source: { file: string } }).source.file
    expect(file).toMatch(/^[A-Za-z0-9_./-]+$/)
    await log.close()
    await expect(readFile(file)).rejects.toThrow('ENOENT')
    expect(await readdir(join(dir, 'calls'))).toContain('0000000000000001.jsonl')
  })

  test('a segment ends at its size, an append is never split and may be larger', async () => {
    const log = await openLog(await temporaryFolder(), { segmentBytes: 1000 })
    const text = 'y'.repeat(200)
    await Promise.all(['a', 'b', 'c'].map((id) => log.append('calls', [recordOf([id], { text })])))
    await log.append('calls', [recordOf(['d'], { text: 'z'.repeat(5000) }), recordOf(['e'])])
    await log.append('calls', [recordOf(['f'])])
    const { batches, ids } = await applyRows(log, 'calls', 6)
    expect(ids).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
    const ranges = batches.map(({ firstOffset, lastOffset }) => [firstOffset, lastOffset])
    expect(ranges).toEqual([
      [1, 2],
      [3, 3],
      [4, 5],
      [6, 6],
    ])
  })

  test('while a batch is applied the next segment grows', async () => {
    const log = await openLog(await temporaryFolder())
    await log.append('calls', [recordOf(['a'])])
    const batches = log.consume('calls', never())[Symbol.asyncIterator]()
    await batches.next()
    for (const id of ['b', 'c', 'd', 'e']) {
      await log.append('calls', [recordOf([id])])
      log.flush('calls')
    }
    await log.commit({ topic: 'calls', partition: 0, offset: 1 })
    const second = await batches.next()
    expect(await idsOf(second.value)).toEqual(['b', 'c', 'd', 'e'])
    await batches.return?.()
  })

  test('a segment begins over a spare without a sync of the folder, and ends with its last record when it is delivered', async () => {
    const dir = await temporaryFolder()
    const log = await openLog(dir)
    await log.append('calls', [recordOf(['a'])])
    expect((await applyRows(log, 'calls', 1)).ids).toEqual(['a'])
    const spares = async () => (await readdir(join(dir, 'calls'))).filter(isSpare)
    await eventually(async () => expect(await spares()).toHaveLength(4))
    // The files are there before their folder is synced, and only then they are taken.
    await eventually(async () => {
      const { segments, dirSyncs } = log.counters()
      const id = `${segments}`
      await log.append('calls', [recordOf([id])])
      expect((await applyRows(log, 'calls', 1)).ids).toEqual([id])
      expect(log.counters()).toMatchObject({ segments: segments + 1, dirSyncs })
    })
    // Larger than the spare.
    const text = 'y'.repeat(200_000)
    await log.append('calls', [recordOf(['large'], { text })])
    const { batches, ids } = await applyRows(log, 'calls', 1)
    expect(ids).toEqual(['large'])
    const { file } = (batches[0] as Batch & { source: { file: string } }).source
    expect(await readFile(file, 'utf8')).toMatch(/^\{"_record":"[^"]*","project_id":"a\/b","id":"large".*\}\n$/)
    await log.close()
    expect(await spares()).toEqual([])
  })

  test('a segment is delivered once its file ends with its last record', async () => {
    const end = Promise.withResolvers<void>()
    let ends = 0
    const fs: LogFs = {
      ...roomyFs,
      async open(path, flags) {
        const file = await roomyFs.open(path, flags)
        const truncate = async (sizeBytes: number): Promise<void> => {
          ends++
          await end.promise
          await file.truncate(sizeBytes)
        }
        return { ...file, truncate }
      },
    }
    const log = await openLog(await temporaryFolder(), { fs })
    const batches = log.consume('calls', never())[Symbol.asyncIterator]()
    let next = batches.next()
    // Segments that begin without a spare need no other end.
    await eventually(async () => {
      const { dirSyncs } = log.counters()
      const { offset } = await log.append('calls', [recordOf(['a'])])
      if (log.counters().dirSyncs === dirSyncs) return
      await next
      await log.commit({ topic: 'calls', partition: 0, offset })
      next = batches.next()
      throw new Error('there is no spare yet')
    })
    let isDelivered = false
    void next.then(() => {
      isDelivered = true
    })
    await eventually(() => expect(ends).toBe(1))
    await log.append('calls', [recordOf(['b'])])
    expect(isDelivered).toBe(false)
    end.resolve()
    expect(await idsOf((await next).value as Batch)).toEqual(['a'])
    await batches.return?.()
  })

  test('a partly applied segment comes again as a whole', async () => {
    const dir = await temporaryFolder()
    let log = await openLog(dir)
    await log.append('calls', [recordOf(['a']), recordOf(['b'], { clock: 7n }), recordOf(['c'])])
    await log.commit({ topic: 'calls', partition: 0, offset: 2 })
    await log.close()
    log = await openLog(dir)
    expect(await log.committed('calls')).toEqual([{ topic: 'calls', partition: 0, offset: 2 }])
    const { batches, ids } = await applyRows(log, 'calls', 3)
    expect(ids).toEqual(['a', 'b', 'c'])
    expect(batches[0]).toMatchObject({ firstOffset: 1, lastOffset: 3, rowCount: 3 })
    expect(batches[0]?.records.map(({ offset, clock }) => [offset, clock])).toEqual([
      [1, 1n],
      [2, 7n],
      [3, 1n],
    ])
  })

  test('many waiting segments are delivered with their headers, in memory or not', async () => {
    const dir = await temporaryFolder()
    let log = await openLog(dir, { segmentBytes: 300 })
    const expected: number[] = []
    for (let i = 0; i < 12; i++) {
      await log.append('calls', [recordOf(Array.from({ length: i + 1 }, (_, row) => `${i}:${row}`))])
      expected.push(i + 1)
    }
    const half = await applyRows(log, 'calls', 21)
    expect(half.batches.map(({ records }) => records[0]?.rowCount)).toEqual(expected.slice(0, 6))
    await log.close()
    log = await openLog(dir, { segmentBytes: 300 })
    const rest = await applyRows(log, 'calls', 57)
    expect(rest.batches.map(({ records }) => records[0]?.rowCount)).toEqual(expected.slice(6))
    expect(rest.batches.map(({ rowCount }) => rowCount)).toEqual(expected.slice(6))
  })

  test('two consumers of one topic are refused', async () => {
    const log = await openLog(await temporaryFolder())
    await log.append('calls', [recordOf(['a'])])
    const first = log.consume('calls', never())[Symbol.asyncIterator]()
    await first.next()
    await expect(log.consume('calls', never())[Symbol.asyncIterator]().next()).rejects.toThrow(/has a consumer/)
    await first.return?.()
  })
})

describe('group commit', () => {
  test('appends that arrive while a sync runs share the next one', async () => {
    const control = controlledFs()
    const log = await openLog(await temporaryFolder(), { fs: control.fs })
    let release = (): void => {}
    control.hold = new Promise((resolve) => {
      release = resolve
    })
    const firstSync = new Promise<void>((resolve) => {
      control.onSync = resolve
    })
    const order: number[] = []
    const append = async (i: number): Promise<void> => {
      const { offset } = await log.append('calls', [recordOf([`${i}`])])
      order.push(offset)
    }
    const first = append(0)
    await firstSync
    const others = Array.from({ length: 50 }, (_, i) => append(i + 1))
    expect(order).toEqual([])
    release()
    control.hold = null
    await Promise.all([first, ...others])
    expect(order).toEqual(Array.from({ length: 51 }, (_, i) => i + 1))
    expect(log.counters()).toMatchObject({ appends: 51, records: 51, groups: 2, syncs: 2, dirSyncs: 1, segments: 1 })
    expect(control.synced).toHaveLength(2)
  })

  test('appends of one turn share one sync, and each topic has its own', async () => {
    const log = await openLog(await temporaryFolder())
    await Promise.all([
      ...Array.from({ length: 30 }, () => log.append('calls', [recordOf(['a'])])),
      ...Array.from({ length: 30 }, () => log.append('files', [recordOf(['b'])])),
    ])
    expect(log.counters()).toMatchObject({ appends: 60, groups: 2, syncs: 2, dirSyncs: 2 })
    await log.append('calls', [recordOf(['c'])])
    expect(log.counters()).toMatchObject({ appends: 61, groups: 3, syncs: 3, dirSyncs: 2 })
  })

  test('a record that is not JSON Lines is refused before it is written', async () => {
    const log = await openLog(await temporaryFolder())
    for (const rows of ['{"a":1}', '[1]\n', ''])
      await expect(log.append('calls', [{ ...recordOf(['a']), rows: Buffer.from(rows) }])).rejects.toThrow(/line feed/)
    expect(log.health().unappliedBytes).toBe(0)
  })
})

describe('when segments are sealed', () => {
  const useFakeTime = (): void => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    onTestFinished(() => {
      vi.useRealTimers()
    })
  }
  const open = async () =>
    openLog(await temporaryFolder(), { sealAfterMs: 120, flushEveryMs: 50, retentionMs: 1_000_000 })

  test('after its age, and without records no timer runs', async () => {
    useFakeTime()
    const log = await open()
    const batches = log.consume('calls', never())[Symbol.asyncIterator]()
    const next = batches.next()
    expect(vi.getTimerCount()).toBe(0)
    await log.append('calls', [recordOf(['a'])])
    expect(vi.getTimerCount()).toBe(1)
    vi.advanceTimersByTime(119)
    expect(vi.getTimerCount()).toBe(1)
    await log.append('calls', [recordOf(['b'])])
    vi.advanceTimersByTime(1)
    const first = await next
    expect(await idsOf(first.value)).toEqual(['a', 'b'])
    expect(vi.getTimerCount()).toBe(0)
    await log.commit({ topic: 'calls', partition: 0, offset: 2 })
    const waiting = batches.next()
    await log.end('calls')
    expect(vi.getTimerCount()).toBe(0)
    await log.close()
    expect((await waiting).done).toBe(true)
  })

  test('a flush seals at once when idle, then once per interval', async () => {
    useFakeTime()
    const log = await open()
    const batches = log.consume('calls', never())[Symbol.asyncIterator]()
    await log.append('calls', [recordOf(['a'])])
    let next = batches.next()
    log.flush('calls')
    expect(await idsOf((await next).value)).toEqual(['a'])
    await log.commit({ topic: 'calls', partition: 0, offset: 1 })

    next = batches.next()
    await log.append('calls', [recordOf(['b'])])
    log.flush('calls')
    vi.advanceTimersByTime(49)
    await log.append('calls', [recordOf(['c'])])
    vi.advanceTimersByTime(1)
    const second = await next
    expect(await idsOf(second.value)).toEqual(['b', 'c'])
    await log.commit({ topic: 'calls', partition: 0, offset: 3 })

    vi.advanceTimersByTime(60)
    next = batches.next()
    await log.append('calls', [recordOf(['d'])])
    log.flush('calls')
    expect(await idsOf((await next).value)).toEqual(['d'])
    await batches.return?.()
  })

  test('a topic without a consumer has no timer', async () => {
    useFakeTime()
    const log = await open()
    await log.append('calls', [recordOf(['a'])])
    log.flush('calls')
    expect(vi.getTimerCount()).toBe(0)
  })
})

test('while batches are applied, a project beside another one has at most 16 MiB where an eighth of what may wait is less', async () => {
  // However slow the machine is, the batch below was applied a moment ago.
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const mebibyte = 2 ** 20
  const log = await openLog(await temporaryFolder(), { maxUnappliedBytes: 56 * mebibyte })
  const append = (project: string, id: string) => {
    const record = recordOf([id], { text: 'y'.repeat(mebibyte) })
    return log.append('calls', [{ ...record, projects: new Map([[project, record.rows.length]]) }])
  }
  await append('quiet/one', 'first')
  await applyRows(log, 'calls', 1)
  let count = 0
  while (await append('loud/one', `loud-${count}`).then(Boolean, () => false)) count++
  expect(count).toBe(15)
  // So the next row of the quiet project has little before it, and nobody is told that the log is full.
  await append('quiet/one', 'second')
  expect(log.health().status).toBe('ok')
})
