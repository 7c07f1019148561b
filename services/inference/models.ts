// Lists of models: the default engine's, those of routers, and all that a project may use.
import type { InvokeCaller } from '../core/http/invoke.ts'
import { maxBytesHere } from '../core/http/long-requests.ts'
import { moveWork } from '../core/process/running-handler.ts'
import { listObjects } from './objects.ts'
import type { Providers } from './providers.ts'
import type { Secrets } from './secrets.ts'
import type { Upstream } from './upstream.ts'

export type ListedModel = { id: string; object: 'model'; created: number; owned_by: string } & Record<string, unknown>

export type EngineModels = {
  /** Models of the default engine, as of the last minute; empty when it does not answer. */
  list(): Promise<ListedModel[]>
}

const keptMs = 60_000
/** An engine that does not answer is not asked with every request. */
const failureKeptMs = 2_000
const listTimeoutMs = 10_000
const maxListBytes = 8 * 1024 * 1024

/** Entries of a list in the shape of the interface; anything else in it is left out. */
export function modelsOf(bytes: Buffer, owner: string): ListedModel[] {
  let parsed: unknown
  try {
    parsed = JSON.parse(bytes.toString())
  } catch {
    return []
  }
  const data = (parsed as { data?: unknown } | null)?.data
  return (Array.isArray(data) ? data : []).flatMap((entry: unknown) => {
    if (typeof entry !== 'object' || entry === null) return []
    const { id, created, owned_by } = entry as Record<string, unknown>
    if (typeof id !== 'string') return []
    const time = typeof created === 'number' ? created : 0
    const by = typeof owned_by === 'string' ? owned_by : owner
    return [{ ...entry, id, object: 'model' as const, created: time, owned_by: by }]
  })
}

/** The list as it came, until it is read. */
type Listed = { bytes: Buffer } | { models: ListedModel[] }

export type EngineModelsDeps = {
  upstream: Upstream
  config: { engineUrl: string | undefined; engineKey: string }
}

export function createEngineModels({ upstream, config }: EngineModelsDeps): EngineModels {
  let kept: Promise<Listed> | undefined
  let until = 0
  const { engineUrl, engineKey } = config

  async function ask(): Promise<Listed> {
    try {
      const answer = await upstream.send({
        method: 'GET',
        url: `${(engineUrl as string).replace(/\/+$/, '')}/models`,
        isTrusted: true,
        headers: { accept: 'application/json', ...(engineKey === '' ? {} : { authorization: `Bearer ${engineKey}` }) },
        timeoutMs: listTimeoutMs,
        // Many wait for one answer: no single client ends it.
        signal: new AbortController().signal,
      })
      const bytes = await answer.bytes(maxListBytes)
      if (answer.status === 200) return { bytes }
    } catch {
      // Counted as an engine without models until it is asked again.
    }
    until = Math.min(until, Date.now() + failureKeptMs)
    return { models: [] }
  }

  return {
    async list() {
      if (engineUrl === undefined) return []
      if (kept === undefined || Date.now() >= until) {
        until = Date.now() + keptMs
        kept = ask()
      }
      const asked = kept
      const listed = await asked
      if ('models' in listed) return listed.models
      // Each thread has its own list.
      if (listed.bytes.length > maxBytesHere) moveWork()
      const models = modelsOf(listed.bytes, 'engine')
      if (kept === asked) kept = Promise.resolve({ models })
      return models
    },
  }
}

export type UsableDeps = {
  invoke: Parameters<typeof listObjects>[0]
  providers: () => Providers
  secrets: Secrets
  engineModels: EngineModels
}

const model = (id: string, owner: string): ListedModel => ({ id, object: 'model', created: 0, owned_by: owner })

/** The models of the project's own providers, by the names that requests use. */
async function projectModels({ invoke }: UsableDeps, projectId: string, as: InvokeCaller): Promise<ListedModel[]> {
  const list = (baseClass: string, latestOnly: boolean) => listObjects(invoke, { projectId, baseClass, latestOnly }, as)
  const found = await list('ProviderModel', true)
  if (found.length === 0) return []
  const names = new Map((await list('Provider', false)).map(({ digest, object_id }) => [digest, object_id]))
  return found.map(({ object_id, val }) => {
    const digest = (val as { provider?: unknown } | null)?.provider
    const provider = typeof digest === 'string' ? names.get(digest) : undefined
    const isNamed = provider !== undefined && object_id.startsWith(`${provider}-`)
    const id = isNamed ? `${provider}::${object_id.slice(provider.length + 1)}` : object_id
    return model(`custom::${id}`, provider ?? 'project')
  })
}

/** Every model that the project may use at the moment, each name once. */
export async function usableModels(deps: UsableDeps, projectId: string, as: InvokeCaller): Promise<ListedModel[]> {
  const providers = deps.providers()
  const builtin = providers.models().flatMap(([name, { provider, keyName }]) => {
    const found = providers.find(provider)
    const key = keyName ?? found?.keyName ?? ''
    const use = { projectId, address: found?.baseUrl || undefined }
    return key === '' || deps.secrets.get(key, use) !== undefined ? [model(name, provider)] : []
  })
  const [own, engine] = await Promise.all([projectModels(deps, projectId, as), deps.engineModels.list()])
  return [...new Map([...builtin, ...own, ...engine].map((one) => [one.id, one])).values()]
}
