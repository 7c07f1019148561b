// Routes of users: who administers a scope sees and changes those who were granted something within it.
import type { z } from 'zod'
import { nothingResponse, pageQuery, userRequest, userResponse } from '../../schemas/access.ts'
import { itemKey, maxItemBytes } from '../core/directory/items.ts'
import { type Access, actionsOn, allowsOn, isWithin } from '../core/directory/roles.ts'
import type { DirectoryState } from '../core/directory/state.ts'
import { fault } from '../core/http/errors.ts'
import { type Granted, grantedTo, grantsOf } from '../core/http/key-changes.ts'
import { shareOf } from '../core/http/room.ts'
import { type Caller, type Reply, type Route, route } from '../core/http/route.ts'
import { createUser, removeUser, switchUser } from '../core/http/user-changes.ts'
import { type AccessParts, pathId } from './changes.ts'
import { pageOf } from './pages.ts'

type User = z.output<typeof userResponse>

/** The grants of a user that the caller administers. */
const shownGrants = (state: DirectoryState, userId: string, access: Access, now: number): Granted[] =>
  grantsOf(state, userId, now).filter(({ scope }) => allowsOn(access, 'admin', scope))

/**
 * The user as the caller sees him; undefined when the caller has nothing to do with him. A grant to a user that is
 * known elsewhere shows neither its name nor its address.
 */
function shownUser(state: DirectoryState, id: string, { access = {}, userId }: Caller, now: number): User | undefined {
  const user = state.users.get(id)
  if (user === undefined) return undefined
  const grants = shownGrants(state, id, access, now)
  const isMadeByCaller = state.items.get(itemKey('user', id))?.by === userId
  const isOwn = isMadeByCaller || allowsOn(access, 'admin', user.entity)
  if (grants.length === 0 && !isOwn) return undefined
  const { kind, entity } = user
  const isKnownElsewhere = grantsOf(state, id, now).length > grants.length || isOfAnother(access, id, entity)
  const { name, email } = isKnownElsewhere && !isOwn ? {} : user
  return {
    id,
    kind,
    entity,
    is_off: state.off.has(id),
    grants,
    ...(name !== undefined && { name }),
    ...(email !== undefined && { email }),
  }
}

/**
 * @throws Fault 404 for a user that the caller does not see, 403 for himself and for one who may do what he may not give
 */
export function throwUnlessOver(state: DirectoryState, id: string, caller: Caller, now: number): void {
  const { access = {} } = caller
  if (shownUser(state, id, caller, now) === undefined) throw fault(404, `User ${id} not found`)
  if (id === caller.userId) throw fault(403, 'You cannot change yourself; another admin can')
  const granted = grantsOf(state, id, now)
  const entity = state.users.get(id)?.entity ?? id
  if (isOfAnother(access, id, entity))
    throw fault(403, `${id} is a user of an entity that your key does not administer`)
  if (granted.some(({ scope }) => !allowsOn(access, 'admin', scope)) || !isWithin(grantedTo(state, id, now), access))
    throw fault(403, `${id} has rights that your key does not administer`)
}

const withoutProject = { withoutProject: true } as const

const isConfigured = ({ config }: Pick<AccessParts, 'config'>, id: string): boolean =>
  config.keys.some((pair) => pair.startsWith(`${id}:`))

const hasConfigured = ({ config }: Pick<AccessParts, 'config'>): boolean => config.keys.length > 0

/** A route that switches a user off or on. */
const switchRoute = (parts: AccessParts, isOff: boolean, place: Pick<Route, 'name' | 'path' | 'summary'>): Route =>
  route({
    ...withoutProject,
    ...place,
    method: 'POST',
    body: { type: 'none' },
    response: userResponse,
    async handle(context): Promise<Reply> {
      const { state, change, now } = parts
      const userId = pathId(context)
      await change(context.caller, (before) => {
        throwUnlessOver(before, userId, context.caller, now())
        return { changes: switchUser(before, { userId, isOff }, hasConfigured(parts)) }
      })
      return { json: shownUser(state(), userId, context.caller, now()) }
    },
  })

export function userRoutes(parts: AccessParts): Route[] {
  const { state, change, now } = parts
  return [
    route({
      ...withoutProject,
      name: 'users.list',
      method: 'GET',
      path: '/users',
      summary: 'Users with roles on what the key administers',
      query: pageQuery,
      body: { type: 'none' },
      response: null,
      responseType: 'application/jsonl',
      line: userResponse,
      async handle(context) {
        const known = state()
        const shown = [...known.users.keys()].flatMap((id) => shownUser(known, id, context.caller, now()) ?? [])
        return pageOf(context, shown, ({ id }) => id)
      },
    }),
    route({
      ...withoutProject,
      name: 'users.create',
      method: 'POST',
      path: '/users',
      summary: 'Creates a user without roles',
      body: { type: 'json', schema: userRequest, check: 'schema', maxBytes: maxItemBytes },
      response: userResponse,
      async handle({ input, caller }) {
        const { id, kind, name, entity = id } = input
        const { access = {} } = caller
        if (input.entity !== undefined && !Object.keys(access).some((scope) => isInEntity(access, scope, entity)))
          throw fault(403, `Key has no right to admin in ${entity}`)
        if (isConfigured(parts, id)) throw fault(409, `User ${id} already exists`)
        await change(caller, (before) => {
          const share = shareOf(before, caller, entity)
          const more = { ...(name !== undefined && { name }), ...(share !== undefined && { share_of: share }) }
          return { changes: createUser(before, id, { kind, entity, ...more }) }
        })
        return { json: shownUser(state(), id, caller, now()) }
      },
    }),
    switchRoute(parts, true, {
      name: 'users.off',
      path: '/users/{id}/off',
      summary: 'Deactivates a user: its keys and sessions stop working',
    }),
    switchRoute(parts, false, { name: 'users.on', path: '/users/{id}/on', summary: 'Activates a user again' }),
    route({
      ...withoutProject,
      name: 'users.delete',
      method: 'DELETE',
      path: '/users/{id}',
      summary: 'Removes a user with its keys, sessions and grants',
      body: { type: 'none' },
      response: nothingResponse,
      async handle(context) {
        await change(context.caller, (before) => {
          throwUnlessOver(before, pathId(context), context.caller, now())
          return { changes: removeUser(before, pathId(context), hasConfigured(parts), now()) }
        })
        return { json: {} }
      },
    }),
  ]
}

/** Whether a scope that the caller administers is the entity, lies in it, or contains it. */
const isInEntity = (access: Access, scope: string, entity: string): boolean =>
  actionsOn(access, scope).includes('admin') && (scope === '*' || scope === entity || scope.startsWith(`${entity}/`))

/** Whether a user was made for an entity of which the caller administers nothing; most are for none but themselves. */
const isOfAnother = (access: Access, id: string, entity: string): boolean =>
  entity !== id && !Object.keys(access).some((scope) => isInEntity(access, scope, entity))
