// tier: deep kafka
// The Kafka log when its broker dies, hangs or is away: what was acknowledged stays, callers are answered in time.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { Refusal } from '../../services/core/errors.ts'
import { asFault, type Fault } from '../../services/core/http/errors.ts'
import { createFreshness } from '../../services/core/log/freshness.ts'
import type { KafkaLogOptions } from '../../services/core/log/kafka/client.ts'
import { createKafkaLog, type KafkaLog } from '../../services/core/log/kafka/kafka-log.ts'
import { createProgress } from '../../services/core/log/progress.ts'
import { eventually } from '../fixtures/eventually.ts'
import { kafkaSettings } from '../fixtures/kafka.ts'
import { type Broker, startBroker } from '../fixtures/kafka-broker.ts'
import { idsOf, recordOf } from '../fixtures/log.ts'

let broker: Broker
beforeAll(async () => {
  broker = await startBroker()
})
afterAll(() => broker?.dispose())

async function open(more: Partial<KafkaLogOptions> = {}): Promise<KafkaLog> {
  const log = await createKafkaLog(kafkaSettings([broker.address], { partitions: 2, ...more }))
  onTestFinished(() => log.close())
  return log
}

/** Applies until every id was delivered; the number of rows that came, doubles included. */
async function applyAll(log: KafkaLog, wanted: Set<string>): Promise<Set<string>> {
  const missing = new Set(wanted)
  const seen = new Set<string>()
  for await (const batch of log.consume('calls', new AbortController().signal)) {
    for (const id of await idsOf(batch)) {
      missing.delete(id)
      seen.add(id)
    }
    const position = { topic: 'calls', partition: batch.partition, offset: batch.lastOffset } as const
    await eventually(() => log.commit(position))
    if (missing.size === 0) break
  }
  return seen
}

const append = (log: KafkaLog, id: string) => log.append('calls', [recordOf([id], { key: String(id.length % 2) })])
const settled = (log: KafkaLog, id: string): Promise<Fault | null> =>
  append(log, id).then(
    () => null,
    (error: unknown) => {
      expect(error).toBeInstanceOf(Refusal)
      return asFault(error) as Fault
    },
  )

test('a broker that is killed and started again under load loses nothing that was acknowledged', {
  timeout: 180_000,
}, async () => {
  const log = await open({ deliveryTimeoutMs: 60_000 })
  const acknowledged = new Set<string>()
  const refused: Fault[] = []
  let isOver = false
  const callers = Array.from({ length: 10 }, async (_, caller) => {
    for (let n = 0; !isOver; n++) {
      const id = `${caller}:${n}`
      const fault = await settled(log, id)
      if (fault === null) acknowledged.add(id)
      else refused.push(fault)
    }
  })
  const grown = async (by: number): Promise<void> => {
    const target = acknowledged.size + by
    await eventually(() => expect(acknowledged.size).toBeGreaterThanOrEqual(target), { withinMs: 60_000 })
  }
  await grown(200)
  await broker.stop('kill')
  await broker.start()
  await grown(200)
  await broker.stop()
  await broker.start()
  await grown(200)
  isOver = true
  await Promise.all(callers)
  const seen = await applyAll(log, acknowledged)
  for (const id of seen) expect(id).toMatch(/^\d+:\d+$/)
  expect([429, 503]).toEqual(expect.arrayContaining([...new Set(refused.map(({ status }) => status))]))
})

test('without a broker appends end with 503 in time, then at once, and reads go on as stale', {
  timeout: 180_000,
}, async () => {
  const log = await open({ deliveryTimeoutMs: 2_500, maxInflightBytes: 20_000 })
  await append(log, 'before')
  await broker.stop('kill')
  const first = await settled(log, 'first')
  expect(first?.status).toBe(503)
  expect(Number(first?.headers['Retry-After'])).toBeGreaterThanOrEqual(1)
  const many = await Promise.all(Array.from({ length: 100 }, (_, n) => settled(log, `many ${n}`)))
  for (const fault of many) expect([429, 503]).toContain(fault?.status)
  expect(log.health().status).toBe('degraded')
  expect(log.health().unappliedBytes).toBeLessThan(30_000)

  const freshness = createFreshness({ log, progress: createProgress(), boundMs: 1_000 })
  const context = { header: () => undefined, query: new URLSearchParams(), signal: new AbortController().signal }
  expect(await freshness.wait(context, ['calls'])).toHaveProperty('X-Callhouse-Stale')

  await broker.start()
  await eventually(async () => expect(await settled(log, 'after')).toBeNull(), { withinMs: 60_000 })
  const seen = await applyAll(log, new Set(['before', 'after']))
  for (const id of seen) expect(id).toMatch(/^(before|first|after|many \d+)$/)
  await eventually(async () => {
    await log.end('calls')
    expect(log.health().status).toBe('ok')
  })
})

test('a broker that hangs is a broker that is gone; a consumer goes on after it', { timeout: 180_000 }, async () => {
  const log = await open({ deliveryTimeoutMs: 2_000 })
  await append(log, 'before')
  await applyAll(log, new Set(['before']))
  await broker.freeze()
  try {
    const fault = await settled(log, 'frozen')
    expect(fault?.status).toBe(503)
    await expect(log.end('calls')).rejects.toMatchObject({ kind: 'unavailable' })
  } finally {
    broker.thaw()
  }
  await eventually(async () => expect(await settled(log, 'after')).toBeNull(), { withinMs: 60_000 })
  await applyAll(log, new Set(['after']))
  await expect(log.end('calls')).resolves.toHaveLength(2)
})
