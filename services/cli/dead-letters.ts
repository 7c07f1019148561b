// `callhouse deadletters`: rows that the store refused.

import type { Config } from '../app/config.ts'
import { deadLetterCommands } from '../app/control/dead-letters.ts'
import { openLog, openStore } from '../app/drivers.ts'
import type { Log } from '../core/log/log.ts'
import { createLogger } from '../core/process/logger.ts'
import { runCommand } from '../core/process/services.ts'
import { createTableDeadLetters } from '../worker/dead-letters/dead-letters-table.ts'
import { ask, isShared } from './ask.ts'
import { printJson, UsageError } from './command.ts'

/** Without a server in between, where log and store are engines that any process may use. */
async function askEngines(config: Config, command: string, args: string[]): Promise<unknown> {
  const { log: logger } = createLogger({ level: 'error' })
  const store = await openStore(config, logger, { statement() {} })
  let log: Promise<Log> | undefined
  const append: Log['append'] = async (...record) => {
    log ??= openLog(config, 'ingest', logger)
    return (await log).append(...record)
  }
  try {
    const commands = deadLetterCommands({ deadLetters: createTableDeadLetters(store), log: { append } })
    return await runCommand(commands, { command, args })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  } finally {
    await (await log)?.close()
    await store.close()
  }
}

export async function deadLetters(config: Config, verb: 'list' | 'show' | 'replay', args: string[]): Promise<void> {
  printJson(await (isShared(config) ? askEngines : ask)(config, `deadletters.${verb}`, args))
}
