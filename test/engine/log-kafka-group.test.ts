// tier: deep kafka
// Kafka's own behaviour: several processes, partitions, group membership, batching, limits; on a real broker.
import { Kafka, logLevel } from 'kafkajs'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { Refusal } from '../../services/core/errors.ts'
import type { KafkaLogOptions } from '../../services/core/log/kafka/client.ts'
import { createKafkaLog, type KafkaLog } from '../../services/core/log/kafka/kafka-log.ts'
import type { Batch, Position } from '../../services/core/log/log.ts'
import { eventually } from '../fixtures/eventually.ts'
import { kafkaBrokers, kafkaSettings } from '../fixtures/kafka.ts'
import { applyRows, idsOf, recordOf } from '../fixtures/log.ts'

// Starting a broker takes longer than a test may.
beforeAll(() => kafkaBrokers())

type Open = (more?: Partial<KafkaLogOptions>) => Promise<KafkaLog>

/** Opens logs over the same topics and group. A member that is held up stays one. */
async function cluster(more: Partial<KafkaLogOptions> = {}): Promise<{ open: Open; settings: KafkaLogOptions }> {
  const settings = kafkaSettings(await kafkaBrokers(), { sessionTimeoutMs: 30_000, ...more })
  const open: Open = async (own = {}) => {
    const log = await createKafkaLog({ ...settings, ...own })
    onTestFinished(() => log.close())
    return log
  }
  return { open, settings }
}

const never = (): AbortSignal => new AbortController().signal
const produce = { roles: { produce: true, consume: false } }
const consume = { roles: { produce: false, consume: true } }
const neither = { roles: { produce: false, consume: false } }

/** Commits as the worker of the server does: again as long as the group is between two memberships. */
async function committed(log: KafkaLog, position: Position): Promise<void> {
  await eventually(
    async () => {
      const failure = await log.commit(position).catch((error: { code?: string }) => error)
      if (failure && failure.code !== 'EAGAIN') throw failure
      expect(failure).toBeUndefined()
    },
    { withinMs: 60_000 },
  )
}

/** Applies batches in the background until it is stopped; what it has seen so far, by partition. */
function worker(log: KafkaLog) {
  const stop = new AbortController()
  const ids: string[] = []
  const partitions = new Set<number>()
  const done = (async () => {
    for await (const batch of log.consume('calls', stop.signal)) {
      partitions.add(batch.partition)
      ids.push(...(await idsOf(batch)))
      await committed(log, { topic: 'calls', partition: batch.partition, offset: batch.lastOffset })
    }
  })()
  return {
    ids,
    partitions,
    async stop() {
      stop.abort()
      await done
    },
  }
}

const offsets = (positions: { offset: number }[]): number[] => positions.map(({ offset }) => offset)
const keys = ['0', '1', '2', '3']
const toAll = (log: KafkaLog, name: string) =>
  Promise.all(keys.map((key) => log.append('calls', [recordOf([`${name}:${key}`], { key })])))

describe('takeMore', () => {
  test('gives what waits in other partitions, within a size, and each is committed on its own', async () => {
    const { open } = await cluster({ partitions: 4, sealAfterMs: 0 })
    const log = await open()
    await toAll(log, 'a')
    const batches = log.consume('calls', never())[Symbol.asyncIterator]()
    const first = (await batches.next()).value as Batch
    const others: Batch[] = []
    await eventually(
      () => {
        others.push(...log.takeMore('calls', 2 ** 20))
        expect(others).toHaveLength(3)
      },
      { withinMs: 60_000 },
    )
    // Nothing is given twice, and nothing of a partition whose batch is under way.
    const before = log.bufferedBytes()
    await log.append('calls', [recordOf(['later'], { key: '0' })])
    await eventually(() => expect(log.bufferedBytes()).toBeGreaterThan(before))
    expect(log.takeMore('calls', 2 ** 20)).toEqual([])
    const all = [first, ...others]
    expect((await Promise.all(all.map(idsOf))).flat().sort()).toEqual(keys.map((key) => `a:${key}`))
    await Promise.all(
      all.map(({ partition, lastOffset: offset }) => committed(log, { topic: 'calls', partition, offset })),
    )
    expect(offsets(await log.committed('calls'))).toEqual([1, 1, 1, 1])

    await toAll(log, 'b')
    const next = (await batches.next()).value as Batch
    const one: Batch[] = []
    await eventually(
      () => {
        one.push(...log.takeMore('calls', 1))
        expect(one.length).toBeGreaterThan(0)
      },
      { withinMs: 60_000 },
    )
    expect(log.takeMore('calls', 0)).toEqual([])
    expect(one[0]?.partition).not.toBe(next.partition)
    await batches.return?.()
  })
})

describe('several processes', () => {
  test('a process without consumer sees ends, positions and lag of the others', async () => {
    const { open } = await cluster({ partitions: 2 })
    const [edge, applier, reader] = await Promise.all([open(produce), open(consume), open(neither)])
    expect(reader.partitions('calls')).toBe(2)
    await edge.append('calls', [recordOf(['a'], { key: '0' }), recordOf(['b'], { key: '0' })])
    await edge.append('calls', [recordOf(['c'], { key: '1', text: 'z'.repeat(5_000) })])
    expect(offsets(await reader.end('calls'))).toEqual([2, 1])
    expect(offsets(await reader.committed('calls'))).toEqual([0, 0])
    expect(edge.health().unappliedBytes).toBeGreaterThan(5_000)
    expect(reader.health().unappliedBytes).toBeGreaterThan(0)
    expect(reader.lag().filter(({ records }) => records > 0)).toMatchObject([
      { topic: 'calls', partition: 0, records: 2 },
      { topic: 'calls', partition: 1, records: 1 },
    ])
    await applyRows(applier, 'calls', 3)
    expect(offsets(await reader.committed('calls'))).toEqual([2, 1])
    expect(reader.health()).toEqual({ status: 'ok', unappliedBytes: 0, lagMs: 0 })
    await expect(reader.append('calls', [recordOf(['d'])])).rejects.toThrow(/not opened to append/)
    expect(() => edge.consume('calls', never())).toThrow(/not opened to consume/)
  })

  test('a partition that is not applied shows its age, whatever the others do', async () => {
    const { open } = await cluster({ partitions: 2 })
    const log = await open()
    const reader = await open(neither)
    await log.append('calls', [recordOf(['stuck'], { key: '0' })])
    await log.append('calls', [recordOf(['moves'], { key: '1' })])
    await reader.end('calls')
    const seen = Date.now()
    for await (const batch of log.consume('calls', never())) {
      if (batch.partition !== 1) continue
      await log.commit({ topic: 'calls', partition: 1, offset: batch.lastOffset })
      break
    }
    await eventually(() => expect(Date.now() - seen).toBeGreaterThan(20))
    expect(offsets(await reader.committed('calls'))).toEqual([0, 1])
    expect(reader.health().lagMs).toBeGreaterThanOrEqual(20)
    expect(reader.lag().find(({ records }) => records > 0)).toMatchObject({ partition: 0, records: 1 })
  })
})

describe('the group of workers', () => {
  test('two workers share the partitions; nothing is left out while they come and go', async () => {
    const { open } = await cluster({ partitions: 4 })
    const edge = await open(produce)
    const firstLog = await open(consume)
    let joined = 0
    firstLog.onRebalance?.(() => void joined++)
    const first = worker(firstLog)
    await toAll(edge, 'exclusive')
    await eventually(() => expect(first.ids).toHaveLength(4), { withinMs: 60_000 })
    const joinedAlone = joined
    expect(joinedAlone).toBeGreaterThan(0)
    const second = worker(await open(consume))
    let round = 0
    await eventually(
      async () => {
        await toAll(edge, `both${round++}`)
        expect(second.partitions.size).toBe(2)
      },
      { withinMs: 60_000 },
    )
    // With each membership, so that log and tables are compared again.
    expect(joined).toBeGreaterThan(joinedAlone)
    await first.stop()
    await toAll(edge, 'last')
    const expected = ['exclusive', 'last', ...Array.from({ length: round }, (_, n) => `both${n}`)]
    const wanted = expected.flatMap((name) => keys.map((key) => `${name}:${key}`)).sort()
    // The first one still holds its partitions; they go over when it leaves the group.
    expect(second.partitions.size).toBe(2)
    await firstLog.close()
    const rest = worker(await open(consume))
    await eventually(() => expect([...new Set([...first.ids, ...second.ids, ...rest.ids])].sort()).toEqual(wanted), {
      withinMs: 60_000,
    })
    await Promise.all([second.stop(), rest.stop()])
  })

  test('a partition that moves while a batch is applied is applied by its new worker, and the commit of the old one changes nothing', async () => {
    const { open } = await cluster({ partitions: 2 })
    const [old, next] = await Promise.all([open(), open(consume)])
    await old.append('calls', [recordOf(['0'], { key: '0' })])
    await old.append('calls', [recordOf(['1'], { key: '1' })])
    const taken: Batch[] = []
    const batches = old.consume('calls', never())[Symbol.asyncIterator]()
    taken.push((await batches.next()).value, (await batches.next()).value)
    const moved = applyRows(next, 'calls', 1)
    const { ids, batches: redelivered } = await moved
    expect(ids).toHaveLength(1)
    for (const { partition, lastOffset } of taken)
      await committed(old, { topic: 'calls', partition, offset: lastOffset })
    expect(offsets(await old.committed('calls'))).toEqual([1, 1])
    expect(ids).toEqual([String(redelivered[0]?.partition)])
    await batches.return?.()
  })

  test('a static member comes back to its partitions without a rebalance', async () => {
    // However long it is away here.
    const { open, settings } = await cluster({ partitions: 4, sessionTimeoutMs: 120_000 })
    const edge = await open(produce)
    const logs = await Promise.all(
      ['a', 'b'].map((instanceId) => open({ ...consume, instanceId: `${settings.group}-${instanceId}` })),
    )
    const [a, b] = logs.map(worker) as [ReturnType<typeof worker>, ReturnType<typeof worker>]
    const both = [a, b]
    let round = 0
    await eventually(
      async () => {
        await toAll(edge, `warm${round++}`)
        expect(a.partitions.size * b.partitions.size).toBeGreaterThanOrEqual(4)
      },
      { withinMs: 60_000 },
    )
    await eventually(() => expect(new Set(both.flatMap(({ ids }) => ids)).size).toBe(4 * round), { withinMs: 60_000 })
    const admin = new Kafka({ brokers: settings.brokers, logLevel: logLevel.NOTHING }).admin()
    onTestFinished(() => admin.disconnect())
    const members = async () => {
      const { groups } = await admin.describeGroups([settings.group])
      return { state: groups[0]?.state, ids: groups[0]?.members.map(({ memberId }) => memberId).sort() }
    }
    const before = await members()
    expect(before).toMatchObject({ state: 'Stable', ids: [expect.anything(), expect.anything()] })
    const seen = b.ids.length
    await a.stop()
    await logs[0]?.close()
    expect(await members()).toEqual(before)
    await toAll(edge, 'away')
    await eventually(() => expect(b.ids).toHaveLength(seen + 2))
    const back = worker(await open({ ...consume, instanceId: `${settings.group}-a` }))
    await eventually(() => expect(back.ids).toHaveLength(2), { withinMs: 60_000 })
    expect([...b.ids.slice(seen), ...back.ids].sort()).toEqual(keys.map((key) => `away:${key}`))
    await Promise.all([b.stop(), back.stop()])
  })
})

describe('bounds', () => {
  test('appends that wait share requests', async () => {
    const { open } = await cluster({ partitions: 4 })
    const log = await open(produce)
    await Promise.all(
      Array.from({ length: 1_000 }, (_, n) => log.append('calls', [recordOf([String(n)], { key: String(n % 4) })])),
    )
    expect(log.counters().records).toBe(1_000)
    expect(log.counters().requests).toBeLessThan(10)
    expect(offsets(await log.end('calls'))).toEqual([250, 250, 250, 250])
  })

  test('a record that is too large is split between rows, and a row that is too large is refused', async () => {
    const { open } = await cluster()
    const log = await open()
    const text = 'x'.repeat(1_000_000)
    const ids = Array.from({ length: 20 }, (_, n) => String(n))
    const { offset } = await log.append('tables', [recordOf(ids, { text })])
    expect(offset).toBe(3)
    const applied = await applyRows(log, 'tables', 20)
    expect(applied.ids).toEqual(ids)
    expect(applied.batches.flatMap(({ records }) => records.map(({ rowCount }) => rowCount))).toEqual([8, 8, 4])
    const refused = await log.append('tables', [recordOf(['a'], { text: text.repeat(9) })]).catch((error) => error)
    expect(refused).toBeInstanceOf(Refusal)
    expect((refused as Refusal).kind).toBe('too_large')
    expect(log.health().unappliedBytes).toBe(0)
  })

  test('memory of a slow consumer is bounded, and it gets everything', async () => {
    const { open } = await cluster({ partitions: 2, batchBytes: 2 ** 18, maxBufferedBytes: 2 ** 20 })
    const log = await open()
    const text = 'y'.repeat(100_000)
    for (let n = 0; n < 20; n++)
      await Promise.all(
        Array.from({ length: 10 }, (_, i) =>
          log.append('calls', [recordOf([`${n}.${i}`], { key: String(i % 2), text })]),
        ),
      )
    let most = 0
    const ids = new Set<string>()
    for await (const batch of log.consume('calls', never())) {
      most = Math.max(most, log.bufferedBytes())
      for (const id of await idsOf(batch)) ids.add(id)
      expect(batch.records.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)).toBeLessThanOrEqual(2 ** 19)
      await log.commit({ topic: 'calls', partition: batch.partition, offset: batch.lastOffset })
      if (ids.size === 200) break
    }
    // One fetch of 4 MiB per partition may be under way when a partition is full.
    expect(most).toBeLessThan(2 * (4 * 2 ** 20 + 2 ** 18))
    expect(log.bufferedBytes()).toBe(0)
  })

  test('appends over the bound of bytes in memory are refused with 429', async () => {
    const { open } = await cluster({ maxInflightBytes: 50_000 })
    const log = await open(produce)
    const text = 'z'.repeat(30_000)
    const outcomes = await Promise.allSettled(
      ['a', 'b', 'c'].map((id) => log.append('calls', [recordOf([id], { text })])),
    )
    const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as Refusal] : []))
    expect(refused.map(({ kind }) => kind)).toEqual(['over_limit', 'over_limit'])
    expect(refused[0]?.retryAfterSeconds).toBe(1)
    await log.append('calls', [recordOf(['d'], { text })])
    expect(offsets(await log.end('calls'))).toEqual([2])
  })
})
