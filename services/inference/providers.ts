// Providers that the operator offers: the built-in ones and those of CALLHOUSE_PROVIDERS_FILE, which may change at any time.
import { readFileSync, statSync } from 'node:fs'
import { z } from 'zod'
import { sendable } from './headers.ts'

/** How a provider is spoken to. `none` = its own format, for which there is no adapter. */
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
  /** Origins to which a secret of these providers may go; undefined when it belongs to none of them. */
  originsOf(keyName: string): readonly string[] | undefined
}

const keyNameOf = (provider: string): string => `${provider.toUpperCase().replaceAll('-', '_')}_API_KEY`
const nothing = (): readonly string[] => []

const builtin = (name: string, baseUrl: string, more: Partial<Provider> = {}): Provider => ({
  ...{ name, baseUrl, keyName: keyNameOf(name), headers: {}, wire: 'openai', drops: nothing },
  ...more,
})

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

const address = z.string().refine((text) => /^https?:\/\/[^/?#]+[^?#]*$/.test(text) && URL.canParse(text), {
  error: 'must be an http or https address without query and fragment',
})

const fileSchema = z.strictObject({
  providers: z
    .record(
      z.string().regex(/^[\w.-]{1,100}$/, { error: 'must be one word' }),
      z.strictObject({
        base_url: address,
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
})

type FileContent = z.output<typeof fileSchema>

/** @throws Error with one line that says what is wrong */
function readProvidersFile(path: string): FileContent {
  let parsed: unknown
  try {
    parsed = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new Error(`${path}: ${error instanceof SyntaxError ? 'not JSON' : (error as Error).message}`)
  }
  const result = fileSchema.safeParse(parsed)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new Error(`${path}: ${issue?.path.join('.')} ${issue?.message}`)
}

function providersOf(content: FileContent): Providers {
  const byName = new Map(builtins.map((provider) => [provider.name, provider]))
  const routers = new Set<string>()
  for (const [name, own] of Object.entries(content.providers ?? {})) {
    const same = byName.get(name)
    const drops = own.drop_params
    byName.set(name, {
      name,
      baseUrl: own.base_url,
      keyName: own.api_key_name ?? same?.keyName ?? '',
      headers: sendable(own.extra_headers ?? {}),
      wire: own.wire ?? (same === undefined || same.wire === 'none' ? 'openai' : same.wire),
      drops: drops === undefined ? (same?.drops ?? nothing) : () => drops,
    })
    routers.add(name)
  }
  const models = new Map<string, Mapped>()
  for (const [provider, names] of Object.entries(known))
    for (const name of names) models.set(name, { provider, model: bareModel(provider, name) })
  for (const [name, own] of Object.entries(content.models ?? {})) {
    const { provider, model, api_key_name } = typeof own === 'string' ? { provider: own } : { ...own }
    if (provider !== 'default' && !byName.has(provider))
      throw new Error(`models.${name} names no provider: ${provider}`)
    models.set(name, { provider, model: model ?? bareModel(provider, name), keyName: api_key_name })
  }
  const origins = new Map<string, string[]>()
  const allow = (keyName: string, provider: Provider | undefined) => {
    if (keyName === '') return
    const list = origins.get(keyName) ?? []
    origins.set(keyName, list)
    if (provider?.baseUrl) list.push(new URL(provider.baseUrl).origin)
  }
  for (const provider of byName.values()) allow(provider.keyName, provider)
  for (const { provider, keyName = '' } of models.values()) allow(keyName, byName.get(provider))
  for (const name of ['AZURE_API_BASE', 'AWS_SECRET_ACCESS_KEY']) allow(name, undefined)
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
    originsOf: (keyName) => origins.get(keyName),
  }
}

export type ProvidersDeps = {
  /** CALLHOUSE_PROVIDERS_FILE */
  file: string | undefined
  onBroken(reason: string): void
}

/**
 * The providers as the file says at the moment; a file that became unreadable leaves what was read before.
 * @throws Error when the file is wrong from the start
 */
export function openProviders({ file, onBroken }: ProvidersDeps): () => Providers {
  if (file === undefined) {
    const fixed = providersOf({})
    return () => fixed
  }
  const stampOf = () => {
    const stat = statSync(file, { throwIfNoEntry: false })
    return stat === undefined ? 'none' : `${stat.mtimeMs} ${stat.size} ${stat.ino}`
  }
  let stamp = stampOf()
  let current = providersOf(readProvidersFile(file))
  return () => {
    const now = stampOf()
    if (now === stamp) return current
    stamp = now
    try {
      current = providersOf(readProvidersFile(file))
    } catch (error) {
      onBroken((error as Error).message)
    }
    return current
  }
}
