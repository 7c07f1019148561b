// Secrets of a project: set, listed without their values and removed at /v2/{entity}/{project}/secrets.
import { newSecret, removedSecret, secretName, secretsResponse, shownSecret } from '../../schemas/secrets.ts'
import { createSerialQueue } from '../core/concurrency/serial-queue.ts'
import type { Directory } from '../core/directory/directory.ts'
import { maxItemBytes, scopedKey } from '../core/directory/items.ts'
import { secretChange } from '../core/directory/secrets.ts'
import { unavailable } from '../core/errors.ts'
import { fault, invalid } from '../core/http/errors.ts'
import { appendFor } from '../core/http/room.ts'
import { type Route, type RouteContext, route } from '../core/http/route.ts'
import type { ProjectId } from '../core/ids.ts'

type SecretRouteDeps = {
  directory: Directory
  /** Undefined where none is set. */
  masterKey(): Buffer | undefined
}

const maxSecrets = 100

const projectOf = (context: RouteContext): ProjectId =>
  context.project(`${context.params.entity}/${context.params.project}`)

/** @throws Fault 422 for what cannot be a name */
function nameOf({ params }: RouteContext): string {
  const checked = secretName.safeParse(params.name)
  if (checked.success) return checked.data
  const [issue] = checked.error.issues
  throw invalid([{ loc: ['path', 'name'], msg: issue?.message ?? '', type: 'value_error' }])
}

export function createSecretRoutes({ directory, masterKey }: SecretRouteDeps): Route[] {
  const queue = createSerialQueue(() => unavailable('The server is shutting down'))
  const of = (project: string) => directory.state().secrets.get(project)

  function shown(project: string, name: string) {
    const { version, last4, origins } = of(project)?.get(name) ?? {}
    const { at, by } = directory.state().items.get(scopedKey('secret', project, name)) ?? {}
    return { name, version, updated_at: at, updated_by: by, last4, origins }
  }

  return [
    route({
      name: 'secrets.list',
      method: 'GET',
      path: '/v2/{entity}/{project}/secrets',
      summary: 'Names of the secrets of a project, without their values',
      body: { type: 'none' },
      response: secretsResponse,
      tables: [],
      async handle(context) {
        const project = projectOf(context)
        const names = [...(of(project)?.keys() ?? [])].sort()
        return { json: { secrets: names.map((name) => shown(project, name)) } }
      },
    }),
    route({
      name: 'secrets.set',
      method: 'PUT',
      path: '/v2/{entity}/{project}/secrets/{name}',
      summary: 'Creates or replaces a secret of a project for inference. Its value is never returned',
      body: { type: 'json', schema: newSecret, check: 'schema', maxBytes: maxItemBytes },
      response: shownSecret,
      topics: [],
      async handle(context) {
        const { input, caller } = context
        const project = projectOf(context)
        const name = nameOf(context)
        const master = masterKey()
        if (master === undefined) throw fault(409, 'Secrets need CALLHOUSE_MASTER_KEY, the same at every process')
        // Each has the version after the one before.
        return queue.run(async () => {
          const known = of(project)
          if ((known?.size ?? 0) >= maxSecrets && !known?.has(name))
            throw fault(409, `A project has at most ${maxSecrets} secrets`)
          const change = secretChange(directory.state(), { scope: project, name, ...input }, master)
          await appendFor(directory, [change], caller)
          return { json: shown(project, name) }
        })
      },
    }),
    route({
      name: 'secrets.delete',
      method: 'DELETE',
      path: '/v2/{entity}/{project}/secrets/{name}',
      summary: 'Removes a secret of a project',
      body: { type: 'none' },
      response: removedSecret,
      topics: [],
      async handle(context) {
        const { caller } = context
        const project = projectOf(context)
        const name = nameOf(context)
        return queue.run(async () => {
          if (of(project)?.has(name) !== true) return { json: { removed: false } }
          await directory.append([{ key: scopedKey('secret', project, name), value: null }], caller.userId)
          return { json: { removed: true } }
        })
      },
    }),
  ]
}
