// Rules of what a caller may give a key, and the making and revoking of keys within them.
import type { z } from 'zod'
import type { ownKeyRequest } from '../../schemas/access.ts'
import { type KeyLimits, keyLimits } from '../../schemas/project-settings.ts'
import { itemKey, type KeyValue } from '../core/directory/items.ts'
import { type Access, type Action, actionsOn, intersect } from '../core/directory/roles.ts'
import { type DirectoryState, limitsOfKey } from '../core/directory/state.ts'
import { fault, invalid } from '../core/http/errors.ts'
import {
  accessOn,
  bucketsGivenBy,
  createKey,
  expiryOf,
  grantedTo,
  isRangeWithin,
  throwIfManyRevoked,
} from '../core/http/key-changes.ts'
import type { Caller } from '../core/http/route.ts'
import { throwUnlessUser } from '../core/http/user-changes.ts'
import type { AccessParts } from './changes.ts'
import { throwUnlessOver } from './users.ts'

type KeyRequest = z.output<typeof ownKeyRequest> & { limits?: KeyLimits | undefined }

export const accessOfKey = ({ scopes, actions }: KeyValue): Access => accessOn(scopes, actions)

const limitNames = Object.keys(keyLimits.shape) as (keyof KeyLimits)[]

/** @throws Fault 403 when a key with these limits may take more than the caller's own */
export function throwIfLooser(state: DirectoryState, { keyId = '' }: Caller, limits: KeyLimits | undefined): void {
  for (const name of limitNames) {
    const most = limitsOfKey(state, keyId)?.[name]
    const given = limits?.[name]
    if (most && !(given && given <= most)) throw fault(403, `Your key has ${name} of ${most} and cannot grant more`)
  }
}

/**
 * Limits that a caller gives to a key: those of its own key hold where it names none.
 * @throws Fault 403 for one that is looser
 */
export function limitsGivenBy(state: DirectoryState, caller: Caller, asked: KeyLimits = {}): KeyLimits {
  const named = Object.entries(asked).filter(([, limit]) => limit)
  const limits = { ...limitsOfKey(state, caller.keyId ?? ''), ...Object.fromEntries(named) }
  throwIfLooser(state, caller, limits)
  return limits
}

/**
 * Addresses from which a key counts that a caller makes: those of its own key where none are named.
 * @throws Fault 403 for a key that would count from more
 */
export function addressesGivenBy(state: DirectoryState, { keyId = '' }: Caller, asked: readonly string[] = []) {
  const own = state.keys.get(keyId)?.addresses
  if (own === undefined) return asked
  const isBeyond = asked.some((range) => !own.some((one) => isRangeWithin(range, one)))
  if (isBeyond) throw fault(403, `Your key is limited to ${own.join(', ')} and cannot create keys for other addresses`)
  return asked.length === 0 ? own : asked
}

/**
 * A key speaks in the name of its user: only who administers all that the user may do is told its text.
 * @throws Fault 404 for a user that the caller does not see, 403 for one who may do what he does not administer
 */
export function throwUnlessSpeaksFor(state: DirectoryState, userId: string, caller: Caller, now: number): void {
  throwUnlessUser(state, userId)
  if (userId !== caller.userId) throwUnlessOver(state, userId, caller, now)
}

/**
 * A key does what its own actions and the roles of its user allow: what the roles lack would count for nothing.
 * @throws Fault 409 for a key with an action that no role of its user holds
 */
function throwUnlessInRoles(state: DirectoryState, userId: string, wanted: Access, now: number): void {
  const both = intersect(wanted, grantedTo(state, userId, now))
  for (const [scope, all] of Object.entries(wanted)) {
    const isLacking = (one: Action) => !actionsOn(both, scope).includes(one)
    const lacking = all.filter(isLacking)
    if (lacking.length === 0) continue
    const nothing = lacking.length === all.length ? ', so this key could do nothing there' : ''
    const roles = `The roles of ${userId} do not include ${lacking.join(', ')} on ${scope}${nothing}`
    throw fault(409, `${roles}. Grant a role that includes it (PUT /grants), or remove it from the key`)
  }
}

/** The longest life of a key that a caller makes: no key lasts longer than the one that makes it. */
export const lifeGivenBy = ({ config }: Pick<AccessParts, 'config'>, { endsMs }: Caller) => ({
  maxDays: config.keyMaxDays,
  mostMs: endsMs,
})

/** @throws Fault 422 for an end that has passed */
function expiryGivenBy(parts: AccessParts, caller: Caller, asked: string | undefined): string | undefined {
  const now = parts.now()
  if (asked !== undefined && Date.parse(asked) <= now)
    throw invalid({ loc: ['body', 'expires_at'], msg: 'must be later than now', type: 'value_error' })
  return expiryOf(asked, lifeGivenBy(parts, caller), now)
}

/** Makes a key of a user for the caller, and answers with its text. */
export async function makeKey(parts: AccessParts, caller: Caller, userId: string, request: KeyRequest) {
  const { name, actions, scopes } = request
  const { change, now } = parts
  const expiresAt = expiryGivenBy(parts, caller, request.expires_at)
  const { id, text } = await change(caller, (before) => {
    throwUnlessSpeaksFor(before, userId, caller, now())
    throwUnlessInRoles(before, userId, accessOn(scopes, actions), now())
    if (userId === caller.userId) throwIfManyRevoked(before, userId, now())
    const limits = limitsGivenBy(before, caller, request.limits)
    const addresses = addressesGivenBy(before, caller, request.addresses)
    const more = {
      ...(expiresAt !== undefined && { expiresAt }),
      addresses,
      makerBuckets: bucketsGivenBy(before, caller.keyId ?? ''),
      ...(Object.keys(limits).length > 0 && { limits }),
    }
    return createKey(before, { userId, name, actions, scopes, ...more }, caller.userId, now())
  })
  return { json: { id, key: text, ...(expiresAt !== undefined && { expires_at: expiresAt }) } }
}

/** @param check throws for a key that the caller may not revoke */
export async function revokeCheckedKey(
  { change, state }: AccessParts,
  caller: Caller,
  id: string,
  check: (before: DirectoryState) => unknown,
) {
  await change(caller, (before) => {
    check(before)
    return { changes: before.revoked.has(id) ? [] : [{ key: itemKey('key-revoked', id), value: {} }] }
  })
  return { json: { revoked_at: state().items.get(itemKey('key-revoked', id))?.at } }
}

export const unknownKey = (id: string) => fault(404, `Key ${id} not found`)
