// A worker that begins: what is derived in a new installation is begun before the first batch is taken.
import { expect, it } from 'vitest'
import type { Batch, Log } from '../../services/core/log/log.ts'
import { createProgress } from '../../services/core/log/progress.ts'
import { type Store, StoreError } from '../../services/core/store/store.ts'
import { topicNames } from '../../services/events/registry.ts'
import type { DeadLetters } from '../../services/worker/dead-letters/dead-letters.ts'
import { startWorker } from '../../services/worker/run.ts'
import { noInFlight } from '../../services/worker/split/in-flight.ts'

/** Steps of a worker until it takes the first calls. @param offset of the calls that are committed */
async function stepsFrom(offset: number, covering: () => Promise<void> = async () => {}) {
  const steps: string[] = []
  const begun = Promise.withResolvers<void>()
  const store: Pick<Store, 'rows' | 'command'> = {
    rows: async () => [],
    async command({ name, params }) {
      if (name !== 'rollups-cover') return
      steps.push(`covers ${params.names} up to ${params.upTo}`)
      await covering()
    },
  }
  const log: Pick<Log, 'topics' | 'consume' | 'committed' | 'owns' | 'partitions'> = {
    topics: topicNames,
    async *consume(topic): AsyncGenerator<Batch> {
      if (topic !== 'calls') return
      steps.push('takes calls')
      begun.resolve()
      yield* []
    },
    committed: async (topic) => (topic === 'calls' ? [{ topic, partition: 0, offset }] : []),
    partitions: () => 1,
    owns: () => true,
  }
  const worker = startWorker({
    log: log as Log,
    store: store as Store,
    progress: createProgress(),
    deadLetters: { list: async () => [] } as unknown as DeadLetters,
    inFlight: noInFlight,
    onRetry: (topic, { message }) => steps.push(`${topic}: ${message}`),
    onFatal: begun.reject,
  })
  await begun.promise
  await worker.stop()
  return steps
}

it('the field index of a new installation is begun while it is empty', async () => {
  expect(await stepsFrom(0)).toEqual(['covers payload_leaves up to 0', 'takes calls'])
})

it('calls are taken when it cannot be begun', async () => {
  const refuse = () => Promise.reject(new StoreError('outage', 0, 'the store is away'))
  expect(await stepsFrom(0, refuse)).toEqual([
    'covers payload_leaves up to 0',
    'calls: the store is away',
    'takes calls',
  ])
})

it('an installation with calls takes more before it derives', async () => {
  expect((await stepsFrom(7))[0]).toBe('takes calls')
})
