// Providers that the operator offers: the built-in ones and those of CALLHOUSE_PROVIDERS_FILE, which may change at any time.
import { z } from 'zod'
import { baseAddress } from '../../schemas/secrets.ts'
import { type WatchedFile, type WatchedFileOptions, watchFile } from '../core/files/watched-file.ts'
import { sendable } from './headers.ts'
import { type Binding, bindings, isBelowAddress } from './secret-bindings.ts'

/** Protocol of a provider. `none` = its own format, for which there is no adapter. */
type Wire = 'openai' | 'azure' | 'vertex' | 'none'

export type Provider = {
  name: string
  baseUrl: string
  /** Name of the secret that is its key; '' = none. */
  keyName: string
  headers: Readonly<Record<string, string>>
  wire: Wire
  /** Members of requests that it does not take. */
  drops(model: string): readonly string[]
}

/** A model name and where it leads: `default` is the default engine. */
type Mapped = { provider: string; model: string; keyName?: string | undefined }

export type Providers = {
  find(name: string): Provider | undefined
  /** The entry of a model's exact name. */
  model(name: string): Mapped | undefined
  /** The provider whose family of names it is. */
  family(name: string): Provider | undefined
  models(): [name: string, entry: Mapped][]
  /** Named in the file: the routers. */
  isRouter(name: string): boolean
  /** The binding of a secret; undefined = it serves these providers and no others. */
  binding(secretName: string): Binding | undefined
  /** Secrets that these providers or a binding name. */
  secretNames(): ReadonlySet<string>
}

const keyNameOf = (provider: string): string => `${provider.toUpperCase().replaceAll('-', '_')}_API_KEY`
const nothing = (): readonly string[] => []

const builtin = (name: string, baseUrl: string, more: Partial<Provider> = {}): Provider => ({
  name,
  baseUrl,
  keyName: keyNameOf(name),
  headers: {},
  wire: 'openai',
  drops: nothing,
  ...more,
})

/** Secrets of built-in providers beside their keys. */
const keyParts = ['AZURE_API_BASE', 'AZURE_API_VERSION', 'AWS_SECRET_ACCESS_KEY', 'AWS_REGION_NAME']

const penalties = ['presence_penalty', 'frequency_penalty']

const builtins: readonly Provider[] = [
  builtin('openai', 'https://api.openai.com/v1'),
  builtin('anthropic', 'https://api.anthropic.com/v1'),
  builtin('gemini', 'https://generativelanguage.googleapis.com/v1beta/openai'),
  builtin('groq', 'https://api.groq.com/openai/v1'),
  // It tells usage unasked and refuses what it does not know.
  builtin('mistral', 'https://api.mistral.ai/v1', { drops: () => ['stream_options'] }),
  builtin('deepseek', 'https://api.deepseek.com/v1'),
  builtin('xai', 'https://api.x.ai/v1', {
    drops: (model) => ['response_format', ...(model.startsWith('grok-3-mini') ? penalties : [])],
  }),
  builtin('together_ai', 'https://api.together.xyz/v1'),
  builtin('openrouter', 'https://openrouter.ai/api/v1'),
  builtin('fireworks_ai', 'https://api.fireworks.ai/inference/v1'),
  builtin('cohere', 'https://api.cohere.ai/compatibility/v1'),
  // Its base address is a secret of its own.
  builtin('azure', '', { wire: 'azure' }),
  builtin('vertex_ai', '', { wire: 'vertex', keyName: '' }),
  builtin('vertex_ai_beta', '', { wire: 'vertex', keyName: '' }),
  builtin('bedrock', '', { wire: 'none', keyName: 'AWS_ACCESS_KEY_ID' }),
]

/** Names without a provider in front of them. */
const families: readonly [RegExp, string][] = [
  [/^(?:gpt-|chatgpt-|o\d|text-embedding-|dall-e-|gpt-image-)/, 'openai'],
  [/^claude/, 'anthropic'],
]

/** Well-known models of the built-in providers: those that the list of models shows when the key is there. */
const known: Record<string, readonly string[]> = {
  openai: ['gpt-4o', 'gpt-4o-mini', 'gpt-4.1', 'gpt-4.1-mini', 'gpt-5', 'gpt-5-mini', 'o3', 'o4-mini'],
  anthropic: ['claude-sonnet-4-5', 'claude-opus-4-1', 'claude-haiku-4-5'],
  gemini: ['gemini/gemini-2.5-pro', 'gemini/gemini-2.5-flash'],
  groq: ['groq/llama-3.3-70b-versatile'],
  mistral: ['mistral/mistral-large-latest', 'mistral/mistral-small-latest'],
  deepseek: ['deepseek/deepseek-chat', 'deepseek/deepseek-reasoner'],
  xai: ['xai/grok-4', 'xai/grok-3-mini'],
  cohere: ['cohere/command-a-03-2025'],
}

/** Model name as a provider itself knows it: without the provider's name in front. */
export const bareModel = (provider: string, model: string): string =>
  model.startsWith(`${provider}/`) ? model.slice(provider.length + 1) : model

const fileSchema = z.strictObject({
  providers: z
    .record(
      z.string().regex(/^[\w.-]{1,100}$/, { error: 'must be one word' }),
      z.strictObject({
        base_url: baseAddress,
        api_key_name: z.string().optional(),
        extra_headers: z.record(z.string(), z.string()).optional(),
        drop_params: z.array(z.string()).optional(),
        wire: z.enum(['openai', 'azure', 'vertex']).optional(),
      }),
    )
    .optional(),
  models: z
    .record(
      z.string().min(1),
      z.union([
        z.string(),
        z.strictObject({ provider: z.string(), model: z.string().optional(), api_key_name: z.string().optional() }),
      ]),
    )
    .optional(),
  secrets: bindings.optional(),
})

type FileContent = z.output<typeof fileSchema>
type FileProvider = NonNullable<FileContent['providers']>[string]

/** A bound secret goes to its origins only, so an address elsewhere could never be asked. */
function checkOrigins(content: FileContent, byName: ReadonlyMap<string, Provider>): void {
  const check = (at: string, keyName: string, provider: Provider | undefined) => {
    const { origins } = content.secrets?.[keyName] ?? {}
    const address = provider?.baseUrl
    if (origins && address && !origins.some((origin) => isBelowAddress(origin, address)))
      throw new Error(`${at} is at ${address}, which is not among secrets.${keyName}.origins`)
  }
  for (const name of Object.keys(content.providers ?? {})) {
    const provider = byName.get(name)
    check(`providers.${name}`, provider?.keyName ?? '', provider)
  }
  for (const [name, own] of Object.entries(content.models ?? {}))
    if (typeof own !== 'string') check(`models.${name}`, own.api_key_name ?? '', byName.get(own.provider))
}

/** A provider of the file. @param same the built-in one of its name, which has what the file leaves out */
function providerOf(name: string, own: FileProvider, same = builtin(name, '', { keyName: '' })): Provider {
  const { drop_params: drops } = own
  return {
    name,
    baseUrl: own.base_url,
    keyName: own.api_key_name ?? same.keyName,
    headers: sendable(own.extra_headers ?? {}),
    wire: own.wire ?? (same.wire === 'none' ? 'openai' : same.wire),
    drops: drops === undefined ? same.drops : () => drops,
  }
}

function providersOf(content: FileContent): Providers {
  const byName = new Map(builtins.map((provider) => [provider.name, provider]))
  const routers = new Set(Object.keys(content.providers ?? {}))
  for (const [name, own] of Object.entries(content.providers ?? {}))
    byName.set(name, providerOf(name, own, byName.get(name)))
  const models = new Map<string, Mapped>()
  for (const [provider, names] of Object.entries(known))
    for (const name of names) models.set(name, { provider, model: bareModel(provider, name) })
  for (const [name, own] of Object.entries(content.models ?? {})) {
    const { provider, model, api_key_name } = typeof own === 'string' ? { provider: own } : { ...own }
    if (provider !== 'default' && !byName.has(provider))
      throw new Error(`models.${name} has an unknown provider: ${provider}`)
    models.set(name, { provider, model: model ?? bareModel(provider, name), keyName: api_key_name })
  }
  checkOrigins(content, byName)
  const secretNames = new Set([
    ...[...byName.values()].map(({ keyName }) => keyName),
    ...[...models.values()].flatMap(({ keyName }) => keyName ?? []),
    ...keyParts,
    ...Object.keys(content.secrets ?? {}),
  ])
  return {
    find: (name) => byName.get(name),
    model: (name) => models.get(name),
    family(name) {
      const slash = name.indexOf('/')
      if (slash > 0) return byName.get(name.slice(0, slash))
      const found = families.find(([form]) => form.test(name))
      return found && byName.get(found[1])
    },
    models: () => [...models],
    isRouter: (name) => routers.has(name),
    binding: (name) => (content.secrets && Object.hasOwn(content.secrets, name) ? content.secrets[name] : undefined),
    secretNames: () => secretNames,
  }
}

export type ProvidersDeps = Pick<WatchedFileOptions<FileContent, Providers>, 'onBroken' | 'onMended'> & {
  /** CALLHOUSE_PROVIDERS_FILE */
  file: string | undefined
}

/**
 * The providers as the file says at the moment; a file that became unreadable leaves what was read before.
 * @throws Error when the file is wrong from the start
 */
export function openProviders({ file, ...told }: ProvidersDeps): WatchedFile<Providers> {
  if (file === undefined) {
    const fixed = providersOf({})
    return { current: () => fixed, problem: () => undefined }
  }
  return watchFile({ path: file, schema: fileSchema, use: providersOf, ...told })
}
