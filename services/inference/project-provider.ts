// Models of a project's own providers: `custom::<provider>::<model>` and refs, from stored objects to an address.

import { parseRef } from '../content/refs.ts'
import type { InvokeCaller } from '../core/http/invoke.ts'
import { baseUrlFault } from '../core/http/public-url.ts'
import { inferenceFault } from './errors.ts'
import { isMetadataHeader, ofRouting, sendable } from './headers.ts'
import { listObjects, type ObjectName, readStoredObject, type StoredObject } from './objects.ts'
import type { ResolveDeps } from './target.ts'

const prefix = 'custom::'
const refScheme = 'weave:///'

export const isProjectModel = (model: string): boolean => model.startsWith(prefix) || model.startsWith(refScheme)

/** Object id of a name: everything but letters, digits, `_` and `-` becomes `_`. */
const idOf = (name: string): string => name.replace(/[^A-Za-z0-9_-]/g, '_')

type ModelRequest = { model: ObjectName; provider: string; upstreamModel: string }

/** The model request behind a model's name; provider and upstream name are guesses where the objects know more. */
function asked(model: string, projectId: string): ModelRequest {
  if (model.startsWith(refScheme)) {
    const ref = parseRef(model)
    if (ref?.kind !== 'object' || ref.extra.length > 0)
      throw inferenceFault(400, 'The model is a ref, but not of an object', { param: 'model' })
    const [provider = ''] = ref.name.split('-', 1)
    const name = { projectId: `${ref.entity}/${ref.project}`, objectId: ref.name, version: ref.version }
    return { model: name, provider, upstreamModel: ref.name.slice(provider.length + 1) }
  }
  const rest = model.slice(prefix.length)
  const split = rest.indexOf('::')
  const provider = split === -1 ? (rest.split('-', 1)[0] as string) : rest.slice(0, split)
  const name = split === -1 ? rest : `${provider}-${rest.slice(split + 2)}`
  if (provider === '' || name.length <= provider.length + 1)
    throw inferenceFault(400, 'The model must be custom::<provider>::<model>', { param: 'model' })
  const upstreamModel = split === -1 ? rest.slice(provider.length + 1) : rest.slice(split + 2)
  return { model: { projectId, objectId: idOf(name), version: 'latest' }, provider: idOf(provider), upstreamModel }
}

const notFound = (what: string) => inferenceFault(404, `${what} does not exist`, { code: 'model_not_found' })
const badConfig = (why: string) => inferenceFault(400, `Bad provider: ${why}`, { code: 'provider_config' })

const valueIn = (object: StoredObject): Record<string, unknown> =>
  typeof object.val === 'object' && object.val !== null ? (object.val as Record<string, unknown>) : {}

/** The Provider version that a model's `provider` names: a digest, or a whole ref. */
async function readProvider(
  deps: ResolveDeps,
  { model, provider }: ModelRequest,
  named: string,
  as: InvokeCaller,
): Promise<StoredObject> {
  const { invoke } = deps
  const { projectId } = model
  if (named.startsWith(refScheme)) {
    const ref = parseRef(named)
    const found =
      ref?.kind === 'object'
        ? await readStoredObject(
            invoke,
            { projectId: `${ref.entity}/${ref.project}`, objectId: ref.name, version: ref.version },
            as,
          )
        : undefined
    if (found === undefined) throw badConfig('the ref of the model is not a Provider')
    return found
  }
  const found = await readStoredObject(invoke, { projectId, objectId: provider, version: named }, as)
  if (found !== undefined) return found
  // The name was cut at the wrong dash: the digest still says which version is meant.
  const versions = await listObjects(invoke, { projectId, baseClass: 'Provider', latestOnly: false }, as)
  const same = versions.find(({ digest }) => digest === named)
  const byDigest =
    same && (await readStoredObject(invoke, { projectId, objectId: same.object_id, version: same.digest }, as))
  if (byDigest === undefined) throw badConfig('the Provider of the model does not exist')
  return byDigest
}

function headersOf(sent: object): Record<string, string> {
  const wrong = Object.entries(sent).find(([name, value]) => typeof value !== 'string' || isMetadataHeader(name))
  if (wrong !== undefined) throw badConfig(`extra_headers must not contain ${wrong[0]}`)
  try {
    return sendable(sent as Record<string, string>, ofRouting)
  } catch (error) {
    throw badConfig(`extra_headers must not contain ${(error as Error).message}`)
  }
}

export type ProjectProvider = {
  name: string
  model: string
  baseUrl: string
  keyName: string
  headers: Record<string, string>
}

export async function resolveProjectModel(
  deps: ResolveDeps,
  name: string,
  projectId: string,
  as: InvokeCaller,
): Promise<ProjectProvider> {
  const wanted = asked(name, projectId)
  const model = await readStoredObject(deps.invoke, wanted.model, as)
  if (model === undefined) throw notFound(`The model ${name.slice(0, 200)}`)
  if (model.baseClass !== 'ProviderModel') throw badConfig(`${model.objectId} is not a ProviderModel`)
  const modelValue = valueIn(model)
  if (typeof modelValue.provider !== 'string' || modelValue.provider === '')
    throw badConfig(`${model.objectId} has no provider`)
  const provider = await readProvider(deps, wanted, modelValue.provider, as)
  if (provider.baseClass !== 'Provider') throw badConfig(`${provider.objectId} is not a Provider`)
  const { base_url, api_key_name = '', extra_headers, return_type } = valueIn(provider)
  if (typeof base_url !== 'string') throw badConfig('base_url must be a text')
  const { allowPrivateNetworks: allowPrivate } = deps.config
  const wrong = baseUrlFault(base_url, { allowPrivate })
  if (wrong !== null) throw badConfig(`base_url ${wrong}`)
  if (typeof api_key_name !== 'string') throw badConfig('api_key_name must be a text')
  if (return_type !== undefined && return_type !== null && return_type !== 'openai')
    throw badConfig('return_type must be openai')
  const headers = headersOf(extra_headers ?? {})
  const upstreamModel = typeof modelValue.name === 'string' && modelValue.name ? modelValue.name : wanted.upstreamModel
  // The very address that bindings of secrets are compared with, and without a user in front of the host.
  const { origin, pathname } = new URL(base_url)
  return { name: provider.objectId, model: upstreamModel, baseUrl: origin + pathname, keyName: api_key_name, headers }
}
