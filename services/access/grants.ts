// Routes of grants: who administers a scope gives roles on it and takes them.
import { grantRequest, grantResponse, grantsQuery } from '../../schemas/access.ts'
import { maxItemBytes } from '../core/directory/items.ts'
import { actionsOf, type Role } from '../core/directory/roles.ts'
import { fault, invalid } from '../core/http/errors.ts'
import { grantsOf } from '../core/http/key-changes.ts'
import { type Route, route } from '../core/http/route.ts'
import { setGrant, throwUnlessUser } from '../core/http/user-changes.ts'
import { type AccessParts, throwUnlessAdminOn, throwUnlessHeldBy } from './changes.ts'
import { pageOf } from './pages.ts'

export function grantRoutes({ config, state, change, now }: AccessParts): Route[] {
  return [
    route({
      name: 'grants.list',
      method: 'GET',
      path: '/grants',
      summary: 'Grants on a scope and on everything below it',
      query: grantsQuery,
      body: { type: 'none' },
      response: null,
      responseType: 'application/jsonl',
      line: grantResponse,
      async handle(context) {
        const scope = context.query.get('scope')
        if (scope === null) throw invalid({ loc: ['query', 'scope'], msg: 'Field required', type: 'missing' })
        throwUnlessAdminOn(context.caller, scope)
        const known = state()
        const within = (one: string) => scope === '*' || one === scope || one.startsWith(`${scope}/`)
        const granted = [...known.users.keys()].flatMap((user_id) =>
          grantsOf(known, user_id, now())
            .filter((one) => within(one.scope))
            .map((one) => ({ user_id, ...one })),
        )
        return pageOf(context, granted, (one) => `${one.user_id} ${one.scope} ${one.source}`)
      },
    }),
    route({
      name: 'grants.set',
      method: 'PUT',
      path: '/grants',
      summary: 'Sets the role of a user on a scope; null removes it',
      body: { type: 'json', schema: grantRequest, check: 'schema', maxBytes: maxItemBytes },
      response: grantResponse,
      async handle({ input, caller }) {
        const { user_id: userId, scope, role } = input
        throwUnlessAdminOn(caller, scope)
        if (userId === caller.userId) throw fault(403, 'You cannot change your own grants; another admin can')
        await change(caller, (before) => {
          throwUnlessUser(before, userId)
          const held = before.grants.get(userId)?.get(scope)
          // Neither more than the caller holds is given, nor taken from who holds more.
          for (const one of [role, held]) if (one) throwUnlessHeldBy(caller, { [scope]: actionsOf(one as Role, scope) })
          return { changes: setGrant(before, { userId, scope, role }, config.keys.length > 0) }
        })
        return { json: { user_id: userId, scope, role } }
      },
    }),
  ]
}
