// Wire contract of the cost routes, and the form of price files.
import { z } from 'zod'
import { float, int, optional, text, withDefault } from './coerce.ts'
import { dictOf, list } from './collections.ts'
import { expressionQuery, sortBy } from './query.ts'

/** No finite number, as JSON or as a text spells it: infinite once it is read, or by its name. */
const isInfinite = (value: unknown): boolean =>
  typeof value === 'number'
    ? !Number.isFinite(value)
    : typeof value === 'string' &&
      (Math.abs(Number(value)) === Number.POSITIVE_INFINITY || /^\s*[+-]?(inf|infinity|nan)\s*$/i.test(value))

/** Numbers beyond double range are refused by the route, as negative prices are. */
const price = () => z.preprocess((value) => (isInfinite(value) ? -1 : value), float())

const cost = z.object({
  prompt_token_cost: price(),
  completion_token_cost: price(),
  cache_read_input_token_cost: withDefault(price(), 0),
  cache_creation_input_token_cost: withDefault(price(), 0),
  prompt_token_cost_unit: withDefault(text(), 'USD'),
  completion_token_cost_unit: withDefault(text(), 'USD'),
  /** ISO 8601 or unix time; null = now. */
  effective_date: optional(z.union([z.string(), z.number()])),
  provider_id: withDefault(text(), 'default'),
})

export const costCreateRequest = z.object({
  project_id: text(),
  costs: dictOf(cost).describe('Prices per token, by model'),
})

export const costCreateResponse = z.object({ ids: z.array(z.tuple([z.string(), z.string()])) })

export const costQueryRequest = z.object({
  project_id: text(),
  fields: optional(list(text())),
  query: optional(expressionQuery),
  sort_by: optional(sortBy),
  limit: optional(int()),
  offset: optional(int()),
})

const shown = z.string().nullable()
const amount = z.number().nullable()

export const costQueryResponse = z.object({
  results: z.array(
    z.object({
      id: shown,
      llm_id: shown,
      prompt_token_cost: amount,
      completion_token_cost: amount,
      cache_read_input_token_cost: amount,
      cache_creation_input_token_cost: amount,
      prompt_token_cost_unit: shown,
      completion_token_cost_unit: shown,
      effective_date: shown,
      provider_id: shown,
    }),
  ),
})

export const costPurgeRequest = z.object({ project_id: text(), query: expressionQuery })

export const costPurgeResponse = z.object({})

export const costExplainRequest = z.object({ project_id: text(), call_id: text() })

const shownPrice = z.object({
  source: z.enum(['project', 'operator file', 'shipped table']),
  /** Id of a project's price. */
  id: z.string().nullable(),
  provider_id: z.string(),
  effective_date: z.string(),
  created_by: z.string(),
  /** Source of a default price: the page that it was read from, the day, and its age; null where that is not known. */
  page: z.string().nullable(),
  read: z.string().nullable(),
  read_days_ago: z.number().nullable(),
  /** It began before the call did; otherwise nothing else is known. */
  in_force: z.boolean(),
})

/** A bucket of tokens; the buckets of a model do not overlap. */
const tokenBucket = z.object({
  bucket: z.string(),
  tokens: z.number(),
  counted_as: z.string(),
  price: z.number(),
  cost: z.number(),
})

const explainedModel = z.object({
  model: z.string(),
  priced_as: z
    .object({ name: z.string(), rules: z.array(z.string()) })
    .nullable()
    .describe(
      'the name that has the price, and what was taken off to come to it; null = the own one, or there is none',
    ),
  /** Usage in the form of the call's summary. */
  usage: z.record(z.string(), z.unknown()),
  price: shownPrice.nullable(),
  /** Prices of the model that were not taken. */
  other_prices: z.array(shownPrice),
  /** The rule that separated the input from its cached tokens. */
  rule: z.string(),
  buckets: z.array(tokenBucket),
  /** Output tokens that went into reasoning: part of the output, without a price of their own. */
  reasoning_tokens: z.number(),
  unit: z.string(),
  total: z.number(),
})

export const costExplainResponse = z.object({
  project_id: z.string(),
  call_id: z.string(),
  op_name: z.string(),
  started_at: z.string(),
  models: z.array(explainedModel),
  total: z.number(),
})

/** Models that calls of a time used, of which no price is known, those with most tokens first. */
export const unpricedModelsResponse = z.object({
  start: z.string(),
  end: z.string(),
  models: z.array(
    z.object({
      model: z.string(),
      calls: z.int().describe('calls, or spans, that report tokens of it'),
      input_tokens: z.number(),
      output_tokens: z.number(),
    }),
  ),
})

const perMillion = z.number().nonnegative()

/** A price point; prices per million tokens. */
const priceEntry = z.strictObject({
  llm_id: z.string().min(1),
  /** Other spellings of the model; each is matched exactly. */
  aliases: z.array(z.string().min(1)).default([]),
  provider: z.string().min(1).default('default'),
  input_per_million: perMillion,
  output_per_million: perMillion,
  cache_read_per_million: perMillion.default(0),
  cache_write_per_million: perMillion.default(0),
  /** Written for an hour; of models of Anthropic twice the input where it is not said. */
  cache_write_1h_per_million: perMillion.optional(),
  effective_date: z.string(),
  /** Page that the price was read from. */
  source: z.string().optional(),
  /** The day on which it was read there. */
  read: z.iso.date().optional(),
})

export type PriceEntry = z.infer<typeof priceEntry>

/** A price file: one entry per price point. */
export const priceFile = z.array(priceEntry)

/** The shipped price file: of entries that do not say it themselves, the provider's first page, and when it was read. */
export const shippedPriceFile = z.strictObject({
  providers: z.record(z.string(), z.strictObject({ pages: z.array(z.string()).min(1), read: z.iso.date() })),
  prices: priceFile,
})
