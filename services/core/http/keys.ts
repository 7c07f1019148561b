// Keys: who holds one, and what makes, rotates and revokes them in the directory.
import { existsSync } from 'node:fs'
import type { KeyLimits } from '../../../schemas/project-settings.ts'
import type { Directory } from '../directory/directory.ts'
import { type FileDirectory, type FileOptions, openFileDirectory } from '../directory/file.ts'
import { itemKey, type KeyValue } from '../directory/items.ts'
import { type Action, actionsOf, type Role, type RoleName, roleNamed } from '../directory/roles.ts'
import type { SharedDirectory } from '../directory/shared.ts'
import { type DirectoryState, keyEndOf } from '../directory/state.ts'
import type { KeyHolder } from './holder.ts'
import { isLoopbackName } from './host.ts'
import { createKey, expiryOf, grantChanges, maxOverlapHours, rotateKey } from './key-changes.ts'
import { currentState, holderOfId, holderOfText, type KeyHolders, keyHolders, keyIdOf } from './key-holders.ts'
import { digestOf, idIn } from './key-text.ts'
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

type KeysState = {
  configured: readonly string[]
  directory: Directory
  maxDays: number
  now(): number
  holders: KeyHolders
  uses: KeyUses
}

export function createKeys(directory: Directory, options: KeysOptions): Keys {
  const { configured, denied = [], maxDays = 0, now = Date.now, arrives } = options
  const holders = keyHolders(directory, { configured, denied, now })
  const uses = createKeyUses(directory, holders.holders)
  const keys: KeysState = { configured, directory, maxDays, now, holders, uses }
  return {
    find: (text) => holderOfText(holders, text),
    uses,
    refusal: (text) => refusalOf(keys, text),
    findId: (id) => holderOfId(holders, id),
    arriving(text) {
      const id = idIn(text)
      const isKnown = (): boolean => currentState(holders).keys.has(id as string)
      if (arrives === undefined || typeof id !== 'string' || isKnown()) return undefined
      return arrives(isKnown, arrivalMs).then(() => holderOfText(holders, text))
    },
    create: (key) => createNamedKey(keys, key),
    async rotate(id, overlapHours = 24) {
      const hours = Math.min(overlapHours, maxOverlapHours + 1)
      const made = rotateKey(latest(keys), { id, hours, by: 'command', now: now(), maxDays })
      await directory.append(made.changes, 'command')
      return { id: made.id, text: made.text }
    },
    list: () => liveKeys(keys).map(([id, key]) => keyInfo(keys, id, key)),
    async revoke(id) {
      if (!liveKeys(keys).some(([one]) => one === id)) return false
      await directory.append([{ key: itemKey('key-revoked', id), value: {} }], 'command')
      return true
    },
    firstKey: (host) => firstKey(keys, host),
    users() {
      const { users, off, grants } = latest(keys)
      return [...users].map(([id, { kind }]) => ({
        id,
        kind,
        isOff: off.has(id),
        grants: [...(grants.get(id) ?? [])].map(([scope, role]) => ({ scope, role })),
      }))
    },
    async switchUser(userId, isOff) {
      await directory.append(switchUser(latest(keys), { userId, isOff }, configured.length > 0), 'command')
    },
    async setGrant(userId, scope, role) {
      await directory.append(setGrant(latest(keys), { userId, scope, role }, configured.length > 0), 'command')
    },
    ending: (withinMs) => endingKeys(keys, withinMs),
    problem: directory.problem,
  }
}

/** The directory, after a look at what others have written. */
function latest({ directory, holders }: KeysState): DirectoryState {
  directory.look()
  return currentState(holders)
}

function liveKeys(keys: KeysState): [string, KeyValue][] {
  const state = latest(keys)
  return [...state.keys].filter(([id]) => !state.revoked.has(id))
}

function refusalOf({ holders, now }: KeysState, text: string): KeyRefusal {
  const digest = digestOf(text)
  const state = currentState(holders)
  if (idIn(text) === null) return 'key_malformed'
  const id = keyIdOf(state, text, digest)
  if (id === undefined) return 'key_unknown'
  const end = keyEndOf(state, id, state.keys.get(id) as KeyValue)
  return !state.revoked.has(id) && end !== undefined && Date.parse(end) <= now() ? 'key_expired' : 'key_revoked'
}

function createNamedKey(keys: KeysState, asked: NewKey, isFirst = false): ReturnType<Keys['create']> {
  const { directory, maxDays, now } = keys
  const state = latest(keys)
  const { role: name, grants = '*', actions, expiresAt: until, ...key } = asked
  const role = name === 'admin' && grants === '*' ? 'owner' : roleNamed(name)
  const scopes = grants === '*' ? ['*'] : grants
  const held = [...new Set(scopes.flatMap((scope) => actionsOf(role, scope)))]
  const expiresAt = expiryOf(until, { maxDays }, now())
  const { id, text, changes } = createKey(
    state,
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
  const granted = grantChanges(state, { userId, role, scopes, ...(entity !== undefined && { entity }) })
  return { id, text, stored: appendFor(directory, [...granted, ...changes], operator) }
}

async function firstKey(keys: KeysState, host: string): ReturnType<Keys['firstKey']> {
  const live = liveKeys(keys)
  if (keys.configured.length > 0 || live.some(([, key]) => key.is_first !== true)) return { ok: true }
  if (!isLoopbackName(host)) {
    const line = `Refusing to listen on ${host} without a configured key: set CALLHOUSE_KEYS or run 'callhouse keys create'`
    return { ok: false, line }
  }
  if (live.length > 0) return { ok: true }
  const { id, text, stored } = createNamedKey(keys, { userId: 'admin', role: 'owner' }, true)
  await stored
  return { ok: true, id, text }
}

function keyInfo({ holders, uses }: KeysState, id: string, key: KeyValue): KeyInfo {
  const state = currentState(holders)
  const end = keyEndOf(state, id, key)
  const used = uses.lastMs(state, id)
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
}

function endingKeys({ holders, now }: KeysState, withinMs: number): number {
  const state = currentState(holders)
  const before = now() + withinMs
  const isEnding = ([id, key]: [string, KeyValue]) => {
    const ends = Date.parse(keyEndOf(state, id, key) ?? '')
    return !state.revoked.has(id) && ends > now() && ends < before
  }
  return [...state.keys].filter(isEnding).length
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
