// Creates, rotates and ends keys: changes of a directory, computed from its state.
import { BlockList, isIP } from 'node:net'
import type { KeyLimits } from '../../../schemas/project-settings.ts'
import type { Change } from '../directory/directory.ts'
import { itemKey, type KeyValue, keyKinds } from '../directory/items.ts'
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
import { type DirectoryState, keyEndOf, limitsOfKey } from '../directory/state.ts'
import { Fault, type FaultStatus } from './errors.ts'
import { digestOf, newKeyText } from './key-text.ts'

/** A change that is refused, with a line for whoever asked for it. */
export class RefusedChange extends Fault {
  constructor(reason: string, status: FaultStatus = 409) {
    super(status, { reason })
  }
}

export type NewKey = {
  userId: string
  scopes: readonly Scope[]
  actions: readonly Action[]
  name?: string
  /** Default entity of SDKs. */
  entity?: string
  expiresAt?: string
  limits?: KeyLimits
  /** The buckets of rates that the key shares. */
  makerBuckets?: readonly string[]
  isFirst?: boolean
  /** Ranges of addresses from which it counts. */
  addresses?: readonly string[]
}

type RoleOn = { userId: string; role: Role; scopes: readonly Scope[]; entity?: string }

export type Made = { id: string; text: string; changes: Change[] }

/** The access of a list of actions on each of some scopes. */
export const accessOn = (scopes: readonly Scope[], actions: readonly Action[]): Access =>
  Object.fromEntries(scopes.map((scope) => [scope, actions.filter((one) => one !== 'metrics' || scope === '*')]))

export type Granted = { scope: Scope; role: Role; source: 'manual' | 'oidc' }

/** Grants that were given, and those of the groups of the last sign-in until they lapse. */
export function grantsOf({ grants, signedIn }: DirectoryState, userId: string, now: number): Granted[] {
  const manual = [...(grants.get(userId) ?? [])].map(([scope, role]) => ({ scope, role, source: 'manual' as const }))
  const last = signedIn.get(userId)
  if (last === undefined || Date.parse(last.ends_at) <= now) return manual
  return [...manual, ...last.grants.map((one) => ({ ...one, source: 'oidc' as const }))]
}

/** The access of all grants of a user together. */
export function grantedTo(state: DirectoryState, userId: string, now: number): Access {
  const access = new Map<Scope, readonly Action[]>()
  for (const { scope, role } of grantsOf(state, userId, now)) {
    const held = access.get(scope) ?? []
    access.set(scope, [...held, ...actionsOf(role, scope).filter((one) => !held.includes(one))])
  }
  return Object.fromEntries(access)
}

/** The role with the fewest actions that holds both: a user has one role on a scope. */
function joined(scope: Scope, one: Role, other: Role | undefined): Role {
  const needed = [...actionsOf(one, scope), ...(other === undefined ? [] : actionsOf(other, scope))]
  const holds = roles.filter((role) => needed.every((action) => actionsOf(role, scope).includes(action)))
  return holds.reduce((least, role) => (actionsOf(role, scope).length < actionsOf(least, scope).length ? role : least))
}

/** The user, and grants that hold the role on the scopes, as far as they are not there. */
export function grantChanges(state: DirectoryState, { userId, role, scopes, entity = userId }: RoleOn): Change[] {
  const user = state.users.has(userId)
    ? []
    : [{ key: itemKey('user', userId), value: { kind: 'service' as const, entity } }]
  const held = grantedTo(state, userId, Date.now())
  const lacking = scopes.filter((scope) => !isWithin({ [scope]: actionsOf(role, scope) }, held))
  const grants = lacking.map((scope) => ({
    key: itemKey('grant', userId, scope),
    value: { role: joined(scope, role, state.grants.get(userId)?.get(scope)) },
  }))
  return [...user, ...grants]
}

const maxLiveKeys = 1_000

/** Keys of a user: those that are neither revoked nor have ended, those that expired by themselves, and the others. */
function keysOf(state: DirectoryState, userId: string, now: number) {
  const found = { live: [] as [string, KeyValue][], expired: [] as string[], others: 0 }
  const hasPassed = (end: string | undefined) => end !== undefined && Date.parse(end) <= now
  for (const [id, key] of state.keys) {
    if (key.user !== userId) continue
    if (!state.revoked.has(id) && !hasPassed(keyEndOf(state, id, key))) found.live.push([id, key])
    else if (hasPassed(key.expires_at)) found.expired.push(id)
    else found.others++
  }
  return found
}

/** Keys of a user that are neither revoked nor have ended. */
export const liveKeysOf = (state: DirectoryState, userId: string, now: number): [string, KeyValue][] =>
  keysOf(state, userId, now).live

/** Number of ended keys of a user that are remembered: one user must not fill the directory. */
const maxEndedKeys = { expired: 1_000, revoked: 5_000 }
/** Number of ended keys that go with one new key, where more had ended before there was a limit. */
const forgottenAtOnce = 100

/**
 * Limits callers who make keys of their own; those who administer others may go on.
 * @throws RefusedChange when too many keys of the user were revoked
 */
export function throwIfManyRevoked(state: DirectoryState, userId: string, now: number): void {
  if (keysOf(state, userId, now).others >= maxEndedKeys.revoked)
    throw new RefusedChange(
      `${userId} has ${maxEndedKeys.revoked} keys that were revoked or replaced before they expired and cannot create more`,
    )
}

/**
 * Takes out the oldest keys of a user that have expired. A key that was revoked before its end stays: the import of an
 * older copy of the directory would bring it back.
 */
const forgotten = (state: DirectoryState, userId: string, now: number): Change[] => {
  const { expired } = keysOf(state, userId, now)
  if (expired.length <= maxEndedKeys.expired) return []
  // A key is remembered as long as others share its limits.
  const shared = new Set([...state.keys.values()].flatMap((key) => key.maker_buckets ?? []))
  return expired
    .filter((id) => !shared.has(state.keys.get(id)?.bucket ?? id))
    .slice(0, Math.min(forgottenAtOnce, Math.max(0, expired.length - maxEndedKeys.expired)))
    .flatMap((id) => keyKinds.map((kind) => itemKey(kind, id)))
    .filter((key) => state.items.has(key))
    .map((key) => ({ key, value: null }))
}

/** @throws RefusedChange */
export function throwUnlessUserId(userId: string): void {
  if (userId === '' || userId.length > 200)
    throw new RefusedChange('The name of a user must have 1 to 200 characters', 422)
}

/** @throws RefusedChange */
export function throwUnlessScope(scope: string): void {
  if (!isScope(scope))
    throw new RefusedChange(`${JSON.stringify(scope)} is not *, an entity or <entity>/<project>`, 422)
}

const rangeForm = /^[0-9A-Fa-f:.]+(?:\/\d{1,3})?$/

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4')
const bitsOf = (range: string): number => {
  const [address = '', bits] = range.split('/')
  return Number(bits ?? (familyOf(address) === 'ipv6' ? 128 : 32))
}

/** @throws RefusedChange for a text that is no address or range of them */
export function addressList(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', bits] = range.split('/')
    const family = familyOf(address)
    const most = family === 'ipv6' ? 128 : 32
    if (!rangeForm.test(range) || isIP(address) === 0 || Number(bits ?? most) > most)
      throw new RefusedChange(`${JSON.stringify(range)} is not an address range such as 10.0.0.0/8`, 422)
    list.addSubnet(address, Number(bits ?? most), family)
  }
  return list
}

/** Whether all addresses of a range lie in another one. @throws RefusedChange for a text that is no range */
export function isRangeWithin(range: string, whole: string): boolean {
  addressList([range])
  const [address = ''] = range.split('/')
  const isLarger = bitsOf(range) < bitsOf(whole) || familyOf(address) !== familyOf(whole.split('/')[0] ?? '')
  return !isLarger && addressList([whole]).check(address, familyOf(address))
}

function checkNew(state: DirectoryState, { userId, scopes, name = '', addresses = [] }: NewKey, now: number): void {
  throwUnlessUserId(userId)
  for (const scope of scopes) throwUnlessScope(scope)
  addressList(addresses)
  if (scopes.length === 0 || scopes.length > 100) throw new RefusedChange('A key must have 1 to 100 scopes', 422)
  if (name.length > 100) throw new RefusedChange('The name of a key must have at most 100 characters', 422)
  if (liveKeysOf(state, userId, now).length >= maxLiveKeys)
    throw new RefusedChange(`${userId} has ${maxLiveKeys} active keys: revoke some`)
}

/** Each request is charged to each of them. */
const maxMakers = 16

/** @throws RefusedChange */
function throwIfManyMakers(count: number): void {
  if (count > maxMakers) throw new RefusedChange(`A key shares the limits of at most ${maxMakers} keys that made it`)
}

/** Buckets that a key shares which is made by this one: none where nothing limits it. */
export function bucketsGivenBy(state: DirectoryState, keyId: string): string[] {
  const key = state.keys.get(keyId)
  const isLimited = Object.values(limitsOfKey(state, keyId) ?? {}).some(Boolean)
  return [...(key?.maker_buckets ?? []), ...(isLimited ? [key?.bucket ?? keyId] : [])]
}

/** @throws RefusedChange */
export function createKey(state: DirectoryState, key: NewKey, by: string, now: number): Made {
  checkNew(state, key, now)
  throwIfManyMakers(key.makerBuckets?.length ?? 0)
  const { userId, actions, scopes, name = '', entity, expiresAt, isFirst, addresses } = key
  const { id, text } = newKeyText()
  const value: KeyValue = {
    sha256: digestOf(text),
    user: userId,
    name,
    scopes: [...scopes],
    actions: [...actions],
    created_at: new Date(now).toISOString(),
    created_by: by,
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
    ...(entity !== undefined && entity !== state.users.get(userId)?.entity && { entity }),
    ...(key.limits !== undefined && { limits: key.limits }),
    ...(key.makerBuckets?.length && { maker_buckets: [...key.makerBuckets] }),
    ...(isFirst === true && { is_first: true }),
    ...(addresses !== undefined && addresses.length > 0 && { addresses: [...addresses] }),
  }
  return { id, text, changes: [{ key: itemKey('key', id), value }, ...forgotten(state, userId, now)] }
}

export const maxOverlapHours = 168

/** Longest life of a new key. */
export type LifeBounds = {
  /** CALLHOUSE_KEY_MAX_DAYS, 0 = for ever. */
  maxDays: number
  /** End of the key that makes it. */
  mostMs?: number | undefined
}

type Rotation = LifeBounds & {
  id: string
  hours: number
  by: string
  now: number
  /** The buckets of the key that asks. */
  makerBuckets?: readonly string[]
}

/**
 * A successor with the same user, name, actions and scopes; the key itself ends after the overlap.
 * @throws RefusedChange for a key that is unknown or has ended
 */
export function rotateKey(state: DirectoryState, rotation: Rotation): Made & { expiresAt: string | undefined } {
  const { id, hours, by, now } = rotation
  const before = state.keys.get(id)
  if (before === undefined) throw new RefusedChange(`Key ${id} not found`, 404)
  if (state.revoked.has(id)) throw new RefusedChange(`Key ${id} is revoked`)
  if (state.ends.has(id)) throw new RefusedChange(`Key ${id} was already rotated`)
  if (before.expires_at !== undefined && Date.parse(before.expires_at) <= now)
    throw new RefusedChange(`Key ${id} has expired`)
  if (!(hours >= 0 && hours <= maxOverlapHours))
    throw new RefusedChange(`The old key can work for 0 to ${maxOverlapHours} more hours`)
  if (hours > 0 && liveKeysOf(state, before.user, now).length >= maxLiveKeys)
    throw new RefusedChange(`${before.user} has ${maxLiveKeys} active keys: revoke some, or end this one immediately`)
  const { id: successor, text } = newKeyText()
  const { is_first: _, expires_at: expires, ...rest } = before
  // The successor lasts as long as the key did.
  const again = expires && new Date(now + Date.parse(expires) - Date.parse(before.created_at)).toISOString()
  const expiresAt = expiryOf(again, rotation, now)
  const limits = limitsOfKey(state, id)
  const bucket = before.bucket ?? id
  // The caller gets its text, so the successor counts for the buckets of the caller too.
  const makers = new Set([...(before.maker_buckets ?? []), ...(rotation.makerBuckets ?? [])])
  makers.delete(bucket)
  throwIfManyMakers(makers.size)
  const value: KeyValue = {
    ...rest,
    bucket,
    ...(makers.size > 0 && { maker_buckets: [...makers] }),
    ...(limits !== undefined && { limits }),
    sha256: digestOf(text),
    created_at: new Date(now).toISOString(),
    created_by: by,
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
  }
  const end = { ends_at: new Date(now + hours * 3_600_000).toISOString(), successor }
  return {
    id: successor,
    text,
    expiresAt,
    changes: [
      { key: itemKey('key', successor), value },
      { key: itemKey('key-end', id), value: end },
      ...forgotten(state, before.user, now),
    ],
  }
}

const dayMs = 86_400_000

/** End of a new key: as requested, but no later than the limits say. */
export function expiryOf(asked: string | undefined, { maxDays, mostMs }: LifeBounds, now: number): string | undefined {
  const lastMs = Math.min(
    maxDays === 0 ? Number.POSITIVE_INFINITY : now + maxDays * dayMs,
    mostMs ?? Number.POSITIVE_INFINITY,
  )
  const isLater = asked === undefined || Date.parse(asked) > lastMs
  return isLater && Number.isFinite(lastMs) ? new Date(lastMs).toISOString() : asked
}
