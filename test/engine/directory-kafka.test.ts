// tier: deep kafka
// The directory over a real broker: a compacted topic that each process reads whole and follows.
import { Kafka, logLevel } from 'kafkajs'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { itemKey } from '../../services/core/directory/items.ts'
import { openSharedDirectory } from '../../services/core/directory/shared.ts'
import { createKeys } from '../../services/core/http/keys.ts'
import { openKafkaItems } from '../../services/core/log/kafka/items.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { kafkaBrokers, kafkaSettings } from '../fixtures/kafka.ts'

// Starting a broker takes longer than a test may.
beforeAll(() => kafkaBrokers())

test('the others read the writes of a process, when they start and while they run', async () => {
  const settings = kafkaSettings(await kafkaBrokers())
  const start = async () => {
    const directory = await openSharedDirectory({ log: await openKafkaItems(settings), staleMs: 60_000 })
    onTestFinished(() => directory.close())
    return { directory, keys: createKeys(directory, { configured: [], arrives: directory.arrives }) }
  }
  const one = await start()
  const two = await start()
  const first = one.keys.create({ userId: 'u', role: 'writer', grants: ['acme'] })
  await first.stored
  expect(one.keys.find(first.text)?.userId).toBe('u')
  expect((await two.keys.arriving(first.text))?.userId ?? two.keys.find(first.text)?.userId).toBe('u')
  const rotated = await two.keys.rotate(first.id, 0)
  await two.keys.revoke(rotated.id)
  await expectSoon(() => one.keys.list().map(({ id }) => id)).toEqual([first.id])
  expect(one.keys.find(first.text)).toBeUndefined()
  await two.directory.append(
    Array.from({ length: 300 }, (_, n) => ({
      key: itemKey('user', `user ${n % 100}`),
      value: n % 100 === 7 && n > 200 ? null : { kind: 'person', entity: 'e'.repeat(n) },
    })),
    'x',
  )
  const three = await start()
  const users = three.directory.state().users
  expect([users.size, users.has('user 7'), users.get('user 8')?.entity.length]).toEqual([100, false, 208])

  const admin = new Kafka({ brokers: settings.brokers, logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  const described = await admin.describeConfigs({
    resources: [{ type: 2, name: `${settings.topicPrefix}directory`, configNames: ['cleanup.policy'] }],
    includeSynonyms: false,
  })
  await admin.disconnect()
  expect(described.resources[0]?.configEntries[0]?.configValue).toBe('compact')
})
