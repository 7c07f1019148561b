// `callhouse keys`: the API keys in the data folder.
import { mkdirSync } from 'node:fs'
import type { Config } from '../app/config.ts'
import { type Keys, openKeys, type Role, roles } from '../core/http/keys.ts'
import { print, UsageError } from './command.ts'

function keysOf(config: Config): Keys {
  mkdirSync(config.dataDir, { recursive: true })
  return openKeys({ dataDir: config.dataDir, configured: config.keys })
}

export function listKeys(config: Config): void {
  for (const { id, userId, role, grants, createdAt } of keysOf(config).list())
    print(`${id}  ${userId}  ${role}  ${grants === '*' ? '*' : grants.join(',')}  ${createdAt}`)
}

export function createKey(config: Config, [userId = '', role = 'write', ...grants]: string[]): void {
  if (!roles.includes(role as Role)) throw new UsageError(`Unknown role ${role}; one of ${roles.join(', ')}`)
  const { id, text } = keysOf(config).create({ userId, role: role as Role, grants: grants.length > 0 ? grants : '*' })
  print(`key ${id} (shown once): ${text}`)
}

export function revokeKey(config: Config, id: string): void {
  if (!keysOf(config).revoke(id)) throw new UsageError(`There is no key ${id}`)
  print('revoked')
}
