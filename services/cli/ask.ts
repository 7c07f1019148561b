// Ways to ask for what only a process with the engines can do.
import type { Config } from '../app/config.ts'
import { hasEmbeddedStore, hasSharedLog, openStore } from '../app/drivers.ts'
import { startCallhouse } from '../app/server.ts'
import { askOverSocket } from '../core/process/control-socket.ts'
import { createLogger } from '../core/process/logger.ts'
import { type CommandTable, runCommand } from '../core/process/services.ts'
import type { Store } from '../core/store/store.ts'
import { UsageError } from './command.ts'

export type Ask = (command: string, args: string[]) => Promise<unknown>

/** Any process may use the log and the store. */
export const isShared = (config: Config): boolean => hasSharedLog(config) && !hasEmbeddedStore(config)

/** A server that nobody but this command talks to. */
export const ownPort = { host: '127.0.0.1', port: 0, otlpGrpcPort: undefined, otlpHttpPort: undefined }

/** Over the socket of the running server; without one, inside a server that is started for the work alone. */
export async function withServer<T>(config: Config, work: (ask: Ask) => Promise<T>): Promise<T> {
  const isServed = (await askOverSocket(config.dataDir, { command: 'ping', args: [] })) !== undefined
  const own = isServed ? undefined : await startCallhouse({ ...config, ...ownPort }, createLogger({ level: 'error' }))
  own?.shutdown.onSignals()
  try {
    return await work(async (command, args) => {
      const reply = await askOverSocket(config.dataDir, { command, args })
      if (!reply) throw new Error('the server does not answer on its socket')
      if (!reply.ok) throw new UsageError(reply.reason)
      return reply.result
    })
  } finally {
    await own?.shutdown.run('command done')
  }
}

/** Asks the engines themselves where any process may use them, else the server that has them. */
export async function askingStore<T>(
  config: Config,
  commandsOf: (deps: { store: Store }) => CommandTable,
  work: (ask: Ask) => Promise<T>,
): Promise<T> {
  if (!isShared(config)) return withServer(config, work)
  const store = await openStore(config, createLogger({ level: 'error' }).log, { statement() {} })
  const commands = commandsOf({ store })
  try {
    return await work((command, args) => runCommand(commands, { command, args }))
  } finally {
    await store.close()
  }
}

/** One question. */
export const ask = (config: Config, command: string, args: string[]): Promise<unknown> =>
  withServer(config, (one) => one(command, args))
