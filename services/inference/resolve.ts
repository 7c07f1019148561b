// Resolves a model to a provider, an address and credentials.
import { baseUrlFault } from '../core/http/public-url.ts'
import { inferenceFault } from './errors.ts'
import { isProjectModel, resolveProjectModel } from './project-provider.ts'
import { bareModel, type Provider } from './providers.ts'
import type { SecretUse } from './secret-bindings.ts'
import { headerSecrets } from './secrets.ts'
import type { InferenceConfig, ResolveDeps, Target, TargetRequest } from './target.ts'
import { exchangeCredentials, vertexBaseUrl } from './vertex.ts'

const join = (base: string, path: string): string => `${base.replace(/\/+$/, '')}/${path}`

/** @throws Fault 501 when there is no engine */
export function engineTarget({ engineUrl, engineKey }: InferenceConfig, model: string | undefined): Target {
  if (engineUrl === undefined)
    throw inferenceFault(501, 'No inference engine is configured; see CALLHOUSE_ENGINE_URL', { code: 'no_engine' })
  return {
    provider: 'engine',
    model,
    isTrusted: true,
    drops: [],
    url: (path) => join(engineUrl, path),
    headers: engineKey === '' ? {} : { authorization: `Bearer ${engineKey}` },
    secrets: [engineKey],
  }
}

const missingSecret = (name: string, why: string) =>
  inferenceFault(400, `Missing secret: ${name}${why}`, { code: 'missing_secret', extra: { api_key: name } })

/** The error for a project's Provider, whether the secret exists for others or not at all. */
const notBound = '; for a Provider of a project it must be bound to the project and to the address'

function secretOf({ secrets }: ResolveDeps, name: string, use: SecretUse): string {
  const value = secrets.get(name, use)
  if (value === undefined) throw missingSecret(name, use.isOfProject ? notBound : '')
  return value
}

type Reached = Pick<Provider, 'name' | 'baseUrl' | 'keyName' | 'headers'>

/** An OpenAI-compatible address, with the key of that name, '' = none. */
function bearerTarget(
  deps: ResolveDeps,
  { name, baseUrl, keyName, headers }: Reached,
  use: Pick<SecretUse, 'projectId' | 'isOfProject'>,
  rest: Pick<Target, 'model' | 'drops'>,
): Target {
  const key = keyName === '' ? '' : secretOf(deps, keyName, { ...use, address: baseUrl })
  return {
    provider: name,
    isTrusted: use.isOfProject !== true,
    ...rest,
    url: (path) => join(baseUrl, path),
    headers: { ...(key === '' ? {} : { authorization: `Bearer ${key}` }), ...headers },
    secrets: [key, ...headerSecrets(headers)],
  }
}

type ProviderRequest = Pick<TargetRequest, 'projectId' | 'apiVersion' | 'credentials' | 'as'>

const azureBase = 'AZURE_API_BASE'

/** An address that a project has set is as far away as that of a Provider which it stores. */
function azureAddress(deps: ResolveDeps, { baseUrl }: Provider, projectId: string): SecretUse & { address: string } {
  const address = baseUrl || secretOf(deps, azureBase, { projectId })
  if (baseUrl !== '' || !deps.secrets.isOwn(azureBase, projectId)) return { projectId, address }
  const wrong = baseUrlFault(address, { allowPrivate: deps.config.allowPrivateNetworks })
  if (wrong !== null) throw inferenceFault(400, `Bad provider: ${azureBase} ${wrong}`, { code: 'provider_config' })
  const { origin, pathname } = new URL(address)
  return { projectId, address: origin + pathname, isOfProject: true }
}

function azureTarget(deps: ResolveDeps, provider: Provider, model: string, asked: ProviderRequest): Target {
  const { projectId } = asked
  const use = azureAddress(deps, provider, projectId)
  const base = use.address
  const key = secretOf(deps, provider.keyName, use)
  const apiVersion = asked.apiVersion ?? secretOf(deps, 'AZURE_API_VERSION', { projectId })
  const query = `?${new URLSearchParams({ 'api-version': apiVersion })}`
  // These two would change the path.
  if (/^\.{1,2}$/.test(model)) throw inferenceFault(404, 'Deployment not found', { code: 'model_not_found' })
  return {
    provider: provider.name,
    model,
    isTrusted: use.isOfProject !== true,
    drops: provider.drops(model),
    url: (path) => join(base, `openai/deployments/${encodeURIComponent(model.toWellFormed())}/${path}${query}`),
    headers: { ...provider.headers, 'api-key': key },
    secrets: [key, ...headerSecrets(provider.headers)],
  }
}

async function vertexTarget(
  deps: ResolveDeps,
  provider: Provider,
  model: string,
  { credentials, as }: ProviderRequest,
): Promise<Target> {
  if (credentials === undefined)
    throw inferenceFault(400, `${provider.name} needs cloud_credentials`, { param: 'cloud_credentials' })
  const base = provider.baseUrl || vertexBaseUrl(credentials)
  const options = { signal: as.signal, allowPrivate: deps.config.allowPrivateNetworks }
  const token = await exchangeCredentials(deps.upstream, credentials, options)
  return {
    provider: provider.name,
    isTrusted: provider.baseUrl !== '',
    drops: provider.drops(model),
    // The endpoint serves models of several publishers; its own ones need no name in front here.
    model: model.includes('/') ? model : `google/${model}`,
    url: (path) => join(base, path),
    headers: { ...provider.headers, authorization: `Bearer ${token}` },
    secrets: [token, ...headerSecrets(provider.headers)],
  }
}

export async function providerTarget(
  deps: ResolveDeps,
  provider: Provider,
  model: string,
  asked: ProviderRequest,
): Promise<Target> {
  switch (provider.wire) {
    case 'none':
      throw inferenceFault(501, `Requests to ${provider.name} are not supported yet`, { code: 'no_adapter' })
    case 'azure':
      return azureTarget(deps, provider, model, asked)
    case 'vertex':
      return vertexTarget(deps, provider, model, asked)
    case 'openai':
      return bearerTarget(deps, provider, { projectId: asked.projectId }, { model, drops: provider.drops(model) })
    default:
      return provider.wire satisfies never
  }
}

/** Takes a model's name or leaves it to the rules behind it. */
type Rule = (deps: ResolveDeps, asked: TargetRequest) => Promise<Target> | undefined

const enginePrefixed: Rule = ({ config }, { model }) =>
  model.startsWith(config.enginePrefix)
    ? Promise.resolve(engineTarget(config, model.slice(config.enginePrefix.length)))
    : undefined

const ofProject: Rule = (deps, { model, projectId, as }) => {
  if (!isProjectModel(model)) return undefined
  return resolveProjectModel(deps, model, projectId, as).then((found) =>
    bearerTarget(deps, found, { projectId, isOfProject: true }, { model: found.model, drops: [] }),
  )
}

const mapped: Rule = (deps, asked) => {
  const providers = deps.providers()
  const entry = providers.model(asked.model)
  if (entry === undefined) return undefined
  if (entry.provider === 'default') return Promise.resolve(engineTarget(deps.config, entry.model))
  const provider = providers.find(entry.provider)
  // A model may have a key of its own.
  return (
    provider && providerTarget(deps, { ...provider, keyName: entry.keyName ?? provider.keyName }, entry.model, asked)
  )
}

const ofFamily: Rule = (deps, asked) => {
  const provider = deps.providers().family(asked.model)
  return provider && providerTarget(deps, provider, bareModel(provider.name, asked.model), asked)
}

const listedByEngine: Rule = async ({ config, engineModels }, { model }) => {
  const listed = config.engineUrl === undefined ? [] : await engineModels.list()
  if (listed.some(({ id }) => id === model)) return engineTarget(config, model)
  throw inferenceFault(404, `The model ${model.slice(0, 200)} does not exist`, {
    code: 'model_not_found',
    param: 'model',
  })
}

const rules: readonly Rule[] = [enginePrefixed, ofProject, mapped, ofFamily, listedByEngine]

/** @throws Fault 404 for a model that no rule takes, 400 for what cannot be used, 501 for what is not supported */
export async function resolveTarget(deps: ResolveDeps, asked: TargetRequest): Promise<Target> {
  for (const rule of rules) {
    const target = rule(deps, asked)
    if (target !== undefined) return target
  }
  throw new Error('the last rule takes every name')
}
