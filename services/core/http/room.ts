// Room in the directory: bounds of the installation, of which no entity takes so much that none is left for others.
import type { Change, Directory } from '../directory/directory.ts'
import { isEnding } from '../directory/directory.ts'
import { wordsOf } from '../directory/items.ts'
import { type Access, actions, allowsOn } from '../directory/roles.ts'
import { type Bounded, countedAs, entityIn, roomFor, takenBy } from '../directory/room.ts'
import type { DirectoryState } from '../directory/state.ts'
import { RefusedChange } from './key-changes.ts'
import type { Caller } from './route.ts'

type Who = Pick<Caller, 'userId' | 'access'>

/** The operator who types commands: limited by the installation, and by no share of it. */
export const operator: Who = { userId: 'command', access: { '*': actions } }

const isOperator = ({ access = {} }: Who): boolean => allowsOn(access, 'admin', '*')

const named: Readonly<Record<Bounded, string>> = {
  user: 'users',
  key: 'keys (with those that were revoked)',
  grant: 'roles of users',
  hold: 'holds',
  item: 'items of the directory',
}

const sum = (counts: Iterable<number>): number => [...counts].reduce((all, one) => all + one, 0)

/** The items that changes add, by kind and by entity. */
function addedBy(state: DirectoryState, changes: readonly Change[]): Map<Bounded, Map<string, number>> {
  const added = new Map<Bounded, Map<string, number>>()
  for (const { key, value } of changes) {
    const words = wordsOf(key)
    if (value === null || words === undefined || state.items.has(key) || isEnding({ key })) continue
    const { entity, kinds } = countedAs(words, value) ?? { entity: '*', kinds: ['item' as const] }
    for (const kind of kinds) {
      const ofKind = added.get(kind) ?? new Map<string, number>()
      ofKind.set(entity, (ofKind.get(entity) ?? 0) + 1)
      added.set(kind, ofKind)
    }
  }
  return added
}

/** The entities that take most of it, among those that the caller administers: others are not shown. */
function fillers({ room }: DirectoryState, kind: Bounded, { access = {} }: Who): string {
  const most = [...room]
    .map(([entity, taken]) => [entity, taken[kind]] as const)
    .filter(([entity, count]) => count > 0 && entity !== '*' && allowsOn(access, 'admin', entity))
    .sort((a, b) => b[1] - a[1])
    .slice(0, 3)
  return most.length === 0 ? '' : `, of them ${most.map(([entity, count]) => `${count} of ${entity}`).join(', ')}`
}

/**
 * An entity may take half of what the others leave, so that there is room for the next one whatever it does.
 * @throws RefusedChange when there are as many as the installation holds, or the share of an entity is used up
 */
export function throwIfNoRoom(state: DirectoryState, changes: readonly Change[], who: Who): void {
  for (const [kind, ofEntities] of addedBy(state, changes)) {
    const bound = roomFor[kind]
    const taken = kind === 'item' ? state.items.size : sum([...state.room.values()].map((one) => one[kind]))
    if (taken + sum(ofEntities.values()) > bound) {
      const filled = fillers(state, kind, who)
      throw new RefusedChange(`This installation has ${bound} ${named[kind]}, and holds no more${filled}: remove some`)
    }
    if (isOperator(who)) continue
    for (const [entity, added] of ofEntities) {
      const own = takenBy(state.room, entity, kind)
      if (entity === '*' || own + added <= Math.floor((bound - (taken - own)) / 2)) continue
      const count = allowsOn(who.access ?? {}, 'admin', entity) ? `${own} ` : 'its share of '
      throw new RefusedChange(
        `${entity} has ${count}${named[kind]}, half of what this installation has room for beside others: remove some, or ask its operator`,
      )
    }
  }
}

/** Makes the changes of a caller. @throws RefusedChange where there is no room for them */
export async function appendFor(directory: Pick<Directory, 'state' | 'append'>, changes: readonly Change[], who: Who) {
  throwIfNoRoom(directory.state(), changes, who)
  await directory.append(changes, who.userId)
}

/**
 * The entity in whose share a new user of the caller counts: the caller may name any entity or none, and is not asked.
 */
export function shareOf({ room }: DirectoryState, who: Who, entity: string): string | undefined {
  if (isOperator(who)) return undefined
  const { access = {} } = who
  const administers = (scope: string) => allowsOn(access as Access, 'admin', scope)
  const own = [...new Set(Object.keys(access).filter(administers).map(entityIn))]
  if (own.includes(entity)) return entity
  return own.sort((a, b) => takenBy(room, a, 'user') - takenBy(room, b, 'user'))[0]
}
