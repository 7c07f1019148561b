// Rebuilds and replays in the process of the command, where any process may use the log and the store.

import type { Config } from '../app/config.ts'
import { rebuildCommands } from '../app/control/rebuild.ts'
import { matchEngines, openLog, openRecords, openStore, sharedServerOf } from '../app/drivers.ts'
import { createSerialQueue } from '../core/concurrency/serial-queue.ts'
import type { Log } from '../core/log/log.ts'
import { createLogger } from '../core/process/logger.ts'
import type { Store } from '../core/store/store.ts'
import type { RebuildingWorker } from '../operations/rebuild/kind.ts'
import { createRebuilds } from '../operations/rebuild/rebuild.ts'
import type { SharedServer } from '../operations/rebuild/shadow-tables.ts'
import { createStateTable } from '../operations/rebuild/state.ts'
import { createCallMaterializer, type NextPosition } from '../worker/calls/merge-fragments.ts'
import { createDeduplication } from '../worker/cleanup/deduplicate.ts'
import { createTableDeadLetters } from '../worker/dead-letters/dead-letters-table.ts'
import { createPortions } from '../worker/split/portions.ts'
import { isPatch } from '../worker/split/segment-rows.ts'
import type { Ask } from './ask.ts'

const stopSignals = ['SIGINT', 'SIGTERM'] as const

/** What workers do elsewhere: here nothing but the rebuild itself uses the store. */
function createOwnWorker(store: Store, log: Pick<Log, 'committed'>): RebuildingWorker {
  const queue = createSerialQueue()
  const calls = createCallMaterializer(store)
  const apply = createPortions({ store, deadLetters: createTableDeadLetters(store), queue })
  const alone = { exclusive: <T>(job: () => Promise<T>) => job() }
  const next: NextPosition = async () => {
    const committed = await log.committed('calls')
    return { partition: 0, offset: (committed.find(({ partition }) => partition === 0)?.offset ?? 0) + 1 }
  }
  return {
    ...alone,
    rollups: alone,
    fieldIndexRollups: alone,
    deduplicateAll: () => createDeduplication({ store, calls, queue, committed: async () => [], next }).all(),
    async reapply(topic, rows) {
      const { offset } = await next()
      const materializer =
        topic === 'calls' ? calls.reapplied(next) : { topic, beforeInsert: async () => {}, afterInsert: async () => {} }
      const batch = {
        ...{ topic, partition: 0, firstOffset: offset, lastOffset: offset, records: [], oldestMs: Date.now() },
        ...{ rowCount: rows.length, source: { bytes: [] } },
        patchCount: topic === 'calls' ? rows.filter(isPatch).length : 0,
      }
      await apply(materializer, batch, rows)
    },
  }
}

/** Each shard has rows of its own, which only a worker of that shard may fold. */
async function checkShards(store: Store, { cluster }: SharedServer): Promise<void> {
  if (cluster === undefined) return
  const [row] = await store.rows<{ n: number }>({
    name: 'rebuild.shards',
    sql: 'SELECT toUInt32(uniqExact(shard_num)) AS n FROM system.clusters WHERE cluster = {cluster:String}',
    params: { cluster },
  })
  if (Number(row?.n) > 1)
    throw new Error('rebuild and replay work on clusters of one shard, with any number of replicas')
}

/**
 * Runs the work with a way to ask for rebuilds; a signal ends what runs, to be gone on with later.
 * @param through wraps the store, for a fault in the middle
 */
export async function withRebuilds<T>(
  config: Config,
  work: (ask: Ask) => Promise<T>,
  through: (store: Store) => Store = (store) => store,
): Promise<T> {
  const { log: logger } = createLogger({ level: 'error' })
  const server = sharedServerOf(config) as SharedServer
  const closing: (() => Promise<void>)[] = []
  try {
    const store = through(await openStore(config, logger, { statement() {} }))
    closing.push(() => store.close())
    await checkShards(store, server)
    await store.migrate()
    const log = await openLog(config, 'query', logger)
    closing.push(() => log.close())
    await matchEngines({ log, store }, config, logger, config.adoptLog)
    const { records, close } = await openRecords(config, logger)
    closing.push(close)
    const rebuilds = createRebuilds({
      ...{ store, log, records, server },
      worker: createOwnWorker(store, log),
      state: createStateTable(store, server),
      onEnd: () => {},
    })
    closing.push(() => rebuilds.stop())
    const stop = () => void rebuilds.stop()
    for (const signal of stopSignals) process.once(signal, stop)
    closing.push(async () => {
      for (const signal of stopSignals) process.off(signal, stop)
    })
    const handle = rebuildCommands(rebuilds, log)
    return await work((command, args) => handle({ command, args }))
  } finally {
    for (const close of closing.toReversed()) await close()
  }
}
