// A directory in memory: its items, and what is asked of them, kept in step with every item that comes.

import { type Item, type KeyValue, maskOf, type UserValue, type Value, wordsOf } from './items.ts'
import type { Role, Scope } from './roles.ts'
import { countIn, type Room } from './room.ts'

export type DirectoryState = {
  items: Map<string, Item>
  users: Map<string, UserValue>
  off: Set<string>
  grants: Map<string, Map<Scope, Role>>
  keys: Map<string, KeyValue>
  /** Ids of keys by the SHA-256 of their text, in hexadecimal. */
  byDigest: Map<string, string>
  ends: Map<string, Value<'key-end'>>
  revoked: Set<string>
  /** Limits of keys that were changed since the keys were made. */
  keyLimits: Map<string, Value<'key-limits'>>
  keyUses: Map<string, Value<'key-used'>>
  /** Ids by bucket of rates: the latest key that has it. */
  bucketKeys: Map<string, string>
  room: Room
  /** Grants that come from the last sign-in of a user. */
  signedIn: Map<string, Value<'signed-in'>>
  groups: Map<string, Value<'group'>>
  sessionEnds: Map<string, Value<'session-end'>>
  sessionsEnds: Map<string, Value<'sessions-end'>>
  entities: Map<string, Value<'entity'>>
  /** Projects by `<entity>/<project>`. */
  projects: Map<string, Value<'project'>>
  /** Removed projects, with the time of their removal. */
  removedProjects: Map<string, Value<'project-removed'>>
  /** Masking rules by scope. */
  masks: Map<Scope, Value<'mask'>>
  /** Secrets by scope, then by name. */
  secrets: Map<Scope, Map<string, Value<'secret'>>>
  holds: Map<string, Value<'hold'>>
}

export const emptyState = (): DirectoryState => ({
  items: new Map(),
  users: new Map(),
  off: new Set(),
  grants: new Map(),
  keys: new Map(),
  byDigest: new Map(),
  ends: new Map(),
  revoked: new Set(),
  signedIn: new Map(),
  groups: new Map(),
  sessionEnds: new Map(),
  sessionsEnds: new Map(),
  entities: new Map(),
  projects: new Map(),
  masks: new Map(),
  secrets: new Map(),
  holds: new Map(),
  keyLimits: new Map(),
  keyUses: new Map(),
  bucketKeys: new Map(),
  room: new Map(),
  removedProjects: new Map(),
})

const scopeOf = (entity: string, project: string): Scope => (project === '' ? entity : `${entity}/${project}`)

function put<V>(into: Map<string, V>, id: string, value: unknown): void {
  if (value === null) into.delete(id)
  else into.set(id, value as V)
}

function mark(into: Set<string>, id: string, value: unknown): void {
  if (value === null) into.delete(id)
  else into.add(id)
}

const appliers: Record<
  NonNullable<ReturnType<typeof wordsOf>>['kind'],
  (state: DirectoryState, id: string, rest: string, value: unknown) => void
> = {
  user: ({ users }, id, _, value) => put(users, id, value),
  'user-off': ({ off }, id, _, value) => mark(off, id, value),
  grant({ grants }, user, scope, value) {
    const own = grants.get(user) ?? new Map<Scope, Role>()
    put(own, scope, value === null ? null : (value as Value<'grant'>).role)
    put(grants, user, own.size === 0 ? null : own)
  },
  key({ keys, byDigest, bucketKeys }, id, _, value) {
    const before = keys.get(id)
    const bucket = ((value ?? before) as KeyValue | null | undefined)?.bucket ?? id
    if (value !== null) bucketKeys.set(bucket, id)
    else if (bucketKeys.get(bucket) === id) bucketKeys.delete(bucket)
    if (before !== undefined && byDigest.get(before.sha256) === id) byDigest.delete(before.sha256)
    put(keys, id, value)
    if (value !== null) byDigest.set((value as KeyValue).sha256, id)
  },
  'key-end': ({ ends }, id, _, value) => put(ends, id, value),
  'key-revoked': ({ revoked }, id, _, value) => mark(revoked, id, value),
  'key-limits': ({ keyLimits }, id, _, value) => put(keyLimits, id, value),
  'key-used': ({ keyUses }, id, _, value) => put(keyUses, id, value),
  'signed-in': ({ signedIn }, id, _, value) => put(signedIn, id, value),
  group: ({ groups }, id, _, value) => put(groups, id, value),
  'session-end': ({ sessionEnds }, id, _, value) => put(sessionEnds, id, value),
  'sessions-end': ({ sessionsEnds }, id, _, value) => put(sessionsEnds, id, value),
  entity: ({ entities }, id, _, value) => put(entities, id, value),
  project: ({ projects }, entity, project, value) => put(projects, scopeOf(entity, project), value),
  'project-removed': ({ removedProjects }, entity, project, value) =>
    put(removedProjects, scopeOf(entity, project), value),
  mask: ({ masks }, entity, project, value) => put(masks, scopeOf(entity, project), value && maskOf(value)),
  secret({ secrets }, entity, rest, value) {
    // Names of secrets have no slash.
    const slash = rest.lastIndexOf('/')
    const scope = scopeOf(entity, rest.slice(0, Math.max(slash, 0)))
    const own = secrets.get(scope) ?? new Map<string, Value<'secret'>>()
    put(own, rest.slice(slash + 1), value)
    put(secrets, scope, own.size === 0 ? null : own)
  },
  hold: ({ holds }, id, _, value) => put(holds, id, value),
}

/** The last item of a key counts, so that a log from which older ones were taken leads to the same state. */
export function applyItem(state: DirectoryState, item: Item): void {
  const before = state.items.get(item.key)
  if (item.value === null) state.items.delete(item.key)
  else state.items.set(item.key, item)
  const words = wordsOf(item.key)
  if (words === undefined) return
  if (before !== undefined) countIn(state.room, words, before, -1)
  if (item.value !== null) countIn(state.room, words, item, 1)
  appliers[words.kind](state, words.id, words.rest, item.value)
}

/** Limits of a key as they are now. */
export const limitsOfKey = ({ keys, keyLimits }: DirectoryState, id: string): Value<'key-limits'> | undefined =>
  keyLimits.get(id) ?? keys.get(id)?.limits

type BucketLimits = readonly [bucket: string, limits: Value<'key-limits'>]

/** The buckets that limit the rates of a key: its own and those of its makers, each with its current limits. */
export function bucketsOfKey(state: DirectoryState, id: string): BucketLimits[] {
  const key = state.keys.get(id)
  const makers = key?.maker_buckets ?? []
  const ids = [
    [key?.bucket ?? id, id] as const,
    ...makers.map((one) => [one, state.bucketKeys.get(one) ?? one] as const),
  ]
  return ids.flatMap(([bucket, of]): BucketLimits[] => {
    const limits = limitsOfKey(state, of)
    return limits === undefined ? [] : [[bucket, limits]]
  })
}

/** The earlier of a key's expiry and the end that a rotation gave it. */
export const keyEndOf = ({ ends }: DirectoryState, id: string, { expires_at }: KeyValue): string | undefined => {
  const rotated = ends.get(id)?.ends_at
  if (rotated === undefined) return expires_at
  return [expires_at, rotated].filter((at) => at !== undefined).sort((a, b) => Date.parse(a) - Date.parse(b))[0]
}
