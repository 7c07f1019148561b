// Names of models as gateways, clouds and frameworks wrap them: a row for each rule, and names that stay without a price.
import { describe, expect, it } from 'vitest'
import { answeredName, nameRules } from '../../services/content/model-names.ts'
import { loadDefaultPrices } from '../../services/query/costs/default-prices.ts'
import { priceBook } from '../../services/query/costs/prices.ts'

const book = priceBook(new Map(), loadDefaultPrices(undefined))
const inputOf = (model: string): number | undefined => {
  const price = book.at(model, Date.UTC(2026, 10, 12) * 1000)
  return price === null ? undefined : Number((price.prompt * 1e6).toPrecision(6))
}

describe('a rule', () => {
  it.each(nameRules.map((rule) => [rule.name, rule] as const))(
    '%s',
    (_, { pattern, by, example: [wrapped, plain] }) => {
      expect(wrapped.replace(pattern, by as string)).toBe(plain)
    },
  )
})

describe('a wrapped name has the price of its model', () => {
  it.each([
    ['openai:gpt-4o', 2.5],
    ['openai/gpt-4o', 2.5],
    ['OpenAI/GPT-4o', 2.5],
    ['openrouter/openai/gpt-4o', 2.5],
    ['litellm_proxy/azure/gpt-4o', 2.5],
    ['gateway/openai:gpt-4o', 2.5],
    ['gpt-4o-2024-08-06', 2.5],
    ['gpt-4o-2027-03-04', 2.5],
    ['azure:gpt-4o-2024-11-20', 2.5],
    ['ft:gpt-4o-mini-2024-07-18:acme::Abc123', 0.3],
    ['openai/ft:gpt-4o-mini-2024-07-18:acme:name:Abc123', 0.3],
    ['gpt-4o-mini-2024-07-18.ft-0123abcd', 0.3],
    ['o3-mini-high', 1.1],
    ['openai/gpt-5-high', 1.25],
    ['gpt-5(low)', 1.25],
    ['anthropic/claude-sonnet-4.5', 3],
    ['anthropic:claude-sonnet-4-5', 3],
    ['Claude Sonnet 4.5', 3],
    ['claude-4.5-sonnet', 3],
    ['claude-sonnet-4-5@20250929', 3],
    ['claude-sonnet-4-5@us-east5', 3],
    ['vertex/claude-sonnet-4-5@europe-west1', 3],
    ['anthropic/claude-3.7-sonnet:thinking', 3],
    ['claude-3.5-sonnet', 3],
    ['anthropic.claude-opus-4-6-v1:0', 5],
    ['us.anthropic.claude-opus-4-6-v1:0', 5],
    ['bedrock:global.anthropic.claude-opus-4-6-v1:0', 5],
    ['bedrock/converse/us.anthropic.claude-haiku-4-5-20251001-v1:0', 1.1],
    ['arn:aws:bedrock:us-east-1:111122223333:inference-profile/us.anthropic.claude-haiku-4-5-20251001-v1:0', 1.1],
    ['arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-haiku-4-5-20251001-v1:0', 1],
    ['models/gemini-2.5-flash', 0.3],
    ['google-gla:gemini-2.5-flash', 0.3],
    ['openrouter/google/gemini-2.5-flash', 0.3],
    ['projects/p/locations/us-central1/publishers/google/models/gemini-2.5-flash', 0.3],
    ['google-ai-studio/gemini-2.5-flash', 0.3],
  ])('%s', (model, input) => {
    expect([model, inputOf(model)]).toEqual([model, input])
  })
})

it('names without a price stay so: hosts of open models, free ways, deployments', () => {
  const names = [
    'my-deployment',
    'ollama/llama3.3',
    'openai/my-own-model',
    'meta-llama/llama-3.3-70b-instruct:free',
    'arn:aws:bedrock:us-east-1:111122223333:application-inference-profile/abcdefghijkl',
    'ft:my-model:acme::1',
    `openai/${'a/'.repeat(2_000)}x`,
    '',
  ]
  expect(names.filter((name) => inputOf(name) !== undefined)).toEqual([])
})

it('a price of its own counts before that of the model inside, and names lead to prices of projects, too', () => {
  const price = { ...book.at('gpt-4o', 0), llmId: 'azure/gpt-4o', level: 'project' as const, prompt: 7, effectiveUs: 0 }
  const own = priceBook(new Map([['azure/gpt-4o', [price as never]]]), loadDefaultPrices(undefined))
  expect(own.at('azure/gpt-4o', 1)?.prompt).toBe(7)
  expect(own.at('litellm/azure/gpt-4o', 1)?.prompt).toBe(7)
  expect(own.pricedName('azure/gpt-4o')).toEqual({ name: 'azure/gpt-4o', rules: [] })
  expect(own.pricedName('litellm/azure/gpt-4o')).toEqual({ name: 'azure/gpt-4o', rules: ['gateway in front'] })
})

it('an alias that a well-known model answered is that model; other names stay as they were asked for', () => {
  expect(answeredName('my-deployment', 'gpt-4o-2024-08-06')).toBe('gpt-4o-2024-08-06')
  expect(answeredName('gateway/fast', 'claude-sonnet-4-5-20250929')).toBe('claude-sonnet-4-5-20250929')
  expect(answeredName('openai/gpt-4o', 'gpt-4o-2024-08-06')).toBe('openai/gpt-4o')
  expect(answeredName('house-model', 'inner-model')).toBe('house-model')
  expect(answeredName('house-model', '')).toBe('house-model')
  expect(answeredName('', 'gpt-4o')).toBe('gpt-4o')
})
