// The control socket of a process that applies the log, and the services that work for commands: rebuilds and moves.
import { join } from 'node:path'
import type { ProcessAudit } from '../core/audit/audit.ts'
import type { StoredBlobs } from '../core/blobs/blobs.ts'
import type { Clock } from '../core/clock/clock.ts'
import type { Invoke } from '../core/http/invoke.ts'
import type { Freshness } from '../core/log/freshness.ts'
import type { Log } from '../core/log/log.ts'
import { listenForCommands } from '../core/process/control-socket.ts'
import type { Logger } from '../core/process/logger.ts'
import type { CommandTable, Services } from '../core/process/services.ts'
import type { Store } from '../core/store/store.ts'
import { backupOf } from '../operations/backup/backup.ts'
import { createRebuilds, type Rebuilds } from '../operations/rebuild/rebuild.ts'
import { createStateFile, createStateTable } from '../operations/rebuild/state.ts'
import { createTasks } from '../operations/tasks.ts'
import { createCostExplainer } from '../query/call-costs/explain.ts'
import { loadDefaultPrices } from '../query/costs/default-prices.ts'
import { createPrices } from '../query/costs/prices.ts'
import type { DeadLetters } from '../worker/dead-letters/dead-letters.ts'
import type { Worker } from '../worker/run.ts'
import type { Config } from './config.ts'
import { auditCommands } from './control/audit.ts'
import { costCommands } from './control/costs.ts'
import { erasureCommands } from './control/erasures.ts'
import { rebuildCommands, rebuildCommandsElsewhere } from './control/rebuild.ts'
import { routeCommands } from './control/routes.ts'
import { moveCommands } from './control/transfer.ts'
import { examineStore } from './doctor.ts'
import { hasOwnEngine, isOneMachine, openRecords, openStore, sharedServerOf } from './drivers.ts'

export type CommandDeps = {
  config: Config
  log: Log
  store: Store
  blobs: StoredBlobs
  clock: Clock
  logger: Logger
  services: Services
  audit: ProcessAudit
  /** Calls routes for commands; undefined while the server starts. */
  invoke(): Pick<Invoke, 'json'> | undefined
  /** Address that this process listens on; undefined while it starts. */
  address(): string | undefined
}

type Applied = { worker: Worker; deadLetters: DeadLetters; freshness: Freshness }

/** Starts the work of commands, then the socket on which they are asked for. */
export async function startCommands(deps: CommandDeps, applied: Applied): Promise<void> {
  const { config, services } = deps
  // Where any process may use both engines the command does the work itself.
  const rebuilds = hasOwnEngine(config) ? await startRebuilds(deps, applied.worker) : undefined
  await startMoves(deps, applied, rebuilds)
  await services.start({
    name: 'commands',
    start: () => listenForCommands(config.dataDir, services.run),
    stop: (socket) => socket.close(),
    stopMs: 2_000,
    commands: () => ({
      ...commandsWithoutState(deps, applied.freshness),
      ...(rebuilds === undefined && rebuildCommandsElsewhere),
    }),
  })
}

/** Commands that ask the store, the routes or the process itself. */
function commandsWithoutState({ config, store, invoke, address }: CommandDeps, freshness: Freshness): CommandTable {
  const prices = createPrices({ store, shipped: loadDefaultPrices(config.pricesFile) })
  return {
    ping: () => 'here',
    address,
    doctor: () => examineStore(config, store),
    ...auditCommands({ store, freshness }),
    ...erasureCommands({ store, freshness }),
    ...costCommands({ explainer: createCostExplainer({ store, prices }), freshness }),
    ...routeCommands(invoke),
  }
}

async function startRebuilds({ config, log, logger, services, ...deps }: CommandDeps, worker: Worker) {
  const { records } = await services.start({
    name: 'kept records',
    start: () => openRecords(config, logger),
    stop: (opened) => opened.close(),
  })
  const server = sharedServerOf(config)
  // On a server the scratch tables belong to a store: those of the batches are not to be used.
  const own = await services.start({
    name: 'store of rebuilds',
    start: () => (server ? openStore(config, logger, { statement() {} }) : undefined),
    stop: (opened) => opened.close(),
    stopMs: 60_000,
  })
  const store = own ?? deps.store
  const rebuilds = await services.start({
    name: 'rebuild',
    start: () =>
      createRebuilds({
        store,
        log,
        worker,
        records,
        ...(server ? { server } : {}),
        state: server ? createStateTable(store, server) : createStateFile(join(config.dataDir, 'rebuild.json')),
        onEnd(status) {
          if (status.phase === 'done') logger.info(status, 'rebuilt')
          else logger.warn(status, 'rebuild not ended')
        },
      }),
    stop: (started) => started.stop(),
    stopMs: 60_000,
    commands: (started) => rebuildCommands(started, log),
  })
  const unfinished = await rebuilds.unfinished()
  if (unfinished !== null)
    logger.warn({ table: unfinished }, 'a rebuild is unfinished: callhouse rebuild goes on with it, or gives it up')
  return rebuilds
}

/** Exports, imports and backups, one at a time. */
function startMoves(deps: CommandDeps, { worker, deadLetters }: Applied, rebuilds: Rebuilds | undefined) {
  const { config, log, store, blobs, clock, logger, audit } = deps
  const { dataDir, fileBucket: bucket } = config
  const isRebuilding = async () =>
    rebuilds?.status()?.phase === 'working' || ((await rebuilds?.unfinished()) ?? null) !== null
  return deps.services.start({
    name: 'move',
    start: () =>
      createTasks((status) => {
        if (status.phase === 'done') logger.info(status, 'task ended')
        else logger.warn(status, 'task not ended')
      }),
    stop: (tasks) => tasks.stop(),
    stopMs: 60_000,
    commands: (tasks) =>
      moveCommands({
        config,
        store,
        log,
        blobs,
        deadLetters,
        tasks,
        audit,
        onClock: clock.pass,
        applies: true,
        // only the log and the tables of one machine are files that lie together
        backup: isOneMachine(config) ? backupOf({ dataDir, store, log, worker, isRebuilding, bucket }) : undefined,
      }),
  })
}
