// Keys: who holds one, and what makes, rotates and revokes them in the directory.
import { existsSync } from 'node:fs'
import type { KeyLimits } from '../../../schemas/project-settings.ts'
import type { Directory } from '../directory/directory.ts'
import { type FileDirectory, type FileOptions, openFileDirectory } from '../directory/file.ts'
import { itemKey, type KeyValue } from '../directory/items.ts'
import { type Action, actionsOf, intersect, type Role, type RoleName, roleNamed } from '../directory/roles.ts'
import type { SharedDirectory } from '../directory/shared.ts'
import { type DirectoryState, keyEndOf } from '../directory/state.ts'
import { createLatest } from '../memory/latest.ts'
import { configuredKeys } from './configured-keys.ts'
import { retryLater } from './errors.ts'
import { type HolderEntry, holderOf, type KeyHolder } from './holder.ts'
import { isLoopbackName } from './host.ts'
import { accessOn, createKey, expiryOf, grantChanges, grantedTo, maxOverlapHours, rotateKey } from './key-changes.ts'
import { digestOf, idIn, isSameDigest } from './key-text.ts'
import { createKeyUses, type KeyUses } from './key-uses.ts'
import { keysFileOf, putAside, readKeysFile, takenOver } from './keys-file.ts'
import { appendFor, operator } from './room.ts'
import { setGrant, switchUser } from './user-changes.ts'

type NewKey = {
  userId: string
  /** Default entity of SDKs; the user's name when it is absent. */
  entity?: string
  /** Entities (`acme`) and projects (`acme/app`) that it opens; `*` = all. */
  grants?: '*' | readonly string[]
  role: RoleName
  actions?: readonly Action[]
  name?: string
  expiresAt?: string
  limits?: KeyLimits
}

export type KeyRefusal = 'key_malformed' | 'key_unknown' | 'key_expired' | 'key_revoked'

export type KeyInfo = {
  id: string
  userId: string
  name: string
  actions: readonly Action[]
  scopes: readonly string[]
  createdAt: string
  createdBy: string
  /** The earlier of its expiry and the end that a rotation gave it. */
  endsAt?: string
  lastUsedAt?: string
}

type UserInfo = {
  id: string
  kind: 'person' | 'service'
  isOff: boolean
  grants: { scope: string; role: Role }[]
}

export type Keys = {
  /** The holder of a key's text, compared in constant time; undefined when there is none that counts. */
  find(keyText: string): KeyHolder | undefined
  /** The reason why `find` finds no key; only a caller with the whole text learns that a key is known. */
  refusal(keyText: string): KeyRefusal
  /**
   * The holder of a key that was found before, or of a user, by `user:<id>`; undefined once it does not count.
   * @throws Fault 503 while that cannot be known
   */
  findId(keyId: string): KeyHolder | undefined
  /** The holder of a key that another process may have made just now; undefined where there is nothing to wait for. */
  arriving(keyText: string): Promise<KeyHolder | undefined> | undefined
  /** Makes a key and returns its text, which is stored nowhere. It counts once `stored` resolves. */
  create(key: NewKey): { id: string; text: string; stored: Promise<void> }
  /** A successor; the key itself counts for some hours more. */
  rotate(id: string, overlapHours?: number): Promise<{ id: string; text: string }>
  /** Those that are not revoked. */
  list(): KeyInfo[]
  /** False when there is no such key. */
  revoke(id: string): Promise<boolean>
  /**
   * Must be called before listening. Makes the first key when there is no key at all, and refuses to listen beyond
   * loopback until the operator has set or created one.
   */
  firstKey(host: string): Promise<{ ok: true; id?: string; text?: string } | { ok: false; line: string }>
  users(): UserInfo[]
  /** None of the keys of a user that is off counts. @throws RefusedChange for the last owner of everything */
  switchUser(userId: string, isOff: boolean): Promise<void>
  /** @throws RefusedChange when it takes the last owner of everything away */
  setGrant(userId: string, scope: string, role: Role | null): Promise<void>
  uses: Pick<KeyUses, 'lastMs' | 'flush'>
  /** Keys that end within the time. */
  ending(withinMs: number): number
  /** The reason why the known keys may be old, undefined when they are not. */
  problem(): string | undefined
}

export type KeysOptions = {
  /** `user:key` pairs of CALLHOUSE_KEYS: owners of everything, whatever the directory says. */
  configured: readonly string[]
  /** Ids of keys that do not count, whatever the directory says. */
  denied?: readonly string[]
  /** Longest life of a new key in days, 0 = any. */
  maxDays?: number
  now?: () => number
  /** Waits for what others write, where they do. */
  arrives?: SharedDirectory['arrives']
}

/** Longest wait for a key that is not known yet. */
const arrivalMs = 2_000
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

export function createKeys(
  directory: Directory,
  { configured, denied = [], maxDays = 0, now = Date.now, arrives }: KeysOptions,
): Keys {
  const fixed = configuredKeys(configured)
  const fixedById = new Map([...fixed.values()].map((holder) => [holder.keyId, holder]))
  const closed = new Set(denied)
  const byText = createLatest<HeldKey>(maxCached)
  /** Shared parts by user. */
  const entries = new Map<string, Shared[]>()
  /** Holders by key id; a change leaves the others the same objects, by which shares are counted. */
  const holders = new Map<string, HeldKey>()
  const uses = createKeyUses(directory, holders)
  let seen = -1

  const current = (): DirectoryState => {
    const state = directory.state()
    if (directory.version() !== seen) {
      seen = directory.version()
      byText.clear()
      entries.clear()
    }
    return state
  }

  /** The computed access holds until the grants of the user's last sign-in lapse. */
  const lapseOf = (state: DirectoryState, userId: string): number => {
    const last = state.signedIn.get(userId)
    const at = last === undefined ? 0 : Date.parse(last.ends_at)
    return at > now() ? at : Number.POSITIVE_INFINITY
  }

  /** A holder that stays the same object while nothing of it changes. */
  function remembered(
    id: string,
    before: HeldKey | undefined,
    entry: HolderEntry,
    endsMs: number,
    addresses?: readonly string[],
  ): HeldKey {
    const isSame = before?.endsMs === endsMs && JSON.stringify(before.holder.entry) === JSON.stringify(entry)
    const holder = isSame ? (before as HeldKey).holder : holderOf(entry, id, endsMs, addresses)
    const made = { holder, endsMs, untilMs: endsMs, version: seen, usedMs: before?.usedMs ?? 0 }
    holders.set(id, made)
    return made
  }

  /** A user who signed in without a key may do everything that is granted to him. */
  function heldUser(state: DirectoryState, id: string, before: HeldKey | undefined): HeldKey | undefined {
    const userId = id.slice(userPrefix.length)
    const user = state.users.get(userId)
    if (user === undefined || state.off.has(userId)) return undefined
    const entry = { userId, entity: user.entity, access: grantedTo(state, userId, now()) }
    const held = remembered(id, before, entry, Number.POSITIVE_INFINITY)
    held.untilMs = lapseOf(state, userId)
    return held
  }

  /** The shared entry of keys of one user with the same actions and scopes; a lapse makes a new one. */
  function entryOf(state: DirectoryState, { user, actions, scopes, entity }: KeyValue): HolderEntry {
    const known = entries.get(user)
    const same = known?.find(
      (one) => one.entity === entity && isSameList(one.actions, actions) && isSameList(one.scopes, scopes),
    )
    if (same !== undefined) return same.made
    const made = {
      userId: user,
      entity: entity ?? state.users.get(user)?.entity ?? user,
      access: intersect(accessOn(scopes, actions), grantedTo(state, user, now())),
    }
    if (state.signedIn.has(user)) return made
    const shared = { entity, actions, scopes, made }
    if (known === undefined) entries.set(user, [shared])
    else known.push(shared)
    return made
  }

  /** The holder of a key that is there and not ended. */
  function heldKey(state: DirectoryState, id: string, key: KeyValue | undefined): HeldKey | undefined {
    const found = holders.get(id)
    if (found?.version === seen && found.untilMs > now()) return found
    if (key === undefined) return id.startsWith(userPrefix) ? heldUser(state, id, found) : undefined
    if (state.revoked.has(id) || state.off.has(key.user) || closed.has(id)) return undefined
    const end = keyEndOf(state, id, key)
    const endsMs = end === undefined ? Number.POSITIVE_INFINITY : Date.parse(end)
    if (endsMs <= now()) return undefined
    const held = remembered(id, found, entryOf(state, key), endsMs, key.addresses)
    held.untilMs = Math.min(endsMs, lapseOf(state, key.user))
    return held
  }

  /** Id of the key with the text, whether it counts or not. */
  function idOf(state: DirectoryState, text: string, digest: string): string | undefined {
    const named = idIn(text)
    if (named === null) return undefined
    const id = named ?? state.byDigest.get(digest)
    const stored = id === undefined ? undefined : state.keys.get(id)?.sha256
    return isSameDigest(stored ?? dummy, digest) ? id : undefined
  }

  const throwIfStale = (): void => {
    if (directory.isStale()) throw retryLater(503, 'Keys cannot be verified at the moment', 2)
  }

  function search(text: string): HeldKey | undefined {
    const digest = digestOf(text)
    const own = fixed.size === 0 ? undefined : fixed.get(digest)
    if (own !== undefined)
      return closed.has(own.keyId as string)
        ? undefined
        : { holder: own, endsMs: Infinity, untilMs: Infinity, version: seen, usedMs: 0 }
    throwIfStale()
    const state = current()
    const id = idOf(state, text, digest)
    return id === undefined ? undefined : heldKey(state, id, state.keys.get(id))
  }

  function find(text: string): KeyHolder | undefined {
    if (text === '') return undefined
    current()
    const cached = byText.get(text)
    const at = now()
    if (cached !== undefined && cached.untilMs > at && !directory.isStale()) {
      cached.usedMs = at
      return cached.holder
    }
    let found = search(text)
    if (found === undefined && idIn(text) !== null) {
      directory.look()
      found = search(text)
    }
    if (found === undefined) return undefined
    byText.set(text, found)
    found.usedMs = at
    return found.holder
  }

  const create = (asked: NewKey, isFirst = false): ReturnType<Keys['create']> => {
    directory.look()
    const { role: name, grants = '*', actions, expiresAt: until, ...key } = asked
    const role = name === 'admin' && grants === '*' ? 'owner' : roleNamed(name)
    const scopes = grants === '*' ? ['*'] : grants
    const held = [...new Set(scopes.flatMap((scope) => actionsOf(role, scope)))]
    const expiresAt = expiryOf(until, { maxDays }, now())
    const { id, text, changes } = createKey(
      current(),
      {
        ...key,
        scopes,
        isFirst,
        actions: held.filter((one) => actions === undefined || actions.includes(one)),
        ...(expiresAt !== undefined && { expiresAt }),
      },
      'command',
      now(),
    )
    const { userId, entity } = key
    const granted = grantChanges(current(), { userId, role, scopes, ...(entity !== undefined && { entity }) })
    return { id, text, stored: appendFor(directory, [...granted, ...changes], operator) }
  }
  const live = (): [string, KeyValue][] => {
    directory.look()
    return [...current().keys].filter(([id]) => !current().revoked.has(id))
  }

  return {
    find,
    uses,
    refusal(text) {
      const digest = digestOf(text)
      const state = current()
      if (idIn(text) === null) return 'key_malformed'
      const id = idOf(state, text, digest)
      if (id === undefined) return 'key_unknown'
      const end = keyEndOf(state, id, state.keys.get(id) as KeyValue)
      return !state.revoked.has(id) && end !== undefined && Date.parse(end) <= now() ? 'key_expired' : 'key_revoked'
    },
    findId(id) {
      const own = closed.has(id) ? undefined : fixedById.get(id)
      if (own !== undefined) return own
      throwIfStale()
      const state = current()
      return heldKey(state, id, state.keys.get(id))?.holder
    },
    arriving(text) {
      const id = idIn(text)
      if (arrives === undefined || typeof id !== 'string' || current().keys.has(id)) return undefined
      return arrives(() => current().keys.has(id), arrivalMs).then(() => find(text))
    },
    create: (key) => create(key),
    async rotate(id, overlapHours = 24) {
      directory.look()
      const hours = Math.min(overlapHours, maxOverlapHours + 1)
      const made = rotateKey(current(), { id, hours, by: 'command', now: now(), maxDays })
      await directory.append(made.changes, 'command')
      return { id: made.id, text: made.text }
    },
    list: () =>
      live().map(([id, key]) => {
        const end = keyEndOf(current(), id, key)
        const used = uses.lastMs(current(), id)
        return {
          id,
          userId: key.user,
          name: key.name,
          actions: key.actions,
          scopes: key.scopes,
          createdAt: key.created_at,
          createdBy: key.created_by,
          ...(end !== undefined && { endsAt: end }),
          ...(used !== undefined && { lastUsedAt: new Date(used).toISOString() }),
        }
      }),
    async revoke(id) {
      if (!live().some(([one]) => one === id)) return false
      await directory.append([{ key: itemKey('key-revoked', id), value: {} }], 'command')
      return true
    },
    async firstKey(host) {
      const there = live()
      if (configured.length > 0 || there.some(([, key]) => key.is_first !== true)) return { ok: true }
      if (!isLoopbackName(host)) {
        const line = `Refusing to listen on ${host} without a configured key: set CALLHOUSE_KEYS or run 'callhouse keys create'`
        return { ok: false, line }
      }
      if (there.length > 0) return { ok: true }
      const { id, text, stored } = create({ userId: 'admin', role: 'owner' }, true)
      await stored
      return { ok: true, id, text }
    },
    users() {
      directory.look()
      const { users, off, grants } = current()
      return [...users].map(([id, { kind }]) => ({
        id,
        kind,
        isOff: off.has(id),
        grants: [...(grants.get(id) ?? [])].map(([scope, role]) => ({ scope, role })),
      }))
    },
    async switchUser(userId, isOff) {
      directory.look()
      await directory.append(switchUser(current(), { userId, isOff }, configured.length > 0), 'command')
    },
    async setGrant(userId, scope, role) {
      directory.look()
      await directory.append(setGrant(current(), { userId, scope, role }, configured.length > 0), 'command')
    },
    ending(withinMs) {
      const state = current()
      const before = now() + withinMs
      const isEnding = ([id, key]: [string, KeyValue]) => {
        const ends = Date.parse(keyEndOf(state, id, key) ?? '')
        return !state.revoked.has(id) && ends > now() && ends < before
      }
      return [...state.keys].filter(isEnding).length
    },
    problem: directory.problem,
  }
}

/**
 * The directory of a data folder, with the keys of `keys.json` of earlier versions.
 * @throws Error with one line when there is a file that cannot be read
 */
export function openDirectory(options: FileOptions): FileDirectory {
  const path = keysFileOf(options.dataDir)
  const earlier = readKeysFile(path)
  const directory = openFileDirectory(options)
  if (existsSync(path)) {
    directory.appendNow(takenOver(directory.state(), earlier), 'keys.json')
    putAside(path)
  }
  return directory
}

/** Keys of a data folder. @throws Error with one line when there is a file that cannot be read */
export const openKeys = (options: FileOptions & KeysOptions): Keys => createKeys(openDirectory(options), options)
