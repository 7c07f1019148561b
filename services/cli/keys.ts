// `callhouse keys`: the API keys in the directory.
import { mkdirSync } from 'node:fs'
import type { Config } from '../app/config.ts'
import { openKeysOf } from '../app/keys.ts'
import type { Directory } from '../core/directory/directory.ts'
import { type Action, actions, type RoleName, roleNames, roles } from '../core/directory/roles.ts'
import { RefusedChange } from '../core/http/key-changes.ts'
import type { KeyInfo, Keys } from '../core/http/keys.ts'
import { createLogger } from '../core/process/logger.ts'
import { quantity } from '../core/quantity.ts'
import { print, UsageError } from './command.ts'
import { keyLimitsFrom } from './limit-words.ts'

/** A refusal by the directory is a mistake of the person who typed the command. */
export async function withKeys<T>(
  config: Config,
  work: (keys: Keys, directory: Directory) => T | Promise<T>,
): Promise<T> {
  mkdirSync(config.dataDir, { recursive: true })
  const { keys, directory, close } = await openKeysOf(config, createLogger({ level: 'error' }).log)
  try {
    return await work(keys, directory)
  } catch (error) {
    throw error instanceof RefusedChange ? new UsageError(error.message) : error
  } finally {
    await close()
  }
}

const lineOf = ({ id, userId, name, actions: may, scopes, createdAt, endsAt, lastUsedAt }: KeyInfo): string =>
  [
    id,
    userId,
    may.join(','),
    scopes.join(','),
    createdAt,
    ...(lastUsedAt ? [`used ${lastUsedAt}`] : []),
    ...(endsAt ? [`ends ${endsAt}`] : []),
    name,
  ]
    .filter((word) => word !== '')
    .join('  ')

export async function listKeys(config: Config): Promise<void> {
  for (const key of await withKeys(config, (keys) => keys.list())) print(lineOf(key))
}

function actionsFrom(text: string): Action[] | undefined {
  if (text === '') return undefined
  const named = text.split(',')
  const unknown = named.find((one) => !actions.includes(one as Action))
  if (unknown !== undefined) throw new UsageError(`Unknown action ${unknown}; some of ${actions.join(', ')}`)
  return named as Action[]
}

function numberFrom(text: string, what: string): number | undefined {
  if (text === '') return undefined
  if (!/^\d{1,5}$/.test(text)) throw new UsageError(`${what} must be a whole number, not ${JSON.stringify(text)}`)
  return Number(text)
}

const dayMs = 86_400_000

/** @param flag `actions`, comma-separated; `days` until it expires; `name`; `limits`, `name=number` and so on */
export async function printNewKey(
  config: Config,
  [userId = '', role = 'writer', ...grants]: string[],
  flag: (name: string) => string,
): Promise<void> {
  if (!roleNames.includes(role as RoleName)) throw new UsageError(`Unknown role ${role}; one of ${roles.join(', ')}`)
  const own = actionsFrom(flag('actions'))
  const days = numberFrom(flag('days'), 'Days')
  const limits = keyLimitsFrom(flag('limits'))
  const { id, text, granted } = await withKeys(config, async (keys, directory) => {
    const rolesOf = () =>
      [...(directory.state().grants.get(userId) ?? [])].map(([scope, role]) => `${role} of ${scope}`)
    const before = rolesOf()
    const made = keys.create({
      userId,
      role: role as RoleName,
      grants: grants.length > 0 ? grants : '*',
      name: flag('name'),
      ...(own !== undefined && { actions: own }),
      ...(limits !== undefined && { limits }),
      ...(days !== undefined && { expiresAt: new Date(Date.now() + days * dayMs).toISOString() }),
    })
    await made.stored
    return { ...made, granted: rolesOf().filter((one) => !before.includes(one)) }
  })
  print(`key ${id} (shown once): ${text}`)
  // Not where a script takes the key from.
  for (const one of granted) process.stderr.write(`${userId} is ${one} from now on\n`)
}

export async function printRotatedKey(config: Config, id: string, overlapHours: string): Promise<void> {
  const hours = numberFrom(overlapHours, 'Hours')
  const made = await withKeys(config, (keys) => keys.rotate(id, hours))
  print(`key ${made.id} (shown once): ${made.text}`)
  print(`key ${id} counts for ${quantity(hours ?? 24, 'hour')} more`)
}

export async function revokeKey(config: Config, id: string): Promise<void> {
  if (!(await withKeys(config, (keys) => keys.revoke(id)))) throw new UsageError(`Key ${id} not found`)
  print('revoked')
}
