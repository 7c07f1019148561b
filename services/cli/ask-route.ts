// Asks a route of the server as the operator: what it does over HTTP for those with a key.

import type { Config } from '../app/config.ts'
import { routeCommands } from '../app/control/routes.ts'
import { type Callhouse, startCallhouse } from '../app/server.ts'
import { createLogger } from '../core/process/logger.ts'
import { runCommand } from '../core/process/services.ts'
import { isShared, ownPort, withServer } from './ask.ts'
import { UsageError } from './command.ts'

type Params = Readonly<Record<string, string>>
export type AskRoute = <T>(route: string, body?: unknown, params?: Params) => Promise<T>

/** Runs work on a server that answers reads for this command alone, beside those that share its engines. */
async function withQueryServer<T>(config: Config, work: (own: Callhouse) => Promise<T>): Promise<T> {
  const own = await startCallhouse({ ...config, ...ownPort }, createLogger({ level: 'error' }), 'query')
  try {
    return await work(own)
  } finally {
    await own.shutdown.run('command done')
  }
}

/** @throws UsageError with what the route refuses */
export function withRoutes<T>(config: Config, work: (ask: AskRoute) => Promise<T>): Promise<T> {
  const argsOf = (route: string, body: unknown, params: Params) => [
    route,
    JSON.stringify(body ?? null),
    JSON.stringify(params),
  ]
  if (!isShared(config))
    return withServer(config, (ask) =>
      work(async <T>(route: string, body?: unknown, params: Params = {}) => {
        return (await ask('routes.ask', argsOf(route, body, params))) as T
      }),
    )
  return withQueryServer(config, ({ invoke }) => {
    const commands = routeCommands(() => invoke)
    return work(async <T>(route: string, body?: unknown, params: Params = {}) => {
      try {
        return (await runCommand(commands, { command: 'routes.ask', args: argsOf(route, body, params) })) as T
      } catch (error) {
        throw new UsageError(error instanceof Error ? error.message : String(error))
      }
    })
  })
}
