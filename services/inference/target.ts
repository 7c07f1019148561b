// The target of requests for a model, and the facts known once it is found.
import type { Invoke, InvokeCaller } from '../core/http/invoke.ts'
import type { EngineModels } from './models.ts'
import type { Providers } from './providers.ts'
import type { Secrets } from './secrets.ts'
import type { Upstream } from './upstream.ts'
import type { Credentials } from './vertex.ts'

export type InferenceConfig = {
  engineUrl: string | undefined
  engineKey: string
  enginePrefix: string
  enginePriority: boolean
  /** Paths that GET /inference/v1 passes on to the default engine; `*` stands for one segment. */
  engineGetPaths: readonly string[]
  inferenceConcurrency: number | undefined
  allowPrivateNetworks: boolean
  maxBodyBytes: number
}

export type ResolveDeps = {
  config: InferenceConfig
  providers: () => Providers
  secrets: Secrets
  invoke: Invoke
  upstream: Upstream
  engineModels: EngineModels
}

/** The target of requests for a model. */
export type Target = {
  /** Name for messages. */
  provider: string
  /** The model as the provider knows it; undefined = its default. */
  model: string | undefined
  url(path: string): string
  headers: Record<string, string>
  /** Texts that must not come out again. */
  secrets: readonly string[]
  isTrusted: boolean
  drops: readonly string[]
}

export type TargetRequest = {
  model: string
  projectId: string
  as: InvokeCaller
  /** API version of the request; only some providers have versions. */
  apiVersion: string | undefined
  credentials: Credentials | undefined
}
