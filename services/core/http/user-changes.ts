// Changes users and their grants: changes of a directory, computed from its state.
import type { Change } from '../directory/directory.ts'
import { itemKey, type UserValue } from '../directory/items.ts'
import type { Role, Scope } from '../directory/roles.ts'
import type { DirectoryState } from '../directory/state.ts'
import { liveKeysOf, RefusedChange, throwUnlessScope, throwUnlessUserId } from './key-changes.ts'

/** People who may do everything, and services that have a key for it: one that only scrapes gives nobody a role. */
function ownersOf(state: DirectoryState): string[] {
  const { grants, off, users } = state
  const owners = [...grants].filter(([user, own]) => own.get('*') === 'owner' && !off.has(user)).map(([user]) => user)
  const opensAll = (user: string) =>
    liveKeysOf(state, user, Date.now()).some(
      ([, { scopes, actions }]) => scopes.includes('*') && actions.includes('owner'),
    )
  const able = owners.filter((user) => users.get(user)?.kind !== 'service' || opensAll(user))
  return able.length > 0 ? able : owners
}

/** @throws RefusedChange when nobody else could give it back */
function throwIfLastOwner(state: DirectoryState, userId: string, hasConfigured: boolean): void {
  const owners = ownersOf(state)
  if (!hasConfigured && owners.length === 1 && owners[0] === userId)
    throw new RefusedChange(`${userId} is the last owner of everything: add another one first`)
}

/** @throws RefusedChange */
export function throwUnlessUser({ users }: DirectoryState, userId: string): void {
  if (!users.has(userId)) throw new RefusedChange(`User ${userId} not found`, 404)
}

/**
 * The role of a user on a scope, or none. A user that is not known is made.
 * @param hasConfigured there are keys of CALLHOUSE_KEYS, which open everything
 * @throws RefusedChange
 */
export function setGrant(
  state: DirectoryState,
  { userId, scope, role }: { userId: string; scope: Scope; role: Role | null },
  hasConfigured: boolean,
): Change[] {
  throwUnlessScope(scope)
  throwUnlessUserId(userId)
  const before = state.grants.get(userId)?.get(scope)
  if (role === null) throwUnlessUser(state, userId)
  if (role === null && before === undefined) throw new RefusedChange(`${userId} has no role on ${scope}`)
  if (scope === '*' && before === 'owner' && role !== 'owner') throwIfLastOwner(state, userId, hasConfigured)
  const user = { key: itemKey('user', userId), value: { kind: 'person', entity: userId } }
  const grant = { key: itemKey('grant', userId, scope), value: role && { role } }
  return state.users.has(userId) ? [grant] : [user, grant]
}

/** @throws RefusedChange */
export function switchUser(
  state: DirectoryState,
  { userId, isOff }: { userId: string; isOff: boolean },
  hasConfigured: boolean,
): Change[] {
  throwUnlessUser(state, userId)
  if (isOff) throwIfLastOwner(state, userId, hasConfigured)
  return [{ key: itemKey('user-off', userId), value: isOff ? {} : null }]
}

/** @throws RefusedChange for an id that is taken */
export function createUser(state: DirectoryState, userId: string, value: UserValue): Change[] {
  throwUnlessUserId(userId)
  if (state.users.has(userId)) throw new RefusedChange(`User ${userId} already exists`)
  return [{ key: itemKey('user', userId), value }]
}

type Leaving = { state: DirectoryState; userId: string; hasConfigured: boolean; now: number }

/** Ends everything that a user holds: keys, sessions and grants. @throws RefusedChange for the last owner */
function ended({ state, userId, hasConfigured, now }: Leaving): Change[] {
  throwUnlessUser(state, userId)
  throwIfLastOwner(state, userId, hasConfigured)
  const keys = [...state.keys].filter(([id, { user }]) => user === userId && !state.revoked.has(id))
  const scopes = [...(state.grants.get(userId)?.keys() ?? [])]
  return [
    ...keys.map(([id]) => ({ key: itemKey('key-revoked', id), value: {} })),
    { key: itemKey('sessions-end', userId), value: { before: new Date(now).toISOString() } },
    ...scopes.map((scope) => ({ key: itemKey('grant', userId, scope), value: null })),
    ...gone(state, itemKey('signed-in', userId)),
  ]
}

const gone = (state: DirectoryState, key: string): Change[] => (state.items.has(key) ? [{ key, value: null }] : [])

/** @throws RefusedChange for the last owner of everything */
export function removeUser(state: DirectoryState, userId: string, hasConfigured: boolean, now: number): Change[] {
  const items = [itemKey('user-off', userId), itemKey('user', userId)]
  return [...ended({ state, userId, hasConfigured, now }), ...items.flatMap((key) => gone(state, key))]
}

/**
 * The id stays, as records of others name it; who it was does not.
 * @throws RefusedChange for the last owner of everything
 */
export function eraseUser(state: DirectoryState, userId: string, hasConfigured: boolean, now: number): Change[] {
  const changes = ended({ state, userId, hasConfigured, now })
  const { kind, entity, share_of } = state.users.get(userId) as UserValue
  return [
    ...changes,
    { key: itemKey('user', userId), value: { kind, entity, ...(share_of !== undefined && { share_of }) } },
    { key: itemKey('user-off', userId), value: {} },
  ]
}
