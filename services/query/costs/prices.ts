// Prices of models: the project's own from the table, the default ones from memory, and which of them applies to a call.
import { type UnwrappedName, unwrappedNames } from '../../content/model-names.ts'
import type { ProjectId } from '../../core/ids.ts'
import { sql } from '../../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../../core/store/store.ts'
import { projectQuery } from '../../events/project-query.ts'
import type { Billed } from './billed.ts'

/** A price point; prices are per single token, times in microseconds. */
export type Price = {
  /** Id of a project's price. */
  id?: string
  llmId: string
  providerId: string
  level: 'project' | 'default'
  /** Source of a default price. */
  file?: 'shipped' | 'operator'
  /** Page that a default price was read from, and the day (`2026-11-12`). */
  page?: string | undefined
  read?: string | undefined
  /** The project, or `default`. */
  levelId: string
  effectiveUs: number
  prompt: number
  completion: number
  cacheRead: number
  /** Price of writes to a cache for five minutes, and for an hour. */
  cacheWrite: number
  cacheWrite1h: number
  /** Its API counts cached tokens apart from the input. */
  isAnthropic: boolean
  promptUnit: string
  completionUnit: string
  createdUs: number
  createdBy: string
}

/** Price points by model, the latest effective date first. */
export type PriceTable = ReadonlyMap<string, readonly Price[]>

export type PriceBook = {
  /** The price of a model for a call that began at `startedUs`; null = none is known. */
  at(model: string, startedUs: number): Price | null
  /** The one price of a model for sums over time: of the project before default, then the latest; null = none. */
  latest(model: string): Price | null
  /** All prices of a model, in the order in which they are tried once they are in force. */
  all(model: string): readonly Price[]
  /** The name that a model has prices under: its own, or what rules make of it (model-names.ts); null = none has any. */
  pricedName(model: string): UnwrappedName | null
  /** Times at which any price comes into force, in order. */
  changesUs(): readonly number[]
}

export type Prices = {
  /** All that a request of a project needs, in one read. */
  of(projectId: ProjectId, options: QueryOptions): Promise<PriceBook>
}

/** @param points of equal effective dates the first one wins */
export function priceTable(points: readonly Price[]): PriceTable {
  const table = new Map<string, Price[]>()
  for (const point of points) {
    const known = table.get(point.llmId)
    if (known) known.push(point)
    else table.set(point.llmId, [point])
  }
  for (const known of table.values()) known.sort((a, b) => b.effectiveUs - a.effectiveUs)
  return table
}

/** Names that a book remembers. */
const maxKnown = 10_000

/** A price book: in force before not yet in force, then project before default, then the latest. */
export function priceBook(project: PriceTable, shipped: PriceTable): PriceBook {
  const known = new Map<string, UnwrappedName | null>()
  const pricedName = (model: string): UnwrappedName | null => {
    let found = known.get(model)
    if (found === undefined) {
      found = unwrappedNames(model).find(({ name }) => project.has(name) || shipped.has(name)) ?? null
      if (known.size < maxKnown) known.set(model, found)
    }
    return found
  }
  const pricesOf = (model: string): [own: readonly Price[], others: readonly Price[]] => {
    const name = pricedName(model)?.name ?? ''
    return [project.get(name) ?? [], shipped.get(name) ?? []]
  }
  return {
    at(model, startedUs) {
      const [own, others] = pricesOf(model)
      const inForce = (point: Price) => point.effectiveUs <= startedUs
      return own.find(inForce) ?? others.find(inForce) ?? own[0] ?? others[0] ?? null
    },
    all: (model) => pricesOf(model).flat(),
    latest(model) {
      const [own, others] = pricesOf(model)
      return own[0] ?? others[0] ?? null
    },
    pricedName,
    changesUs() {
      const points = [...project.values(), ...shipped.values()].flat()
      const times = new Set(points.map(({ effectiveUs }) => effectiveUs))
      return [...times].filter((us) => us > 0).sort((a, b) => a - b)
    },
  }
}

/** Tokens as they are reported. */
export type Tokens = { prompt: number; completion: number }

/** Input tokens that are billed at the price of the prompt. */
export const uncachedOf = ({ isAnthropic }: Pick<Price, 'isAnthropic'>, { prompt }: Tokens, billed: Billed): number =>
  prompt - billed.inside + (isAnthropic ? billed.apart : 0)

/** Prompt, completion, cache read and cache creation cost. */
export const totalsOf = (price: Price, tokens: Tokens, billed: Billed): [number, number, number, number] => [
  uncachedOf(price, tokens, billed) * price.prompt,
  (tokens.completion + billed.moreOutput) * price.completion,
  billed.cacheRead * price.cacheRead,
  billed.cacheWrite * price.cacheWrite + billed.cacheWrite1h * price.cacheWrite1h,
]

/** Also behind clouds and gateways: `us.anthropic.claude-…`, `vertex_ai/claude-…`. */
const isOfAnthropic = (llmId: string, providerId: string): boolean =>
  /(^|[^a-z])claude/i.test(llmId) || /anthropic/i.test(providerId)

type Written = Pick<Price, 'llmId' | 'providerId' | 'prompt' | 'cacheWrite'>

/**
 * The members of a price that follow from the others. Anthropic bills an hour in the cache at twice the price of the
 * input; of others, and where writes have no price, it is that of five minutes.
 */
export function derivedPrices(price: Written): Pick<Price, 'isAnthropic' | 'cacheWrite1h'> {
  const isAnthropic = isOfAnthropic(price.llmId, price.providerId)
  return { isAnthropic, cacheWrite1h: isAnthropic && price.cacheWrite > 0 ? 2 * price.prompt : price.cacheWrite }
}

type Row = {
  id: string
  llm_id: string
  provider_id: string
  effective_us: string
  created_us: string
  created_by: string
  prompt_token_cost: number
  completion_token_cost: number
  cache_read_input_token_cost: number
  cache_creation_input_token_cost: number
  prompt_token_cost_unit: string
  completion_token_cost_unit: string
}

/** Among equal effective dates the newest price comes first. */
export const pricesQuery = (projectId: ProjectId): Query =>
  projectQuery(
    'costs.prices',
    projectId,
    (project) => sql`SELECT id, llm_id, provider_id, toUnixTimestamp64Micro(effective_date) AS effective_us,
      toUnixTimestamp64Micro(created_at) AS created_us, created_by, prompt_token_cost, completion_token_cost,
      cache_read_input_token_cost, cache_creation_input_token_cost, prompt_token_cost_unit, completion_token_cost_unit
    ${project.from('costs', { final: true, where: sql`NOT purged` })} ORDER BY created_at DESC, id DESC`,
  )

function priceOf(projectId: ProjectId, row: Row): Price {
  const price = {
    id: row.id,
    llmId: row.llm_id,
    providerId: row.provider_id,
    level: 'project' as const,
    levelId: projectId,
    effectiveUs: Number(row.effective_us),
    prompt: row.prompt_token_cost,
    completion: row.completion_token_cost,
    cacheRead: row.cache_read_input_token_cost,
    cacheWrite: row.cache_creation_input_token_cost,
    promptUnit: row.prompt_token_cost_unit,
    completionUnit: row.completion_token_cost_unit,
    createdUs: Number(row.created_us),
    createdBy: row.created_by,
  }
  return { ...price, ...derivedPrices(price) }
}

export const createPrices = (deps: { store: Pick<Store, 'rows'>; shipped: PriceTable }): Prices => ({
  async of(projectId, options) {
    const rows = await deps.store.rows<Row>(pricesQuery(projectId), options)
    return priceBook(priceTable(rows.map((row) => priceOf(projectId, row))), deps.shipped)
  },
})
