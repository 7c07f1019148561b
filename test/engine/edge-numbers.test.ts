// tier: deep kafka
// Numbers of edges over a real broker: many that start at once, ends in order and without, numbers that operators give.
import { Kafka, logLevel } from 'kafkajs'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { Refusal } from '../../services/core/errors.ts'
import { openKafkaClaims } from '../../services/core/log/kafka/claims.ts'
import type { KafkaLogOptions } from '../../services/core/log/kafka/client.ts'
import { type EdgeLease, type EdgeLeaseOptions, leaseEdgeNumber } from '../../services/core/log/kafka/edge-lease.ts'
import { eventually } from '../fixtures/eventually.ts'
import { kafkaBrokers, kafkaSettings } from '../fixtures/kafka.ts'

// Starting a broker takes longer than a test may.
beforeAll(() => kafkaBrokers())

/** Starts edges over one log. */
async function cluster() {
  const settings: KafkaLogOptions = kafkaSettings(await kafkaBrokers())
  const warnings: string[] = []
  const logger = { info() {}, warn: (_: object, text: string) => void warnings.push(text), error() {} }
  async function start(more: Partial<EdgeLeaseOptions> = {}): Promise<EdgeLease> {
    const claims = await openKafkaClaims(settings)
    try {
      const lease = await leaseEdgeNumber({ claims, fixed: 0, maxNumber: 1023, logger, ...more })
      onTestFinished(() => lease.close())
      return lease
    } catch (error) {
      await claims.close()
      throw error
    }
  }
  return { settings, start, warnings }
}

test('edges that start at once have different numbers, however few there are', async () => {
  const { start } = await cluster()
  const edges = await Promise.all(Array.from({ length: 20 }, () => start({ maxNumber: 28 })))
  expect(new Set(edges.map((edge) => edge.number())).size).toBe(20)
  await Promise.all(edges.map((edge) => edge.renew()))
  expect(new Set(edges.map((edge) => edge.number())).size).toBe(20)
})

test('a number is free at once after an end in order, and after twice its term when the edge was killed', async () => {
  const { settings, start } = await cluster()
  const termMs = 400
  const first = await start({ maxNumber: 1, termMs })
  await expect(start({ maxNumber: 1, termMs })).rejects.toThrow('All 1 numbers of edges are in use')
  await first.close()
  const second = await start({ maxNumber: 1, termMs })
  await second.close()
  const killed = await openKafkaClaims(settings)
  const { atMs } = await killed.append({ owner: 'killed', number: 1, isFixed: false })
  await killed.close()
  const startedMs = async () => {
    await start({ maxNumber: 1, termMs })
    return Date.now()
  }
  await expect(startedMs()).rejects.toThrow('All 1 numbers')
  const untilMs = await eventually(startedMs)
  expect(untilMs - atMs).toBeGreaterThanOrEqual(2 * termMs)
})

test('an edge that slept longer than its term refuses to be one until it has a number again', async () => {
  const { start, warnings } = await cluster()
  let nowMs = 0
  const edge = await start({ maxNumber: 2, clocks: [() => nowMs] })
  const number = edge.number()
  nowMs = 29_999
  expect(edge.number()).toBe(number)
  nowMs = 30_000
  const refused = (() => {
    try {
      return edge.number()
    } catch (error) {
      return error
    }
  })()
  expect(refused).toBeInstanceOf(Refusal)
  expect(refused).toMatchObject({ kind: 'unavailable', retryAfterSeconds: 2 })
  expect(edge.problem()).toMatch(/not renewed/)
  await edge.renew()
  expect([edge.number(), edge.problem(), warnings]).toEqual([number, null, []])
})

test('a number that the operator gives is kept, and nobody leases it', async () => {
  const { start, warnings } = await cluster()
  const fixed = await start({ fixed: 2, maxNumber: 3 })
  const [one, other] = [await start({ maxNumber: 3 }), await start({ maxNumber: 3 })]
  expect([one.number(), other.number()].sort()).toEqual([1, 3])
  await expect(start({ fixed: one.number() })).rejects.toThrow(`The edge number ${one.number()} is leased by another`)
  expect(warnings).toEqual([])
  expect([(await start({ fixed: 2 })).number(), fixed.number()]).toEqual([2, 2])
  expect(warnings).toEqual(['another process has or had this edge number: no two that live may share one'])
})

test('a topic whose times are those of its writers is refused', async () => {
  const { settings, start } = await cluster()
  const admin = new Kafka({ brokers: settings.brokers, logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  const configEntries = [{ name: 'message.timestamp.type', value: 'CreateTime' }]
  await admin.createTopics({ topics: [{ topic: `${settings.topicPrefix}edges`, configEntries }] })
  await admin.disconnect()
  await expect(start()).rejects.toThrow('edges: message.timestamp.type must be LogAppendTime')
})
