// The contract of every log driver; each driver's test file runs this suite with a factory of its own.
import { describe, expect, onTestFinished, test } from 'vitest'
import { Refusal } from '../../services/core/errors.ts'
import { asFault, type Fault } from '../../services/core/http/errors.ts'
import type { Log, RecordInput } from '../../services/core/log/log.ts'
import { topics } from '../../services/events/registry.ts'
import { applyRows, idsOf, recordOf } from '../fixtures/log.ts'

/** One log with its own storage, which can be opened again after `close`. */
export type LogDriver = {
  open(options?: { maxUnappliedBytes?: number; sealAfterMs?: number }): Promise<Log>
  dispose(): Promise<void>
}

const never = (): AbortSignal => new AbortController().signal
const numbered = (count: number, from = 0): string[] => Array.from({ length: count }, (_, i) => `id-${from + i}`)

async function faultOf(promise: Promise<unknown>): Promise<Fault> {
  const outcome = await promise.then(
    () => null,
    (error: unknown) => error,
  )
  expect(outcome).toBeInstanceOf(Refusal)
  return asFault(outcome) as Fault
}

export function logContract(name: string, createDriver: () => Promise<LogDriver>): void {
  async function driver(): Promise<LogDriver> {
    const created = await createDriver()
    onTestFinished(() => created.dispose())
    return created
  }

  async function opened(options?: Parameters<LogDriver['open']>[0]): Promise<Log> {
    const log = await (await driver()).open(options)
    onTestFinished(() => log.close())
    return log
  }

  describe(`log contract: ${name}`, () => {
    test('offsets begin at 1, grow per partition, and end() tells the last', async () => {
      const log = await opened()
      const ends = await log.end('calls')
      expect(ends.map(({ offset }) => offset)).toEqual(ends.map(() => 0))
      const seen = new Map<number, number>()
      for (const id of numbered(20)) {
        const position = await log.append('calls', [recordOf([id])])
        expect(position.topic).toBe('calls')
        expect(position.offset).toBe((seen.get(position.partition) ?? 0) + 1)
        seen.set(position.partition, position.offset)
      }
      for (const { partition, offset } of await log.end('calls')) expect(offset).toBe(seen.get(partition) ?? 0)
    })

    test('batches hold the rows as they were appended, with the headers of their records', async () => {
      const log = await opened()
      await log.append('calls', [
        recordOf(['a', 'b', 'c'], {
          patchCount: 2,
          clock: 2n ** 60n + 7n,
          key: 'k',
          text: 'line\nbreak "quoted" \u00e9',
        }),
        recordOf(['d'], { clock: 5n, key: 'k' }),
      ])
      const { batches, ids } = await applyRows(log, 'calls', 4)
      expect(ids).toEqual(['a', 'b', 'c', 'd'])
      const headers = batches.flatMap(({ records }) => records)
      expect(headers).toMatchObject([
        { offset: 1, version: 1, rowCount: 3, patchCount: 2, clock: 2n ** 60n + 7n },
        { offset: 2, version: 1, rowCount: 1, patchCount: 0, clock: 5n },
      ])
      expect(batches.reduce((sum, batch) => sum + batch.rowCount, 0)).toBe(4)
      expect(batches.reduce((sum, batch) => sum + batch.patchCount, 0)).toBe(2)
      expect(batches[0]?.firstOffset).toBe(1)
      expect(batches.at(-1)?.lastOffset).toBe(2)
      for (const batch of batches) expect(Math.abs(Date.now() - batch.oldestMs)).toBeLessThan(3_600_000)
    })

    test('pretty-printed and empty rows survive', async () => {
      const log = await opened()
      const rows = Buffer.from('{\n "project_id": "a/b",\n "id": "pretty" }\n{}\n')
      await log.append('calls', [{ ...recordOf(['x']), rows, rowCount: 2 }])
      await log.append('calls', [{ ...recordOf(['x']), rows: Buffer.from('{ }\n'), rowCount: 1 }])
      const texts: string[] = []
      for await (const batch of log.consume('calls', never())) {
        const { source } = batch
        const read = async (file: string): Promise<Buffer> => (await import('node:fs/promises')).readFile(file)
        texts.push(('file' in source ? await read(source.file) : Buffer.concat(source.bytes)).toString())
        await log.commit({ topic: 'calls', partition: batch.partition, offset: batch.lastOffset })
        if (texts.join('').split('{').length > 3) break
      }
      // The header may be written into a row; nothing else may change.
      expect(texts.join('').replaceAll(/"_record":"[^"]*"[, ]/g, '')).toBe(`${rows.toString()}{ }\n`)
    })

    test('concurrent appends are all delivered once, those of one caller in order', async () => {
      const log = await opened()
      const callers = Array.from({ length: 20 }, async (_, caller) => {
        for (let i = 0; i < 25; i++) await log.append('calls', [recordOf([`${caller}:${i}`], { key: `${caller}` })])
      })
      const { ids } = await applyRows(log, 'calls', 500)
      await Promise.all(callers)
      expect(new Set(ids).size).toBe(500)
      expect(ids).toHaveLength(500)
      for (let caller = 0; caller < 20; caller++)
        expect(ids.filter((id) => id.startsWith(`${caller}:`))).toEqual(
          Array.from({ length: 25 }, (_, i) => `${caller}:${i}`),
        )
    })

    test('the next batch comes only after the commit of the last', async () => {
      const log = await opened()
      await log.append('calls', [recordOf(['a'])])
      const batches = log.consume('calls', never())[Symbol.asyncIterator]()
      const first = await batches.next()
      await log.append('calls', [recordOf(['b'])])
      log.flush('calls')
      let isEarly = true
      const next = batches.next().then((result) => ({ result, isEarly }))
      await log.append('objects', [recordOf(['other'])])
      isEarly = false
      await log.commit({ topic: 'calls', partition: first.value.partition, offset: first.value.lastOffset })
      const second = await next
      expect(second.isEarly).toBe(false)
      expect(await idsOf(second.result.value)).toEqual(['b'])
      await batches.return?.()
    })

    test('topics keep their ids over a restart, differ from each other, and tell what they hold', async () => {
      const one = await driver()
      let log = await one.open()
      const { partition } = await log.append('calls', [recordOf(['a']), recordOf(['b'])])
      const before = await log.identity()
      const ids = before.map(({ id }) => id)
      expect(new Set(ids).size).toBe(Object.keys(topics).length)
      expect(ids).not.toContain('')
      const kept = before.find(({ topic }) => topic === 'calls')?.kept
      expect(kept?.find((range) => range.partition === partition)).toEqual({ partition, first: 1, end: 2 })
      await log.close()
      log = await one.open()
      onTestFinished(() => log.close())
      expect(await log.identity()).toEqual(before)
    })

    test('delivery begins after what the tables hold when more was committed, and never later', async () => {
      const one = await driver()
      let log = await one.open()
      for (const id of numbered(6)) {
        await log.append('calls', [recordOf([id])])
        await applyRows(log, 'calls', 1)
      }
      const [{ partition = 0 } = {}] = (await log.committed('calls')).filter(({ offset }) => offset === 6)
      await log.close()
      const begun = async (offset: number, rows: number) => {
        log = await one.open()
        await log.beginAfter(async () => [{ topic: 'calls', partition, offset }])
        const { ids } = await applyRows(log, 'calls', rows)
        await log.append('calls', [recordOf(['more'])])
        ids.push(...(await applyRows(log, 'calls', 1)).ids)
        await log.close()
        return ids
      }
      expect(await begun(2, 4)).toEqual([...numbered(4, 2), 'more'])
      expect(await begun(0, 7)).toEqual([...numbered(6), 'more', 'more'])
      log = await one.open()
      onTestFinished(() => log.close())
      await log.beginAfter(async () => [{ topic: 'calls', partition, offset: 100 }])
      await log.append('calls', [recordOf(['last'])])
      expect((await applyRows(log, 'calls', 1)).ids).toEqual(['last'])
    })

    test('uncommitted records come again after a restart, committed ones do not', async () => {
      const storage = await driver()
      let log = await storage.open()
      await log.append('calls', [recordOf(numbered(3))])
      const first = await applyRows(log, 'calls', 3)
      await log.append('calls', [recordOf(numbered(2, 3))])
      await applyRows(log, 'calls', 2, { commit: false })
      await log.append('calls', [recordOf(numbered(1, 5))])
      await log.close()

      log = await storage.open()
      onTestFinished(() => log.close())
      const committed = await log.committed('calls')
      expect(Math.max(...committed.map(({ offset }) => offset))).toBe(first.batches.at(-1)?.lastOffset)
      const { ids } = await applyRows(log, 'calls', 3)
      expect(ids).toEqual(numbered(3, 3))
      expect((await log.append('calls', [recordOf(['z'], { key: 'id-5' })])).offset).toBeGreaterThan(1)
      expect((await applyRows(log, 'calls', 1)).ids).toEqual(['z'])
    })

    test('a consumer that stops without a commit is followed by one that gets the same records', async () => {
      const log = await opened()
      await log.append('calls', [recordOf(['a', 'b'])])
      expect((await applyRows(log, 'calls', 2, { commit: false })).ids).toEqual(['a', 'b'])
      expect((await applyRows(log, 'calls', 2)).ids).toEqual(['a', 'b'])
    })

    test('a waiting reader gets its records at once', async () => {
      const log = await opened({ sealAfterMs: 3_600_000 })
      const delivered = applyRows(log, 'calls', 1)
      await log.append('calls', [recordOf(['a'])])
      log.flush('calls')
      expect((await delivered).ids).toEqual(['a'])
    })

    test('consume ends when the signal aborts, waiting or between batches', async () => {
      const log = await opened()
      const abort = new AbortController()
      const waiting = log.consume('calls', abort.signal)[Symbol.asyncIterator]().next()
      abort.abort()
      expect((await waiting).done).toBe(true)

      const second = new AbortController()
      await log.append('calls', [recordOf(['a'])])
      const batches = log.consume('calls', second.signal)[Symbol.asyncIterator]()
      await batches.next()
      second.abort()
      expect((await batches.next()).done).toBe(true)
      expect((await log.consume('calls', second.signal)[Symbol.asyncIterator]().next()).done).toBe(true)
    })

    test('topics do not touch one another', async () => {
      const log = await opened()
      await log.append('calls', [recordOf(['call'])])
      await log.append('files', [recordOf(['file'])])
      expect((await applyRows(log, 'files', 1)).ids).toEqual(['file'])
      expect((await log.committed('calls')).every(({ offset }) => offset === 0)).toBe(true)
      expect((await log.end('objects')).every(({ offset }) => offset === 0)).toBe(true)
      expect((await applyRows(log, 'calls', 1)).ids).toEqual(['call'])
    })

    test('429 with Retry-After over the bound, and room again after a commit', async () => {
      const log = await opened({ maxUnappliedBytes: 50_000 })
      const big = (id: string): RecordInput => recordOf([id], { text: 'y'.repeat(30_000) })
      await log.append('calls', [big('a')])
      const refused = await faultOf(log.append('objects', [big('b')]))
      expect(refused.status).toBe(429)
      expect(Number(refused.headers['Retry-After'])).toBeGreaterThanOrEqual(1)
      expect(log.health().unappliedBytes).toBeGreaterThan(30_000)
      expect(log.health().status).toBe('degraded')
      expect((await applyRows(log, 'calls', 1)).ids).toEqual(['a'])
      expect(log.health()).toMatchObject({ status: 'ok', unappliedBytes: 0, lagMs: 0 })
      await log.append('objects', [big('c')])
      expect((await applyRows(log, 'objects', 1)).ids).toEqual(['c'])
    })

    test('429 for a project that alone fills the log, and none for another one that comes', async () => {
      const mebibyte = 2 ** 20
      const log = await opened({ maxUnappliedBytes: 32 * mebibyte })
      const text = 'y'.repeat(mebibyte)
      const append = (project: string, id: string) => {
        const record = recordOf([id], { text })
        return log.append('calls', [{ ...record, projects: new Map([[project, record.rows.length]]) }])
      }
      const taken: string[] = []
      let refused: Fault | undefined
      while (refused === undefined) {
        const id = `loud-${taken.length}`
        const outcome = await append('loud/one', id).catch((error: unknown) => error)
        refused = asFault(outcome)
        if (refused === undefined) taken.push(id)
      }
      expect([refused.status, refused.policy, refused.headers['Retry-After']]).toEqual([429, 'log_share', '1'])
      // An eighth is left for whoever comes next.
      expect(taken).toHaveLength(27)
      for (const id of numbered(3)) {
        await append('quiet/one', id)
        taken.push(id)
      }
      expect(await faultOf(append('loud/one', 'once more'))).toMatchObject({ status: 429, policy: 'log_share' })
      const wouldBe = (project: string) => log.refusal(new Map([[project, mebibyte]]))
      expect([wouldBe('loud/one')?.policy, wouldBe('quiet/one')]).toEqual(['log_share', null])
      expect(log.health().unappliedBytes).toBeLessThan(32 * mebibyte)
      expect((await applyRows(log, 'calls', taken.length)).ids.toSorted()).toEqual(taken.toSorted())
      await append('loud/one', 'again')
    })

    test('the greatest clock survives restarts, in whatever order clocks were appended', async () => {
      const storage = await driver()
      let log = await storage.open()
      expect(log.lastClock()).toBe(0n)
      await log.append('objects', [recordOf(['a'], { clock: 2n ** 61n })])
      await log.append('objects', [recordOf(['b'], { clock: 17n })])
      await applyRows(log, 'objects', 2)
      await log.append('objects', [recordOf(['c'], { clock: 18n })])
      await log.close()
      log = await storage.open()
      onTestFinished(() => log.close())
      expect(log.lastClock()).toBe(2n ** 61n)
    })

    test('tells what is appended and not applied, per partition', async () => {
      const log = await opened()
      const waiting = () =>
        log
          .lag()
          .filter(({ topic, records }) => topic === 'calls' && records > 0)
          .map(({ records, bytes, ageMs }) => ({ records, hasBytes: bytes > 0, isYoung: ageMs < 3_600_000 }))
      expect(waiting()).toEqual([])
      const { partition } = await log.append('calls', [recordOf(['a'])])
      await log.append('calls', [recordOf(['a'])])
      expect(waiting()).toEqual([{ records: 2, hasBytes: true, isYoung: true }])
      await applyRows(log, 'calls', 2)
      expect(waiting()).toEqual([])
      expect(log.lag().find((one) => one.topic === 'calls' && one.partition === partition)).toEqual({
        topic: 'calls',
        partition,
        records: 0,
        bytes: 0,
        ageMs: 0,
        isOwn: true,
      })
    })

    test('an append of nothing changes nothing', async () => {
      const log = await opened()
      await log.append('calls', [])
      expect((await log.end('calls')).every(({ offset }) => offset === 0)).toBe(true)
    })

    test('a position beyond the end cannot be committed, an old one changes nothing', async () => {
      const log = await opened()
      const { partition } = await log.append('calls', [recordOf(['a'])])
      await expect(log.commit({ topic: 'calls', partition, offset: 2 })).rejects.toThrow(/beyond the end/)
      await applyRows(log, 'calls', 1)
      await log.commit({ topic: 'calls', partition, offset: 0 })
      expect((await log.committed('calls')).find((one) => one.partition === partition)?.offset).toBe(1)
    })

    test('close finishes what was appended; afterwards appends are refused with 503', async () => {
      const storage = await driver()
      let log = await storage.open()
      const appended = Promise.all(numbered(50).map((id) => log.append('calls', [recordOf([id], { key: 'k' })])))
      await log.close()
      await appended
      expect((await faultOf(log.append('calls', [recordOf(['late'])]))).status).toBe(503)
      expect(log.health().status).toBe('down')
      log = await storage.open()
      onTestFinished(() => log.close())
      expect((await applyRows(log, 'calls', 50)).ids).toEqual(numbered(50))
    })
  })
}
