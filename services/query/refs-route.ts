// Reading what refs point at: POST /refs/read_batch.
import { refsReadBatchRequest, refsReadBatchResponse } from '../../schemas/refs.ts'
import type { Freshness } from '../core/freshness.ts'
import { fault } from '../core/http/errors.ts'
import { type Route, route } from '../core/http/route.ts'
import { parseProjectId } from '../core/ids.ts'
import { type ObjectRef, parseRef } from '../core/refs.ts'
import type { Store } from '../core/store/store.ts'
import { type Resolved, resolveRefs } from './refs.ts'

export type RefReadDeps = {
  store: Pick<Store, 'rows'>
  freshness: Freshness
}

const mostRefs = 1_000

/** @throws Fault 400 for what is no ref, or one that cannot be read */
function readable(text: string): ObjectRef {
  const ref = parseRef(text)
  if (ref === null) throw fault(400, `Invalid ref: ${JSON.stringify(text.slice(0, 300))}`)
  if (ref.kind !== 'object' && ref.kind !== 'op') throw fault(400, `Refs of the kind ${ref.kind} cannot be read`)
  if (ref.version === 'latest') throw fault(400, 'Only refs with a digest can be read')
  return ref
}

/** Texts of the values. Nothing is answered when one of them is missing or cannot be. */
function textsOf(resolved: readonly Resolved[]): string[] {
  const missing = resolved.flatMap((one) => (one.is === 'missing' ? one.digest : []))
  if (missing.length > 0)
    throw fault(404, 'Some refs point at nothing', { missing_object_digests: [...new Set(missing)].sort() })
  return resolved.map((one) => {
    if (one.is === 'value') return one.text
    throw fault(400, one.is === 'invalid' ? one.reason : 'Not found')
  })
}

export function createRefReadRoutes({ store, freshness }: RefReadDeps): Route[] {
  return [
    route({
      name: 'refs.read_batch',
      method: 'POST',
      path: '/refs/read_batch',
      right: 'read',
      summary: 'The values that refs point at',
      body: { type: 'json', schema: refsReadBatchRequest, check: 'schema' },
      response: refsReadBatchResponse,
      tables: ['objects', 'object_events', 'table_lists', 'table_rows'],
      async handle(context) {
        const { input, caller, signal } = context
        if (input.refs.length > mostRefs) throw fault(400, `More than ${mostRefs} refs in one request`)
        const refs = input.refs.map(readable)
        if (refs.length === 0) return { json: { vals: [] } }
        const headers = await freshness.wait(context, ['objects', 'tables'])
        const places = new Map<string, number[]>()
        for (const [i, { entity, project }] of refs.entries()) {
          const name = `${entity}/${project}`
          const known = places.get(name)
          if (known) known.push(i)
          else places.set(name, [i])
        }
        const resolved: Resolved[] = []
        for (const [name, at] of places) {
          const projectId = parseProjectId(name)
          const asked = at.map((i) => refs[i] as ObjectRef)
          // Like refs to nothing: whether the project exists is not told.
          const answers = caller.may('read', projectId)
            ? await resolveRefs({ store, projectId, options: { signal } }, asked)
            : asked.map(({ version }): Resolved => ({ is: 'missing', digest: version }))
          for (const [k, i] of at.entries()) resolved[i] = answers[k] as Resolved
        }
        return { jsonText: `{"vals":[${textsOf(resolved).join(',')}]}`, headers }
      },
    }),
  ]
}
