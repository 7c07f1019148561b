// Statements that the store refuses: which rows become dead letters, and when a batch waits.
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Batch, Log, Position } from '../../services/core/log/log.ts'
import type { Progress } from '../../services/core/log/progress.ts'
import type { StoredRecord } from '../../services/core/log/segments/read.ts'
import { type Store, StoreError } from '../../services/core/store/store.ts'
import { topicNames } from '../../services/events/registry.ts'
import type { DeadLetters } from '../../services/worker/dead-letters/dead-letters.ts'
import { startWorker } from '../../services/worker/run.ts'
import { noInFlight } from '../../services/worker/split/in-flight.ts'
import { expectSoon } from '../fixtures/eventually.ts'

describe('a store that refuses', () => {
  const rowCount = 40
  const rowsOf = (count: number) => Array.from({ length: count }, (_, n) => `{"project_id":"p","id":"${n}"}`)
  const rows = rowsOf(rowCount)
  const batchOf = (lines: string[]): Batch => ({
    topic: 'objects',
    partition: 0,
    firstOffset: 1,
    lastOffset: 2,
    patchCount: 0,
    oldestMs: 0,
    rowCount: lines.length,
    records: [1, 2].map((offset) => ({
      offset,
      version: 1,
      rowCount: lines.length / 2,
      patchCount: 0,
      clock: 1n,
      sizeBytes: 1,
    })),
    source: { bytes: [Buffer.from(`${lines.join('\n')}\n`)] },
  })

  /** A worker on one batch of objects; `refuse` says for some rows why they are not taken. */
  function start(
    refuse: (rows: string[], attempt: number) => StoreError | null,
    lines = rows,
    applied: StoredRecord[] = [],
    faults: string[] = [],
  ) {
    const stored = new Set<string>()
    const committed: Position[] = []
    const retries: number[] = []
    const letters: unknown[] = []
    let attempts = 0
    const done = Promise.withResolvers<void>()
    const store: Pick<Store, 'insert' | 'rows' | 'command'> = {
      async insert(_topic, source) {
        const lines = Buffer.concat((source as { bytes: Buffer[] }).bytes)
          .toString()
          .split('\n')
          .slice(0, -1)
        const error = refuse(lines, ++attempts)
        if (error) throw error
        for (const line of lines) stored.add(line)
        return { rowsRead: lines.length }
      },
      rows: async () => [],
      command: async () => {},
    }
    const log: Pick<
      Log,
      'topics' | 'consume' | 'commit' | 'committed' | 'end' | 'flush' | 'owns' | 'partitions' | 'takeMore'
    > = {
      topics: topicNames,
      async *consume(topic) {
        const code = topic === 'objects' ? faults.shift() : undefined
        if (code !== undefined) throw Object.assign(new Error(code), { code })
        if (topic === 'objects') yield { ...batchOf(lines), firstOffset: 1 + applied.length }
      },
      async commit(position) {
        committed.push(position)
        done.resolve()
      },
      committed: async () => [],
      end: async () => [],
      flush: () => {},
      takeMore: () => [],
      partitions: () => 1,
      owns: () => true,
    }
    const worker = startWorker({
      log: log as Log,
      store: store as Store,
      progress: { applied() {}, offset: () => 0 } as unknown as Progress,
      deadLetters: {
        add: async (letter: unknown) => void letters.push(letter),
        list: async () => [],
      } as unknown as DeadLetters,
      inFlight: noInFlight,
      keptRecords: async function* () {
        yield* applied
      },
      // Not those of what is kept about calls.
      onRetry: (topic, _error, retryMs) => void (topic === 'objects' && retries.push(retryMs)),
      onFatal: done.reject,
    })
    return { worker, stored, committed, retries, letters, done: done.promise, attempts: () => attempts }
  }
  afterEach(() => void vi.useRealTimers())

  it('for want of memory gets a few rows at a time', async () => {
    const sizes: number[] = []
    const { worker, stored, committed, retries, letters, done } = start((lines) => {
      sizes.push(lines.length)
      return lines.length > 7 ? new StoreError('memory', 241, 'too much') : null
    })
    await done
    await worker.stop()
    expect([...stored].sort()).toEqual([...rows].sort())
    expect(committed).toEqual([{ topic: 'objects', partition: 0, offset: 2 }])
    expect({ retries, letters }).toEqual({ retries: [], letters: [] })
    expect(sizes.filter((size) => size <= 7).reduce((sum, size) => sum + size)).toBe(rowCount)
  })

  it('nothing, while its log cannot be read, gets all rows once it can be', async () => {
    const { worker, stored, retries, done } = start(() => null, rows, [], ['EMFILE', 'EIO', 'ENFILE'])
    await expectSoon(() => worker.status()).toMatchObject({ status: 'degraded' })
    await done
    await worker.stop()
    expect(stored.size).toBe(rowCount)
    expect(retries).toEqual([50, 100, 200])
    expect(worker.status()).toEqual({ status: 'ok' })
  })

  it('nothing, and has a log that is damaged, stops', async () => {
    const { worker, done } = start(() => null, rows, [], ['ENOENT'])
    await expect(done).rejects.toThrow('ENOENT')
    expect(worker.status()).toMatchObject({ status: 'down' })
    await worker.stop()
  })

  it('a single row for want of memory is asked again, and no row is given up', async () => {
    let refusals = 3
    const { worker, stored, retries, letters, done } = start((lines) =>
      lines.some((line) => line.includes('"17"')) && refusals > 0 && (lines.length > 1 || refusals-- > 0)
        ? new StoreError('memory', 241, 'too much')
        : null,
    )
    await done
    await worker.stop()
    expect(stored.size).toBe(rowCount)
    expect(letters).toEqual([])
    expect(retries.length).toBeGreaterThan(0)
  })

  it('a statement is asked a few times, then rarely; health says so, and the rows wait', async () => {
    vi.useFakeTimers()
    let isFixed = false
    const words = "unknown column 'of a caller'"
    const { worker, stored, committed, retries, letters, done, attempts } = start(() =>
      isFixed ? null : new StoreError('query', 47, words),
    )
    await vi.advanceTimersByTimeAsync(400)
    expect(worker.status().status).toBe('degraded')
    await vi.advanceTimersByTimeAsync(20_000)
    expect(worker.status()).toEqual({
      status: 'down',
      reason: 'objects: the database refuses a statement (code 47); rows are kept and wait',
    })
    const before = attempts()
    await vi.advanceTimersByTimeAsync(120_000)
    expect(attempts() - before).toBe(2)
    expect(retries.slice(-2)).toEqual([60_000, 60_000])
    expect({ committed, letters, stored: stored.size }).toEqual({ committed: [], letters: [], stored: 0 })
    isFixed = true
    await vi.advanceTimersByTimeAsync(60_000)
    await done
    expect(stored.size).toBe(rowCount)
    expect(worker.status()).toEqual({ status: 'ok' })
    await worker.stop()
  })

  it('rows in great numbers gets none of them as dead letters: the batch waits', async () => {
    const many = rowsOf(400)
    const { worker, committed, letters, attempts } = start(
      (lines) =>
        lines.some((line) => !line.includes('7')) ? new StoreError('data', 27, 'Cannot parse input: (at row 1)') : null,
      many,
    )
    await expectSoon(() => worker.status()).toEqual({
      status: 'down',
      reason: 'objects: the database refuses more than 100 rows of one batch (code 27); rows wait',
    })
    expect(attempts()).toBeLessThan(300)
    await worker.stop()
    expect({ committed, letters }).toEqual({ committed: [], letters: [] })
  })

  it('many rows of a batch loses only these, where rows that were applied before still go in', async () => {
    const many = rowsOf(10_000)
    const isBad = (line: string) => /"\d*[37]3"/.test(line)
    const before = {
      header: { ...batchOf(many).records[0], offset: 1 },
      rows: Buffer.from('{"project_id":"p","id":"before"}\n'),
    } as StoredRecord
    const { worker, stored, letters, done, attempts } = start(
      (lines) => {
        const at = lines.findIndex(isBad)
        return at === -1 ? null : new StoreError('data', 27, `Cannot parse input: (at row ${at + 1})`)
      },
      many,
      [before],
    )
    await done
    await worker.stop()
    expect(letters).toHaveLength(many.filter(isBad).length)
    expect(letters.length).toBeGreaterThan(100)
    expect(many.every((line) => stored.has(line) !== isBad(line))).toBe(true)
    // The engine names the row: a statement that stops at it, one with it alone, and one for all the others.
    expect(attempts()).toBeLessThan(2 * letters.length + 6)
  })

  it('the first rows of all makes dead letters of those that do not parse, and waits where a view refuses them', async () => {
    const two = rowsOf(2)
    const unparsed = start(() => new StoreError('data', 27, 'Cannot parse input: (at row 1)'), two)
    await unparsed.done
    await unparsed.worker.stop()
    expect(unparsed.letters).toHaveLength(2)

    const unseen = start(() => new StoreError('data', 6, 'no: while pushing to view callhouse.v'), rowsOf(1_000))
    await expectSoon(() => unseen.worker.status()).toMatchObject({
      reason: 'objects: the database refuses every row (code 6); a view or an upgrade may be unfinished; rows wait',
    })
    expect(unseen.attempts()).toBeLessThan(50)
    await unseen.worker.stop()
    expect(unseen.letters).toEqual([])
  })
})
