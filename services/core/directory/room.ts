// Counts how much of the directory's room each entity takes, for each kind that has a limit.
import type { Item, KeyValue, Kind, UserValue, Value, Words } from './items.ts'
import type { Scope } from './roles.ts'

/** Limits of one installation. */
export const roomFor = { user: 10_000, key: 100_000, grant: 50_000, hold: 5_000, item: 200_000 } as const
export type Bounded = keyof typeof roomFor

/** Counts by entity; `*` = items that belong to none. */
export type Room = Map<string, Record<Bounded, number>>

export const entityIn = (scope: Scope): string => scope.split('/')[0] as string

/** The entity of an item. Kinds that are not here belong to a user or a key, of which each has a few at most. */
const entities: Partial<Record<Kind, (words: Words, value: never) => string>> = {
  user: (_, { share_of, entity }: UserValue) => share_of ?? entity,
  key: (_, { scopes }: KeyValue) => entityIn(scopes[0] ?? '*'),
  grant: ({ rest }) => entityIn(rest),
  hold: (_, { scope }: Value<'hold'>) => entityIn(scope),
  entity: ({ id }) => id,
  project: ({ id }) => id,
  'project-removed': ({ id }) => id,
  mask: ({ id }) => id,
  secret: ({ id }) => id,
}

/** The entity of an item and the kinds that it counts as; undefined for items that are not counted. */
export function countedAs(words: Words, value: unknown): { entity: string; kinds: Bounded[] } | undefined {
  const entity = entities[words.kind]?.(words, value as never)
  if (entity === undefined) return undefined
  return { entity, kinds: Object.hasOwn(roomFor, words.kind) ? [words.kind as Bounded, 'item'] : ['item'] }
}

/** @param by 1 for an item that came, -1 for one that went */
export function countIn(room: Room, words: Words, { value }: Pick<Item, 'value'>, by: 1 | -1): void {
  const place = countedAs(words, value)
  if (place === undefined) return
  const taken = room.get(place.entity) ?? { user: 0, key: 0, grant: 0, hold: 0, item: 0 }
  for (const kind of place.kinds) taken[kind] += by
  if (taken.item === 0) room.delete(place.entity)
  else room.set(place.entity, taken)
}

/** Number of items of a kind that an entity has. */
export const takenBy = (room: Room, entity: string, kind: Bounded): number => room.get(entity)?.[kind] ?? 0
