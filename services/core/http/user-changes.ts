// What changes users and their grants: changes of a directory, worked out from its state.
import type { Change } from '../directory/directory.ts'
import { itemKey } from '../directory/items.ts'
import { isScope, type Role, type Scope } from '../directory/roles.ts'
import type { DirectoryState } from '../directory/state.ts'
import { RefusedChange } from './key-changes.ts'

/** Users that may do everything, but for those who are switched off. */
const ownersOf = ({ grants, off }: DirectoryState): string[] =>
  [...grants].filter(([user, own]) => own.get('*') === 'owner' && !off.has(user)).map(([user]) => user)

/** @throws RefusedChange when nobody else could give it back */
function throwIfLastOwner(state: DirectoryState, userId: string, hasConfigured: boolean): void {
  const owners = ownersOf(state)
  if (!hasConfigured && owners.length === 1 && owners[0] === userId)
    throw new RefusedChange(`${userId} is the last owner of everything: make another one first`)
}

function throwUnlessUser({ users }: DirectoryState, userId: string): void {
  if (!users.has(userId)) throw new RefusedChange(`There is no user ${userId}`)
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
  if (!isScope(scope)) throw new RefusedChange(`${JSON.stringify(scope)} is not *, an entity or an <entity>/<project>`)
  if (userId === '' || userId.length > 200) throw new RefusedChange('A user has a name of 1 to 200 characters')
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
