// Calls routes for commands: by the rules of the route, as the operator, without a key.
import { actionsOf } from '../../core/directory/roles.ts'
import { holderOf } from '../../core/http/holder.ts'
import type { Invoke } from '../../core/http/invoke.ts'
import { runAs } from '../../core/process/running-handler.ts'
import type { CommandTable } from '../../core/process/services.ts'

const userId = 'command'
const caller = holderOf({ userId, entity: '', access: { '*': actionsOf('owner', '*') } })
/** The request as audit events name it. */
const request = { requestId: '', userId, keyId: undefined, address: () => '' }
const runningFor = { route: userId, withoutProject: true, projects: new Set<string>(), work: undefined, request }

/**
 * The command `routes.ask` with the name of a route, and its body and parameters as JSON texts.
 * @param invoke undefined until the server has its routes
 * @throws Fault as the route would answer
 */
export const routeCommands = (invoke: () => Pick<Invoke, 'json'> | undefined): CommandTable => ({
  'routes.ask'([name = '', body = '', params = '{}']) {
    const routes = invoke()
    if (routes === undefined) throw new Error('the server is starting')
    const { signal } = new AbortController()
    return runAs(runningFor, () => routes.json(name, JSON.parse(body), { caller, signal }, JSON.parse(params)))
  },
})
