// `callhouse rebuild` and `callhouse replay`: tables made anew, and kept records applied again.
import type { Config } from '../app/config.ts'
import { type Ask, isShared, withServer } from './ask.ts'
import { print, UsageError } from './command.ts'
import { follow } from './follow.ts'
import { withRebuilds } from './rebuild-on-server.ts'

const withEngines = (config: Config, work: (ask: Ask) => Promise<void>): Promise<void> =>
  (isShared(config) ? withRebuilds : withServer)(config, work)

export const rebuild = (config: Config, table: string | undefined, rowsPerSecond: string): Promise<void> =>
  withEngines(config, async (ask) => {
    if (table !== undefined) return follow(ask, 'rebuild.start', [table, rowsPerSecond], print)
    const { tables, unfinished } = (await ask('rebuild.list', [])) as { tables: string[]; unfinished: string | null }
    print(tables.join('\n'))
    if (unfinished !== null) print(`unfinished: ${unfinished}`)
  })

export const abandonRebuild = (config: Config): Promise<void> =>
  withEngines(config, async (ask) => print(`given up: ${await ask('rebuild.abandon', [])}`))

export async function replay(config: Config, from: string, rowsPerSecond: string): Promise<void> {
  if (from === '') throw new UsageError('callhouse replay needs --from <position>')
  await withEngines(config, (ask) => follow(ask, 'rebuild.replay', [from, rowsPerSecond], print))
}
