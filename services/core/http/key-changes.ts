// What makes, rotates and ends keys: changes of a directory, worked out from its state.
import type { Change } from '../directory/directory.ts'
import { itemKey, type KeyValue } from '../directory/items.ts'
import {
  type Access,
  type Action,
  actionsOf,
  isScope,
  isWithin,
  type Role,
  roles,
  type Scope,
} from '../directory/roles.ts'
import type { DirectoryState } from '../directory/state.ts'
import { digestOf, newKeyText } from './key-text.ts'

/** A change that is refused, with a line for whoever asked for it. */
export class RefusedChange extends Error {}

export type NewKey = {
  userId: string
  role: Role
  scopes: readonly Scope[]
  /** Less than those of the role. */
  actions?: readonly Action[]
  name?: string
  /** Default entity of SDKs. */
  entity?: string
  expiresAt?: string
  isFirst?: boolean
}

export type Made = { id: string; text: string; changes: Change[] }

/** What a list of actions is on each of some scopes. */
export const accessOn = (scopes: readonly Scope[], actions: readonly Action[]): Access =>
  Object.fromEntries(scopes.map((scope) => [scope, actions.filter((one) => one !== 'metrics' || scope === '*')]))

export const grantedTo = ({ grants }: DirectoryState, userId: string): Access =>
  Object.fromEntries([...(grants.get(userId) ?? [])].map(([scope, role]) => [scope, actionsOf(role, scope)]))

/** The role with the fewest actions that holds both: a user has one role on a scope. */
function joined(scope: Scope, one: Role, other: Role | undefined): Role {
  const needed = [...actionsOf(one, scope), ...(other === undefined ? [] : actionsOf(other, scope))]
  const holds = roles.filter((role) => needed.every((action) => actionsOf(role, scope).includes(action)))
  return holds.reduce((least, role) => (actionsOf(role, scope).length < actionsOf(least, scope).length ? role : least))
}

/** The user, and grants that hold the role on the scopes, as far as they are not there. */
export function grantChanges(state: DirectoryState, { userId, role, scopes, entity = userId }: NewKey): Change[] {
  const user = state.users.has(userId)
    ? []
    : [{ key: itemKey('user', userId), value: { kind: 'service' as const, entity } }]
  const held = grantedTo(state, userId)
  const lacking = scopes.filter((scope) => !isWithin({ [scope]: actionsOf(role, scope) }, held))
  const grants = lacking.map((scope) => ({
    key: itemKey('grant', userId, scope),
    value: { role: joined(scope, role, state.grants.get(userId)?.get(scope)) },
  }))
  return [...user, ...grants]
}

const maxLiveKeys = 1_000

function liveKeysOf({ keys, revoked }: DirectoryState, userId: string): [string, KeyValue][] {
  return [...keys].filter(([id, { user }]) => user === userId && !revoked.has(id))
}

function checkNew(state: DirectoryState, { userId, scopes, name = '' }: NewKey): void {
  if (userId === '' || userId.length > 200) throw new RefusedChange('A user has a name of 1 to 200 characters')
  const odd = scopes.find((scope) => !isScope(scope))
  if (odd !== undefined) throw new RefusedChange(`${JSON.stringify(odd)} is not *, an entity or an <entity>/<project>`)
  if (scopes.length === 0 || scopes.length > 100) throw new RefusedChange('A key has 1 to 100 scopes')
  if (name.length > 100) throw new RefusedChange('The name of a key has 100 characters at most')
  if (liveKeysOf(state, userId).length >= maxLiveKeys)
    throw new RefusedChange(`${userId} has ${maxLiveKeys} keys that count: revoke some`)
}

/** @throws RefusedChange */
export function createKey(state: DirectoryState, key: NewKey, by: string, now: number): Made {
  checkNew(state, key)
  const { userId, role, scopes, name = '', entity, expiresAt, isFirst } = key
  const held = [...new Set(scopes.flatMap((scope) => actionsOf(role, scope)))]
  const { id, text } = newKeyText()
  const value: KeyValue = {
    ...{ sha256: digestOf(text).toString('hex'), user: userId, name, scopes: [...scopes] },
    actions: held.filter((action) => key.actions === undefined || key.actions.includes(action)),
    ...{ created_at: new Date(now).toISOString(), created_by: by },
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
    ...(entity !== undefined && entity !== state.users.get(userId)?.entity && { entity }),
    ...(isFirst === true && { is_first: true }),
  }
  return { id, text, changes: [...grantChanges(state, key), { key: itemKey('key', id), value }] }
}

export const maxOverlapHours = 168

/**
 * A successor with the same user, name, actions and scopes; the key itself ends after the overlap.
 * @throws RefusedChange for a key that is unknown or has ended
 */
export function rotateKey(state: DirectoryState, id: string, hours: number, by: string, now: number): Made {
  const before = state.keys.get(id)
  if (before === undefined) throw new RefusedChange(`There is no key ${id}`)
  if (state.revoked.has(id)) throw new RefusedChange(`The key ${id} is revoked`)
  if (state.ends.has(id)) throw new RefusedChange(`The key ${id} has a successor already`)
  if (before.expires_at !== undefined && Date.parse(before.expires_at) <= now)
    throw new RefusedChange(`The key ${id} has expired`)
  if (!(hours >= 0 && hours <= maxOverlapHours))
    throw new RefusedChange(`Both keys count for 0 to ${maxOverlapHours} hours`)
  const { id: successor, text } = newKeyText()
  const { is_first: _, expires_at: expires, ...rest } = before
  // As long again.
  const lastsMs = expires === undefined ? undefined : Date.parse(expires) - Date.parse(before.created_at)
  const value: KeyValue = {
    ...rest,
    sha256: digestOf(text).toString('hex'),
    ...{ created_at: new Date(now).toISOString(), created_by: by },
    ...(lastsMs !== undefined && { expires_at: new Date(now + lastsMs).toISOString() }),
  }
  const end = { ends_at: new Date(now + hours * 3_600_000).toISOString(), successor }
  return {
    ...{ id: successor, text },
    changes: [
      { key: itemKey('key', successor), value },
      { key: itemKey('key-end', id), value: end },
    ],
  }
}
