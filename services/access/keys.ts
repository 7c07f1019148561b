// Routes of keys of the scopes that the caller administers.
import {
  keyLimitsRequest,
  keyLimitsResponse,
  keyResponse,
  madeKeyResponse,
  newKeyRequest,
  revokedResponse,
  rotateRequest,
} from '../../schemas/access.ts'
import { itemKey, type KeyValue, maxItemBytes } from '../core/directory/items.ts'
import { allowsOn, isWithin, type Scope } from '../core/directory/roles.ts'
import { type DirectoryState, limitsOfKey } from '../core/directory/state.ts'
import { fault } from '../core/http/errors.ts'
import { accessOn, bucketsGivenBy, rotateKey } from '../core/http/key-changes.ts'
import { type Caller, type Route, route } from '../core/http/route.ts'
import { type AccessParts, pathId, throwUnlessAdminOn, throwUnlessHeldBy } from './changes.ts'
import { keyLine, listedKeys } from './key-lines.ts'
import {
  accessOfKey,
  addressesGivenBy,
  lifeGivenBy,
  limitsGivenBy,
  makeKey,
  revokeCheckedKey,
  throwIfLooser,
  throwUnlessSpeaksFor,
  unknownKey,
} from './key-rules.ts'
import { pageOf } from './pages.ts'

const everywhere = ['0.0.0.0/0', '::/0']
const withoutProject = { withoutProject: true } as const

/** @throws Fault 404 for a key of which the caller administers nothing, 403 for one that opens more */
function administered(before: DirectoryState, id: string, { access = {} }: Caller): KeyValue {
  const key = before.keys.get(id)
  if (key === undefined || !key.scopes.some((scope) => allowsOn(access, 'admin', scope))) throw unknownKey(id)
  if (!isWithin(accessOfKey(key), access) || !key.scopes.every((scope) => allowsOn(access, 'admin', scope)))
    throw fault(403, 'This key has permissions that your key does not administer')
  return key
}

export function keyRoutes(parts: AccessParts): Route[] {
  const { state, change, now, keyUses } = parts
  return [
    route({
      ...listedKeys,
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
          shown.map(([id, key]) => keyLine(known, id, key, keyUses.lastMs(known, id), shows)),
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
        return makeKey(parts, caller, input.user_id, input)
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
        const rotation = { id: pathId(context), hours: input.overlap_hours, by: caller.userId }
        const { id, text, expiresAt } = await change(caller, (before) => {
          const key = administered(before, pathId(context), caller)
          throwUnlessSpeaksFor(before, key.user, caller, now())
          throwIfLooser(before, caller, limitsOfKey(before, pathId(context)))
          addressesGivenBy(before, caller, key.addresses ?? everywhere)
          const makerBuckets = bucketsGivenBy(before, caller.keyId ?? '')
          return rotateKey(before, { ...rotation, ...lifeGivenBy(parts, caller), makerBuckets, now: now() })
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
          administered(before, pathId(context), caller)
          if (pathId(context) === caller.keyId) throw fault(403, 'A key cannot change its own limits')
          const limits = limitsGivenBy(before, caller, input)
          return { limits, changes: [{ key: itemKey('key-limits', pathId(context)), value: limits }] }
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
        revokeCheckedKey(parts, context.caller, pathId(context), (before) =>
          administered(before, pathId(context), context.caller),
        ),
    }),
  ]
}
