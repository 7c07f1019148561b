// `callhouse users` and `callhouse grants`: who there is, and what they may do where.
import type { Config } from '../app/config.ts'
import { type Role, type RoleName, roleNamed, roleNames, roles } from '../core/directory/roles.ts'
import { print, UsageError } from './command.ts'
import { withKeys } from './keys.ts'

export async function listUsers(config: Config): Promise<void> {
  for (const { id, kind, isOff, grants } of await withKeys(config, (keys) => keys.users()))
    print([id, kind, ...(isOff ? ['off'] : []), ...grants.map(({ scope, role }) => `${role} of ${scope}`)].join('  '))
}

export async function turnUser(config: Config, userId: string, isOff: boolean): Promise<void> {
  await withKeys(config, (keys) => keys.switchUser(userId, isOff))
  print(isOff ? `${userId} is off: none of its keys counts` : `${userId} is on`)
}

/** @param name a role, or `none` */
export async function grantRole(config: Config, [userId = '', scope = '', name = '']: string[]): Promise<void> {
  if (name !== 'none' && !roleNames.includes(name as RoleName))
    throw new UsageError(`Unknown role ${name}; one of ${roles.join(', ')}, or none`)
  const role: Role | null = name === 'none' ? null : roleNamed(name as RoleName)
  await withKeys(config, (keys) => keys.setGrant(userId, scope, role))
  print(role === null ? `${userId} has no role on ${scope}` : `${userId} is ${role} of ${scope}`)
}
