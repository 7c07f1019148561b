// tier: deep kafka
// The Kafka driver on a real broker: the contract, with and without compression.

import { beforeAll } from 'vitest'
import { createKafkaLog } from '../../services/core/log/kafka/kafka-log.ts'
import { kafkaBrokers, kafkaSettings } from '../fixtures/kafka.ts'
import { logContract } from './log.contract.ts'

// Starting a broker takes longer than a test may.
beforeAll(() => kafkaBrokers())

for (const compression of ['none', 'gzip'] as const)
  logContract(`kafka, compression ${compression}`, async () => {
    const settings = kafkaSettings(await kafkaBrokers(), { compression })
    return { open: (options) => createKafkaLog({ ...settings, ...options }), dispose: async () => {} }
  })
