// `callhouse users` and `callhouse grants`: who there is, and what they may do where.
import type { Config } from '../app/config.ts'
import type { UserValue } from '../core/directory/items.ts'
import { type Role, type RoleName, roleNamed, roleNames, roles } from '../core/directory/roles.ts'
import { appendFor, operator } from '../core/http/room.ts'
import { createUser, eraseUser } from '../core/http/user-changes.ts'
import { print, UsageError } from './command.ts'
import { withDirectory } from './directory.ts'
import { withKeys } from './keys.ts'

export async function listUsers(config: Config): Promise<void> {
  for (const { id, kind, isOff, grants } of await withKeys(config, (keys) => keys.users()))
    print([id, kind, ...(isOff ? ['off'] : []), ...grants.map(({ scope, role }) => `${role} of ${scope}`)].join('  '))
}

export async function turnUser(config: Config, userId: string, isOff: boolean): Promise<void> {
  await withKeys(config, (keys) => keys.switchUser(userId, isOff))
  print(isOff ? `${userId} is deactivated: its keys no longer work` : `${userId} is active`)
}

export async function addUser(config: Config, userId: string, isService: boolean): Promise<void> {
  const user: UserValue = { kind: isService ? 'service' : 'person', entity: userId }
  await withDirectory(config, (directory) =>
    appendFor(directory, createUser(directory.state(), userId, user), operator),
  )
  print(`${userId} is created, without any role yet`)
}

/** Keys and sessions end, name and email go; records of others keep the id. */
export async function erase(config: Config, userId: string): Promise<void> {
  await withDirectory(config, (directory) =>
    directory.append(eraseUser(directory.state(), userId, config.keys.length > 0, Date.now()), 'command'),
  )
  print(
    `${userId} no longer has keys, sessions, roles, name or email; older copies are removed from the directory within a day`,
  )
}

/** @param name a role, or `none` */
export async function grantRole(config: Config, [userId = '', scope = '', name = '']: string[]): Promise<void> {
  if (name !== 'none' && !roleNames.includes(name as RoleName))
    throw new UsageError(`Unknown role ${name}; one of ${roles.join(', ')}, or none`)
  const role: Role | null = name === 'none' ? null : roleNamed(name as RoleName)
  await withKeys(config, (keys) => keys.setGrant(userId, scope, role))
  print(role === null ? `${userId} has no role on ${scope}` : `${userId} is ${role} of ${scope}`)
}
