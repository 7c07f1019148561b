// `callhouse export` and `callhouse import`: over the engines where any process may use them, else in the server that has them.
import { resolve } from 'node:path'
import { commandAudit } from '../app/audit.ts'
import { openBlobs } from '../app/blobs.ts'
import type { Config } from '../app/config.ts'
import { moveCommands } from '../app/control/transfer.ts'
import { matchEngines, openLog, openStore } from '../app/drivers.ts'
import type { Log } from '../core/log/log.ts'
import { createLogger } from '../core/process/logger.ts'
import { runCommand } from '../core/process/services.ts'
import { createTasks } from '../operations/tasks.ts'
import { createTableDeadLetters } from '../worker/dead-letters/dead-letters-table.ts'
import { type Ask, isShared, withServer } from './ask.ts'
import { print } from './command.ts'
import { follow } from './follow.ts'

/** Runs the work with a way to ask the engines themselves, where any process may use them. */
async function withEngines<T>(config: Config, work: (ask: Ask) => Promise<T>): Promise<T> {
  const { log: logger } = createLogger({ level: 'error' })
  const store = await openStore(config, logger, { statement() {} })
  let log: Log | undefined
  const tasks = createTasks(() => undefined)
  const audit = commandAudit(config, logger)
  try {
    await store.migrate()
    log = await openLog(config, 'query', logger)
    await matchEngines({ log, store }, config, logger, false)
    const blobs = await openBlobs(config, 'query', logger)
    const deadLetters = createTableDeadLetters(store)
    const deps = { config, store, log, blobs, deadLetters, tasks, audit, onClock() {}, applies: false }
    const commands = moveCommands(deps)
    return await work((command, args) => runCommand(commands, { command, args }))
  } finally {
    await tasks.stop()
    await audit.close()
    await log?.close()
    await store.close()
  }
}

/** @param project `''`: all of them */
export async function transfer(
  config: Config,
  name: 'export' | 'import' | 'backup',
  folder: string,
  project = '',
): Promise<void> {
  const args = project === '' ? [resolve(folder)] : [resolve(folder), project]
  await (isShared(config) ? withEngines : withServer)(config, (ask) => follow(ask, `move.${name}`, args, print))
}
