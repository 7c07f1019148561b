// Chooses the source that prices a model, its names, and the earlier prices that stay.
import { type GenaiModel, type GenaiPrice, type LitellmModel, type Match, packages, type Sources } from './sources.ts'

/** Dollars per million tokens. */
type Amounts = { input: number; output: number; read?: number; write?: number; write1h?: number }
export type Point = { date: string; amounts: Amounts }

/** Prices of a model: its points by date, the page that shows them, and the day up to which the source was read. */
export type Offer = { provider: string; model: string; points: Point[]; page: string | undefined; read: string }

/**
 * `litellm`: how LiteLLM names the provider. `prefixes`: how gateways do, before a model's name. `isManifold`: the provider
 * sells one model in several ways, by regions for example, whose prices differ.
 */
type Provider = { id: string; genai?: string; litellm: string[]; prefixes: string[]; isManifold?: true }

/** Where a name could be a model of several, the first provider has it. */
const providers: readonly Provider[] = [
  { id: 'openai', genai: 'openai', litellm: ['openai', 'text-completion-openai'], prefixes: ['openai'] },
  { id: 'anthropic', genai: 'anthropic', litellm: ['anthropic'], prefixes: ['anthropic'] },
  {
    id: 'google',
    genai: 'google',
    prefixes: ['google', 'gemini', 'vertex_ai'],
    isManifold: true,
    litellm: [
      'gemini',
      'vertex_ai',
      'vertex_ai-language-models',
      'vertex_ai-anthropic_models',
      'vertex_ai-mistral_models',
      'vertex_ai-llama_models',
      'vertex_ai-embedding-models',
    ],
  },
  { id: 'mistral', genai: 'mistral', litellm: ['mistral'], prefixes: ['mistral', 'mistralai'] },
  { id: 'deepseek', genai: 'deepseek', litellm: ['deepseek'], prefixes: ['deepseek'] },
  { id: 'x-ai', genai: 'x-ai', litellm: ['xai'], prefixes: ['x-ai', 'xai'] },
  { id: 'cohere', genai: 'cohere', litellm: ['cohere', 'cohere_chat'], prefixes: ['cohere'] },
  { id: 'perplexity', genai: 'perplexity', litellm: ['perplexity'], prefixes: ['perplexity'] },
  { id: 'moonshotai', genai: 'moonshotai', litellm: ['moonshot'], prefixes: ['moonshotai', 'moonshot'] },
  { id: 'zai', genai: 'zai', litellm: ['zai'], prefixes: ['zai', 'z-ai'] },
  { id: 'minimax', genai: 'minimax', litellm: ['minimax'], prefixes: ['minimax'] },
  { id: 'qwen', litellm: ['dashscope', 'qwencloud'], prefixes: ['dashscope', 'qwencloud', 'qwen'] },
  { id: 'groq', genai: 'groq', litellm: ['groq'], prefixes: ['groq'] },
  { id: 'cerebras', genai: 'cerebras', litellm: ['cerebras'], prefixes: ['cerebras'] },
  { id: 'azure', genai: 'azure', litellm: ['azure', 'azure_ai'], prefixes: ['azure'], isManifold: true },
  {
    id: 'aws',
    genai: 'aws',
    prefixes: ['bedrock'],
    isManifold: true,
    litellm: ['bedrock', 'bedrock_converse', 'bedrock_mantle'],
  },
  {
    id: 'fireworks',
    genai: 'fireworks',
    prefixes: ['fireworks_ai'],
    litellm: ['fireworks_ai', 'fireworks_ai-embedding-models'],
  },
  { id: 'together', genai: 'together', litellm: ['together_ai'], prefixes: ['together_ai'] },
]

/** Some entries say in words that they have no page. */
const pageOf = ({ source }: LitellmModel): string | undefined => (source?.startsWith('https:') ? source : undefined)

/** Models that are billed by tokens of text. */
const modes = ['chat', 'completion', 'responses', 'embedding', 'realtime']

/** Prices without a date hold since before any call. */
const always = '2000-01-01'
const million = (perToken: number): number => Number((perToken * 1e6).toPrecision(12))

function matches(match: Match, name: string): boolean {
  const text = name.toLowerCase()
  switch (match.kind) {
    case 'ClauseEquals':
      return text === match.equals.toLowerCase()
    case 'ClauseStartsWith':
      return text.startsWith(match.starts_with.toLowerCase())
    case 'ClauseEndsWith':
      return text.endsWith(match.ends_with.toLowerCase())
    case 'ClauseContains':
      return text.includes(match.contains.toLowerCase())
    case 'ClauseRegex':
      return new RegExp(match.regex, 'i').test(text)
    case 'ClauseOr':
      return match.or_.some((one) => matches(one, name))
    case 'ClauseAnd':
      return match.and_.every((one) => matches(one, name))
  }
}

function namesIn(match: Match): string[] {
  if (match.kind === 'ClauseEquals') return [match.equals]
  return match.kind === 'ClauseOr' ? match.or_.flatMap(namesIn) : []
}
const exactNames = (model: GenaiModel): string[] => [...new Set([model.id, ...namesIn(model.match)])]

const compact = (amounts: { [key in keyof Amounts]: number | undefined }): Amounts =>
  Object.fromEntries(Object.entries(amounts).filter(([, value]) => value !== undefined)) as Amounts

/** Amounts of a price; among prices by the length of the prompt, the base price. */
function genaiAmounts(price: GenaiPrice): Amounts | null {
  const of = (key: string): number | undefined => {
    const value = price[key]
    return typeof value === 'object' ? value.base : typeof value === 'number' ? value : undefined
  }
  const [input, output] = [of('input_mtok'), of('output_mtok')]
  if (input === undefined && output === undefined) return null
  const cached = { read: of('cache_read_mtok'), write: of('cache_write_mtok'), write1h: of('cache_write_1h_mtok') }
  return compact({ input: input ?? 0, output: output ?? 0, ...cached })
}

/** Points of a model; among prices by the hour of the day, the one that holds otherwise. */
function genaiPoints({ prices }: GenaiModel): Point[] {
  const byDate = new Map<string, GenaiPrice>()
  if (!Array.isArray(prices)) byDate.set(always, prices)
  else
    for (const { constraint, prices: price } of prices) {
      if (constraint?.kind === 'TimeOfDateConstraint') continue
      byDate.set(constraint ? constraint.start_date : always, price)
    }
  return [...byDate].flatMap(([date, price]) => {
    const amounts = genaiAmounts(price)
    return amounts ? [{ date, amounts }] : []
  })
}

function litellmAmounts(model: LitellmModel): Amounts | null {
  const price = { ...model, ...model.off_peak_pricing, ...model.tiered_pricing?.[0] }
  if (price.input_cost_per_token === undefined) return null
  const of = (perToken: number | undefined) => (perToken === undefined ? undefined : million(perToken))
  return compact({
    input: million(price.input_cost_per_token),
    output: million(price.output_cost_per_token ?? 0),
    read: of(price.cache_read_input_token_cost),
    // 0 is how it writes that there is no such price.
    write: of(price.cache_creation_input_token_cost || undefined),
    write1h: of(price.cache_creation_input_token_cost_above_1hr || undefined),
  })
}

const fields = ['input', 'output', 'read', 'write', 'write1h'] as const

/** The largest difference of two prices, as a part of the larger one; what one of them lacks is no difference. */
const differenceOf = (one: Amounts, other: Amounts): number =>
  Math.max(
    ...fields.map((field) => {
      const [a, b] = [one[field], other[field]]
      return a === undefined || b === undefined || a === b ? 0 : Math.abs(a - b) / Math.max(a, b)
    }),
  )
/** Prices that were rounded differently agree. */
export const agree = (one: Amounts, other: Amounts): boolean => differenceOf(one, other) < 0.02

/** A model that the sources price differently, and whose price was taken. */
type Difference = {
  provider: string
  name: string
  genai: Amounts
  litellm: Amounts
  difference: number
  taken: 'genai' | 'litellm'
}

type Choice = { points: Point[]; from: 'genai' | 'litellm'; difference?: Omit<Difference, 'provider' | 'name'> }

/**
 * LiteLLM lists each model by its name, with its page, and was read last; genai-prices knows since when a price holds and
 * matches names by rules. Where they agree the dates of genai-prices are taken, with what it lacks from LiteLLM. Where they
 * do not, genai-prices is taken if it names the model itself and dates the change, and LiteLLM else.
 */
export function choose(litellm: Amounts, genai: { points: Point[]; isExact: boolean } | null): Choice {
  const alone: Choice = { points: [{ date: always, amounts: litellm }], from: 'litellm' }
  const current = genai?.points.filter(({ date }) => date <= packages.litellm.released).at(-1)
  if (!genai || !current) return alone
  if (agree(litellm, current.amounts)) {
    const filled = { ...current, amounts: { ...litellm, ...current.amounts } }
    return { points: genai.points.map((point) => (point === current ? filled : point)), from: 'genai' }
  }
  const differ = { genai: current.amounts, litellm, difference: differenceOf(litellm, current.amounts) }
  if (genai.isExact && current.date !== always)
    return { points: genai.points, from: 'genai', difference: { ...differ, taken: 'genai' } }
  return { ...alone, difference: { ...differ, taken: 'litellm' } }
}

export type MergedPrices = { offers: Map<string, Offer>; differences: Difference[]; pages: Map<string, string[]> }

type Listed = { name: string; bare: string; entry: LitellmModel }

/** LiteLLM's entries of models that are billed by tokens, by our provider, with and without the provider's prefix. */
function listedByProvider(litellm: Sources['litellm']): Map<string, Listed[]> {
  const byLitellm = new Map(providers.flatMap((one) => one.litellm.map((name) => [name, one] as const)))
  const listed = new Map<string, Listed[]>()
  for (const [name, entry] of Object.entries(litellm)) {
    const provider = byLitellm.get(entry.litellm_provider ?? '')
    if (!provider || !modes.includes(entry.mode ?? '')) continue
    const prefix = [...provider.litellm, ...provider.prefixes].find((one) => name.startsWith(`${one}/`))
    const bare = prefix === undefined ? name : name.slice(prefix.length + 1)
    listed.set(provider.id, [...(listed.get(provider.id) ?? []), { name, bare, entry }])
  }
  return listed
}

const isNamed = (model: GenaiModel, bare: string): boolean =>
  exactNames(model).some((one) => one.toLowerCase() === bare.toLowerCase())

/** The offer of one of LiteLLM's entries, null when it has no prices. `isPlain`: it holds for the bare name too. */
function offerOf(provider: Provider, { name, bare, entry }: Listed, model: GenaiModel | undefined) {
  const amounts = litellmAmounts(entry)
  if (!amounts) return null
  const genai = model ? { points: genaiPoints(model), isExact: isNamed(model, bare) } : null
  const { points, from, difference } = choose(amounts, genai)
  const key = from === 'genai' && model ? model.id : bare
  const read = from === 'genai' && difference ? packages.genai.released : packages.litellm.released
  const offer: Offer = { provider: provider.id, model: key, points, page: pageOf(entry), read }
  const isPlain = name === bare || !provider.isManifold || (from === 'genai' && !difference)
  return { offer, difference, isPlain }
}

const namesWith = (prefixes: readonly string[], bare: string): string[] => [
  bare,
  ...prefixes.map((prefix) => `${prefix}/${bare}`),
]

function addMissing(offers: Map<string, Offer>, names: readonly string[], offer: Offer): void {
  for (const name of names) if (!offers.has(name)) offers.set(name, offer)
}

/** Offers of genai-prices by the names that its rules spell out and match to that model. */
const offersOfRules = (provider: string, models: readonly GenaiModel[]): [name: string, Offer][] =>
  models.flatMap((model) => {
    const points = genaiPoints(model)
    if (points.length === 0) return []
    const offer = { provider, model: model.id, points, page: undefined, read: packages.genai.released }
    const isOwn = (name: string) => modelNamed(models, name) === model
    return exactNames(model)
      .filter(isOwn)
      .map((name) => [name, offer] as [string, Offer])
  })

const modelNamed = (models: readonly GenaiModel[], name: string): GenaiModel | undefined =>
  models.find(({ match }) => matches(match, name))

/** @throws Error when genai-prices does not know it by the name that the list of providers says */
function genaiProviderOf({ genai: id }: Provider, all: Sources['genai']) {
  const found = all.find((one) => one.id === id)
  if (id !== undefined && !found) throw new Error(`genai-prices knows no provider ${id}`)
  return found
}

/** Prices by every name under which the sources know a model. */
export function pricesOf({ genai, litellm }: Sources): MergedPrices {
  const literal = new Map<string, Offer>()
  const derived = new Map<string, Offer>()
  const differences: Difference[] = []
  const pages = new Map<string, string[]>()
  const listed = listedByProvider(litellm)
  for (const provider of providers) {
    const { id, prefixes } = provider
    const source = genaiProviderOf(provider, genai)
    const models = source?.models ?? []
    const own = listed.get(id) ?? []
    pages.set(id, source?.pricing_urls ?? [own.flatMap(({ entry }) => pageOf(entry) ?? [])[0] ?? ''])
    const derive = (bare: string, offer: Offer) => addMissing(derived, namesWith(prefixes, bare), offer)
    for (const one of own) {
      const found = offerOf(provider, one, modelNamed(models, one.bare))
      if (found === null) continue
      literal.set(one.name, found.offer)
      if (found.difference) differences.push({ provider: id, name: one.name, ...found.difference })
      if (found.isPlain) derive(one.bare, found.offer)
    }
    for (const [name, offer] of offersOfRules(id, models)) derive(name, offer)
  }
  return { offers: new Map([...derived, ...literal]), differences, pages }
}
