// Finds the holder of a key: one object per key that stays the same while nothing of it changes.
import type { Directory } from '../directory/directory.ts'
import type { KeyValue } from '../directory/items.ts'
import { intersect } from '../directory/roles.ts'
import { type DirectoryState, keyEndOf } from '../directory/state.ts'
import { createLatest, type Latest } from '../memory/latest.ts'
import { configuredKeys } from './configured-keys.ts'
import { retryLater } from './errors.ts'
import { type HolderEntry, holderOf, type KeyHolder } from './holder.ts'
import { accessOn, grantedTo } from './key-changes.ts'
import { digestOf, idIn, isSameDigest } from './key-text.ts'

const maxCached = 4_096
const dummy = '0'.repeat(64)

const isSameList = (one: readonly string[], other: readonly string[]): boolean =>
  one === other || (one.length === other.length && one.every((word, at) => word === other[at]))

/** A holder with the version of the directory that it was made or confirmed by. */
type HeldKey = { holder: KeyHolder; endsMs: number; untilMs: number; version: number; usedMs: number }

/** The parts that keys of one user with the same actions and scopes share. */
type Shared = Pick<KeyValue, 'entity' | 'actions' | 'scopes'> & { made: HolderEntry }

/** Before the id of a user, in place of the id of a key: sessions without a key. */
const userPrefix = 'user:'

export type KeyHolders = {
  directory: Directory
  now(): number
  /** Keys of the settings by digest, and by id. */
  fixed: ReadonlyMap<string, KeyHolder>
  fixedById: ReadonlyMap<string | undefined, KeyHolder>
  /** Ids of keys that do not count, whatever the directory says. */
  denied: ReadonlySet<string>
  byText: Latest<HeldKey>
  /** Shared parts by user. */
  entries: Map<string, Shared[]>
  /** Holders by key id; a change leaves the others the same objects, by which shares are counted. */
  holders: Map<string, HeldKey>
  /** Version of the directory that `byText` and `entries` are of. */
  version: number
}

export function keyHolders(
  directory: Directory,
  { configured, denied = [], now }: { configured: readonly string[]; denied?: readonly string[]; now(): number },
): KeyHolders {
  const fixed = configuredKeys(configured)
  return {
    directory,
    now,
    fixed,
    fixedById: new Map([...fixed.values()].map((holder) => [holder.keyId, holder])),
    denied: new Set(denied),
    byText: createLatest<HeldKey>(maxCached),
    entries: new Map(),
    holders: new Map(),
    version: -1,
  }
}

/** The directory; what was worked out from an earlier state of it is forgotten. */
export function currentState(keys: KeyHolders): DirectoryState {
  const { directory } = keys
  const state = directory.state()
  if (directory.version() !== keys.version) {
    keys.version = directory.version()
    keys.byText.clear()
    keys.entries.clear()
  }
  return state
}

/** The computed access holds until the grants of the user's last sign-in lapse. */
function lapseOf({ now }: KeyHolders, state: DirectoryState, userId: string): number {
  const last = state.signedIn.get(userId)
  const at = last === undefined ? 0 : Date.parse(last.ends_at)
  return at > now() ? at : Number.POSITIVE_INFINITY
}

/** A holder that stays the same object while nothing of it changes. */
function remembered(
  keys: KeyHolders,
  id: string,
  before: HeldKey | undefined,
  entry: HolderEntry,
  endsMs: number,
  addresses?: readonly string[],
): HeldKey {
  const isSame = before?.endsMs === endsMs && JSON.stringify(before.holder.entry) === JSON.stringify(entry)
  const holder = isSame ? (before as HeldKey).holder : holderOf(entry, id, endsMs, addresses)
  const made = { holder, endsMs, untilMs: endsMs, version: keys.version, usedMs: before?.usedMs ?? 0 }
  keys.holders.set(id, made)
  return made
}

/** A user who signed in without a key may do everything that is granted to him. */
function heldUser(
  keys: KeyHolders,
  state: DirectoryState,
  id: string,
  before: HeldKey | undefined,
): HeldKey | undefined {
  const userId = id.slice(userPrefix.length)
  const user = state.users.get(userId)
  if (user === undefined || state.off.has(userId)) return undefined
  const entry = { userId, entity: user.entity, access: grantedTo(state, userId, keys.now()) }
  const held = remembered(keys, id, before, entry, Number.POSITIVE_INFINITY)
  held.untilMs = lapseOf(keys, state, userId)
  return held
}

/** The shared entry of keys of one user with the same actions and scopes; a lapse makes a new one. */
function entryOf(keys: KeyHolders, state: DirectoryState, key: KeyValue): HolderEntry {
  const { user, actions, scopes, entity } = key
  const known = keys.entries.get(user)
  const same = known?.find(
    (one) => one.entity === entity && isSameList(one.actions, actions) && isSameList(one.scopes, scopes),
  )
  if (same !== undefined) return same.made
  const made = {
    userId: user,
    entity: entity ?? state.users.get(user)?.entity ?? user,
    access: intersect(accessOn(scopes, actions), grantedTo(state, user, keys.now())),
  }
  if (state.signedIn.has(user)) return made
  const shared = { entity, actions, scopes, made }
  if (known === undefined) keys.entries.set(user, [shared])
  else known.push(shared)
  return made
}

/** The holder of a key, or of a user, that is there and not ended. */
function heldKey(keys: KeyHolders, state: DirectoryState, id: string): HeldKey | undefined {
  const { holders, denied, now } = keys
  const before = holders.get(id)
  if (before?.version === keys.version && before.untilMs > now()) return before
  const key = state.keys.get(id)
  if (key === undefined) return id.startsWith(userPrefix) ? heldUser(keys, state, id, before) : undefined
  if (state.revoked.has(id) || state.off.has(key.user) || denied.has(id)) return undefined
  const end = keyEndOf(state, id, key)
  const endsMs = end === undefined ? Number.POSITIVE_INFINITY : Date.parse(end)
  if (endsMs <= now()) return undefined
  const held = remembered(keys, id, before, entryOf(keys, state, key), endsMs, key.addresses)
  held.untilMs = Math.min(endsMs, lapseOf(keys, state, key.user))
  return held
}

/** Id of the key with the text, whether it counts or not. */
export function keyIdOf(state: DirectoryState, text: string, digest: string): string | undefined {
  const named = idIn(text)
  if (named === null) return undefined
  const id = named ?? state.byDigest.get(digest)
  const stored = id === undefined ? undefined : state.keys.get(id)?.sha256
  return isSameDigest(stored ?? dummy, digest) ? id : undefined
}

function throwIfStale({ directory }: KeyHolders): void {
  if (directory.isStale()) throw retryLater(503, 'Keys cannot be verified at the moment', 2)
}

function search(keys: KeyHolders, text: string): HeldKey | undefined {
  const { fixed, denied, version } = keys
  const digest = digestOf(text)
  const own = fixed.size === 0 ? undefined : fixed.get(digest)
  if (own !== undefined)
    return denied.has(own.keyId as string)
      ? undefined
      : { holder: own, endsMs: Infinity, untilMs: Infinity, version, usedMs: 0 }
  throwIfStale(keys)
  const state = currentState(keys)
  const id = keyIdOf(state, text, digest)
  return id === undefined ? undefined : heldKey(keys, state, id)
}

/** The holder of a key's text, compared in constant time; undefined when there is none that counts. */
export function holderOfText(keys: KeyHolders, text: string): KeyHolder | undefined {
  if (text === '') return undefined
  const { directory, byText, now } = keys
  currentState(keys)
  const cached = byText.get(text)
  const at = now()
  if (cached !== undefined && cached.untilMs > at && !directory.isStale()) {
    cached.usedMs = at
    return cached.holder
  }
  let held = search(keys, text)
  if (held === undefined && idIn(text) !== null) {
    directory.look()
    held = search(keys, text)
  }
  if (held === undefined) return undefined
  byText.set(text, held)
  held.usedMs = at
  return held.holder
}

/** The holder of a key or a user by its id. @throws Fault 503 while that cannot be known */
export function holderOfId(keys: KeyHolders, id: string): KeyHolder | undefined {
  const own = keys.denied.has(id) ? undefined : keys.fixedById.get(id)
  if (own !== undefined) return own
  throwIfStale(keys)
  return heldKey(keys, currentState(keys), id)?.holder
}
