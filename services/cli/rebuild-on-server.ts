// Rebuilds and replays in the process of the command, where any process may use the log and the store.

import type { Config } from '../app/config.ts'
import { rebuildCommands } from '../app/control/rebuild.ts'
import { matchEngines, openLog, openRecords, openStore, sharedServerOf } from '../app/drivers.ts'
import { createLogger } from '../core/process/logger.ts'
import { runCommand } from '../core/process/services.ts'
import { statement } from '../core/store/statements.ts'
import type { Store } from '../core/store/store.ts'
import { createRebuilds } from '../operations/rebuild/rebuild.ts'
import type { SharedServer } from '../operations/rebuild/shadow-tables.ts'
import { createStateTable } from '../operations/rebuild/state.ts'
import { createApplier } from '../worker/apply-batch.ts'
import { createTableDeadLetters } from '../worker/dead-letters/dead-letters-table.ts'
import type { Ask } from './ask.ts'

/** Rollups are recomputed by workers elsewhere. */
const runsAtOnce = { exclusive: <T>(job: () => Promise<T>) => job() }
const noRollups = { rollups: runsAtOnce, fieldIndexRollups: runsAtOnce }

const stopSignals = ['SIGINT', 'SIGTERM'] as const

/** Each shard has rows of its own, which only a worker of that shard may merge. */
async function checkShards(store: Store, { cluster }: SharedServer): Promise<void> {
  if (cluster === undefined) return
  const [row] = await store.rows<{ n: number }>(statement('rebuild.shards', { cluster }))
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
      store,
      log,
      records,
      server,
      worker: { ...createApplier({ store, log, deadLetters: createTableDeadLetters(store) }), ...noRollups },
      state: createStateTable(store, server),
      onEnd: () => {},
    })
    closing.push(() => rebuilds.stop())
    const stop = () => void rebuilds.stop()
    for (const signal of stopSignals) process.once(signal, stop)
    closing.push(async () => {
      for (const signal of stopSignals) process.off(signal, stop)
    })
    const commands = rebuildCommands(rebuilds, log)
    return await work((command, args) => runCommand(commands, { command, args }))
  } finally {
    for (const close of closing.toReversed()) await close()
  }
}
