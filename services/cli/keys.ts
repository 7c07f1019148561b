// `callhouse keys`: the API keys in the data folder.
import { mkdirSync } from 'node:fs'
import type { Config } from '../app/config.ts'
import { type Keys, openKeys } from '../core/http/keys.ts'
import { type Action, actions, type RoleName, roleNames, roles } from '../core/http/roles.ts'
import { print, UsageError } from './command.ts'

function keysOf(config: Config): Keys {
  mkdirSync(config.dataDir, { recursive: true })
  return openKeys({ dataDir: config.dataDir, configured: config.keys })
}

export function listKeys(config: Config): void {
  for (const { id, userId, role, actions: own, grants, createdAt } of keysOf(config).list()) {
    const may = own === undefined ? role : `${role}(${own.join(',')})`
    print(`${id}  ${userId}  ${may}  ${grants === '*' ? '*' : grants.join(',')}  ${createdAt}`)
  }
}

function actionsFrom(text: string): Action[] | undefined {
  if (text === '') return undefined
  const named = text.split(',')
  const unknown = named.find((one) => !actions.includes(one as Action))
  if (unknown !== undefined) throw new UsageError(`Unknown action ${unknown}; some of ${actions.join(', ')}`)
  return named as Action[]
}

/** @param onlyActions comma-separated; '' = all of the role */
export function createKey(
  config: Config,
  [userId = '', role = 'writer', ...grants]: string[],
  onlyActions: string,
): void {
  if (!roleNames.includes(role as RoleName)) throw new UsageError(`Unknown role ${role}; one of ${roles.join(', ')}`)
  const own = actionsFrom(onlyActions)
  const { id, text } = keysOf(config).create({
    ...{ userId, role: role as RoleName, grants: grants.length > 0 ? grants : '*' },
    ...(own !== undefined && { actions: own }),
  })
  print(`key ${id} (shown once): ${text}`)
}

export function revokeKey(config: Config, id: string): void {
  if (!keysOf(config).revoke(id)) throw new UsageError(`There is no key ${id}`)
  print('revoked')
}
