// Routes of everybody's own keys and sessions.
import { keyResponse, madeKeyResponse, ownKeyRequest, revokedResponse } from '../../schemas/access.ts'
import { itemKey, type KeyValue, maxItemBytes } from '../core/directory/items.ts'
import { isWithin } from '../core/directory/roles.ts'
import type { DirectoryState } from '../core/directory/state.ts'
import { fault } from '../core/http/errors.ts'
import { accessOn } from '../core/http/key-changes.ts'
import { type Caller, type Route, route } from '../core/http/route.ts'
import { type AccessParts, pathId, throwUnlessHeldBy } from './changes.ts'
import { keyLine, listedKeys } from './key-lines.ts'
import { accessOfKey, makeKey, revokeCheckedKey, unknownKey } from './key-rules.ts'
import { pageOf } from './pages.ts'

const withoutProject = { withoutProject: true } as const

/** Users of CALLHOUSE_KEYS are not in the directory: nothing that is there could end their keys. */
const onlyConfigured = (userId: string): string =>
  `${userId} exists only in CALLHOUSE_KEYS and cannot have other keys: create a user (POST /users) and a key for it (POST /keys)`

/** A key of the caller's own; one that may do more than the caller's is not there for it. */
function ownKey(before: DirectoryState, id: string, { access = {}, userId, keyId }: Caller): KeyValue | undefined {
  const key = before.keys.get(id)
  return key?.user === userId && (id === keyId || isWithin(accessOfKey(key), access)) ? key : undefined
}

export function ownKeyRoutes(parts: AccessParts): Route[] {
  const { state, change, now, keyUses } = parts
  return [
    route({
      ...listedKeys,
      name: 'me.keys',
      method: 'GET',
      path: '/me/keys',
      summary: 'Your keys with no more permissions than this one',
      line: keyResponse,
      async handle(context) {
        const known = state()
        const shown = [...known.keys].filter(([id]) => ownKey(known, id, context.caller) !== undefined)
        return pageOf(
          context,
          shown.map(([id, key]) => keyLine(known, id, key, keyUses.lastMs(known, id), () => true)),
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
        return makeKey(parts, caller, caller.userId, input)
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
        revokeCheckedKey(parts, context.caller, pathId(context), (before) => {
          if (ownKey(before, pathId(context), context.caller) === undefined) throw unknownKey(pathId(context))
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
