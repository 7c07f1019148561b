// Routes of keys: those of the scopes that the caller administers, and everybody's own.
import type { z } from 'zod'
import {
  keyLimitsRequest,
  keyLimitsResponse,
  keyResponse,
  madeKeyResponse,
  newKeyRequest,
  ownKeyRequest,
  pageQuery,
  revokedResponse,
  rotateRequest,
} from '../../schemas/access.ts'
import { type KeyLimits, keyLimits } from '../../schemas/project-settings.ts'
import { itemKey, type KeyValue, maxItemBytes } from '../core/directory/items.ts'
import {
  type Access,
  type Action,
  actionsOn,
  allowsOn,
  intersect,
  isWithin,
  type Scope,
} from '../core/directory/roles.ts'
import { type DirectoryState, limitsOfKey } from '../core/directory/state.ts'
import { fault, invalid } from '../core/http/errors.ts'
import {
  accessOn,
  bucketsGivenBy,
  createKey,
  expiryOf,
  grantedTo,
  isRangeWithin,
  rotateKey,
  throwIfManyRevoked,
} from '../core/http/key-changes.ts'
import { type Caller, type Route, type RouteContext, route } from '../core/http/route.ts'
import { throwUnlessUser } from '../core/http/user-changes.ts'
import { type AccessDeps, type Changes, throwUnlessAdminOn, throwUnlessHeldBy } from './changes.ts'
import { pageOf } from './pages.ts'
import { throwUnlessOver } from './users.ts'

type KeyLine = z.output<typeof keyResponse>
type Asked = z.output<typeof ownKeyRequest>

/** @param shows which of its scopes are told */
function lineOf(
  state: DirectoryState,
  id: string,
  key: KeyValue,
  lastMs: number | undefined,
  shows: (scope: Scope) => boolean,
): KeyLine {
  const end = state.ends.get(id)
  const revoked = state.items.get(itemKey('key-revoked', id))
  const limits = limitsOfKey(state, id)
  return {
    id,
    name: key.name,
    user_id: key.user,
    actions: key.actions,
    scopes: key.scopes.filter(shows),
    created_at: key.created_at,
    created_by: key.created_by,
    ...(key.expires_at !== undefined && { expires_at: key.expires_at }),
    ...(end !== undefined && { ends_at: end.ends_at, successor: end.successor }),
    ...(revoked !== undefined && { revoked_at: revoked.at }),
    ...(lastMs !== undefined && { last_used_at: new Date(lastMs).toISOString() }),
    ...(key.addresses !== undefined && { addresses: key.addresses }),
    ...(limits !== undefined && { limits }),
  }
}

const accessOfKey = ({ scopes, actions }: KeyValue): Access => accessOn(scopes, actions)

const limitNames = Object.keys(keyLimits.shape) as (keyof KeyLimits)[]

/** @throws Fault 403 when a key with these limits may take more than the caller's own */
function throwIfLooser(state: DirectoryState, { keyId = '' }: Caller, limits: KeyLimits | undefined): void {
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
function limitsGivenBy(state: DirectoryState, caller: Caller, asked: KeyLimits = {}): KeyLimits {
  const named = Object.entries(asked).filter(([, limit]) => limit)
  const limits = { ...limitsOfKey(state, caller.keyId ?? ''), ...Object.fromEntries(named) }
  throwIfLooser(state, caller, limits)
  return limits
}

/**
 * Addresses from which a key counts that a caller makes: those of its own key where none are named.
 * @throws Fault 403 for a key that would count from more
 */
function addressesGivenBy(state: DirectoryState, { keyId = '' }: Caller, asked: readonly string[] = []) {
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
function throwUnlessSpeaksFor(state: DirectoryState, userId: string, caller: Caller, now: number): void {
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

/** Users of CALLHOUSE_KEYS are not in the directory: nothing that is there could end their keys. */
const onlyConfigured = (userId: string): string =>
  `${userId} exists only in CALLHOUSE_KEYS and cannot have other keys: create a user (POST /users) and a key for it (POST /keys)`

const everywhere = ['0.0.0.0/0', '::/0']
const withoutProject = { withoutProject: true } as const
const listed = {
  ...withoutProject,
  query: pageQuery,
  body: { type: 'none' },
  response: null,
  responseType: 'application/jsonl',
} as const

export function createKeyRoutes({ directory, config, keyUses, now = Date.now }: AccessDeps, change: Changes): Route[] {
  const idOf = ({ params }: RouteContext): string => params.id ?? ''
  const state = (): DirectoryState => {
    directory.look()
    return directory.state()
  }
  const unknown = (id: string) => fault(404, `Key ${id} not found`)

  /** @throws Fault 404 for a key of which the caller administers nothing, 403 for one that opens more */
  function administered(before: DirectoryState, id: string, { access = {} }: Caller): KeyValue {
    const key = before.keys.get(id)
    if (key === undefined || !key.scopes.some((scope) => allowsOn(access, 'admin', scope))) throw unknown(id)
    if (!isWithin(accessOfKey(key), access) || !key.scopes.every((scope) => allowsOn(access, 'admin', scope)))
      throw fault(403, 'This key has permissions that your key does not administer')
    return key
  }

  /** A key of the caller's own; one that may do more than the caller's is not there for it. */
  function own(before: DirectoryState, id: string, { access = {}, userId, keyId }: Caller): KeyValue | undefined {
    const key = before.keys.get(id)
    return key?.user === userId && (id === keyId || isWithin(accessOfKey(key), access)) ? key : undefined
  }

  const boundsOf = ({ endsMs }: Caller) => ({ maxDays: config.keyMaxDays, mostMs: endsMs })

  /** No key lasts longer than the one that makes it. @throws Fault 422 for an end that has passed */
  function expiry(asked: string | undefined, caller: Caller): string | undefined {
    if (asked !== undefined && Date.parse(asked) <= now())
      throw invalid({ loc: ['body', 'expires_at'], msg: 'must be later than now', type: 'value_error' })
    return expiryOf(asked, boundsOf(caller), now())
  }

  async function made(
    caller: Caller,
    userId: string,
    asked: Asked & { limits?: KeyLimits | undefined },
    expiresAt: string | undefined,
  ) {
    const { name, actions, scopes } = asked
    const { id, text } = await change(caller, (before) => {
      throwUnlessSpeaksFor(before, userId, caller, now())
      throwUnlessInRoles(before, userId, accessOn(scopes, actions), now())
      if (userId === caller.userId) throwIfManyRevoked(before, userId, now())
      const limits = limitsGivenBy(before, caller, asked.limits)
      const addresses = addressesGivenBy(before, caller, asked.addresses)
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

  async function revoked(caller: Caller, id: string, check: (before: DirectoryState) => unknown) {
    await change(caller, (before) => {
      check(before)
      return { changes: before.revoked.has(id) ? [] : [{ key: itemKey('key-revoked', id), value: {} }] }
    })
    return { json: { revoked_at: state().items.get(itemKey('key-revoked', id))?.at } }
  }

  return [
    route({
      ...listed,
      name: 'keys.list',
      method: 'GET',
      path: '/keys',
      summary: 'Keys for the projects that the key administers, without their texts',
      line: keyResponse,
      async handle(context) {
        const { access = {} } = context.caller
        const known = state()
        const shows = (scope: Scope) => allowsOn(access, 'admin', scope)
        const shown = [...known.keys].filter(([, key]) => key.scopes.some(shows))
        return pageOf(
          context,
          shown.map(([id, key]) => lineOf(known, id, key, keyUses.lastMs(known, id), shows)),
          ({ id }) => id,
        )
      },
    }),
    route({
      name: 'keys.create',
      method: 'POST',
      path: '/keys',
      summary: 'Creates a key for a user whose roles include all of its actions. Returns its text once',
      body: { type: 'json', schema: newKeyRequest, check: 'schema', maxBytes: maxItemBytes },
      response: madeKeyResponse,
      async handle({ input, caller }) {
        for (const scope of input.scopes) throwUnlessAdminOn(caller, scope)
        throwUnlessHeldBy(caller, accessOn(input.scopes, input.actions))
        return made(caller, input.user_id, input, expiry(input.expires_at, caller))
      },
    }),
    route({
      ...withoutProject,
      name: 'keys.rotate',
      method: 'POST',
      path: '/keys/{id}/rotate',
      summary:
        'Rotates a key: a new key with the same permissions, which lasts no longer than the key that asks. The old key works for some more hours',
      body: { type: 'json', schema: rotateRequest, check: 'schema', optional: true, maxBytes: maxItemBytes },
      response: madeKeyResponse,
      async handle(context) {
        const { caller, input } = context
        const rotation = { id: idOf(context), hours: input.overlap_hours, by: caller.userId }
        const { id, text, expiresAt } = await change(caller, (before) => {
          const key = administered(before, idOf(context), caller)
          throwUnlessSpeaksFor(before, key.user, caller, now())
          throwIfLooser(before, caller, limitsOfKey(before, idOf(context)))
          addressesGivenBy(before, caller, key.addresses ?? everywhere)
          const makerBuckets = bucketsGivenBy(before, caller.keyId ?? '')
          return rotateKey(before, { ...rotation, ...boundsOf(caller), makerBuckets, now: now() })
        })
        return { json: { id, key: text, ...(expiresAt !== undefined && { expires_at: expiresAt }) } }
      },
    }),
    route({
      ...withoutProject,
      name: 'keys.limits_update',
      method: 'PUT',
      path: '/keys/{id}/limits',
      summary: 'Sets the limits of a key, replacing earlier ones; 0 = no limit',
      body: { type: 'json', schema: keyLimitsRequest, check: 'schema', maxBytes: maxItemBytes },
      response: keyLimitsResponse,
      async handle(context) {
        const { caller, input } = context
        const { limits } = await change(caller, (before) => {
          administered(before, idOf(context), caller)
          if (idOf(context) === caller.keyId) throw fault(403, 'A key cannot change its own limits')
          const limits = limitsGivenBy(before, caller, input)
          return { limits, changes: [{ key: itemKey('key-limits', idOf(context)), value: limits }] }
        })
        return { json: limits }
      },
    }),
    route({
      ...withoutProject,
      name: 'keys.delete',
      method: 'DELETE',
      path: '/keys/{id}',
      summary: 'Revokes a key and ends the sessions signed in with it',
      body: { type: 'none' },
      response: revokedResponse,
      handle: async (context) =>
        revoked(context.caller, idOf(context), (before) => administered(before, idOf(context), context.caller)),
    }),
    route({
      ...listed,
      name: 'me.keys',
      method: 'GET',
      path: '/me/keys',
      summary: 'Your keys with no more permissions than this one',
      line: keyResponse,
      async handle(context) {
        const known = state()
        const shown = [...known.keys].filter(([id]) => own(known, id, context.caller) !== undefined)
        return pageOf(
          context,
          shown.map(([id, key]) => lineOf(known, id, key, keyUses.lastMs(known, id), () => true)),
          ({ id }) => id,
        )
      },
    }),
    route({
      ...withoutProject,
      name: 'me.keys_create',
      method: 'POST',
      path: '/me/keys',
      summary: 'Creates a key of your own, with no more permissions and no longer life than this one',
      body: { type: 'json', schema: ownKeyRequest, check: 'schema', maxBytes: maxItemBytes },
      response: madeKeyResponse,
      async handle({ input, caller }) {
        throwUnlessHeldBy(caller, accessOn(input.scopes, input.actions))
        if (!state().users.has(caller.userId)) throw fault(409, onlyConfigured(caller.userId))
        return made(caller, caller.userId, input, expiry(input.expires_at, caller))
      },
    }),
    route({
      ...withoutProject,
      name: 'me.keys_delete',
      method: 'DELETE',
      path: '/me/keys/{id}',
      summary: 'Revokes one of your own keys',
      body: { type: 'none' },
      response: revokedResponse,
      handle: async (context) =>
        revoked(context.caller, idOf(context), (before) => {
          if (own(before, idOf(context), context.caller) === undefined) throw unknown(idOf(context))
        }),
    }),
    route({
      ...withoutProject,
      name: 'me.sessions_end',
      method: 'DELETE',
      path: '/me/sessions',
      summary: 'Ends all your sessions',
      body: { type: 'none' },
      response: revokedResponse,
      async handle({ caller }) {
        const at = new Date(now()).toISOString()
        const value = { before: at }
        await change(caller, () => ({ changes: [{ key: itemKey('sessions-end', caller.userId), value }] }))
        return { json: { revoked_at: at } }
      },
    }),
  ]
}
