// The origin of shipped prices: the source that prices a model, and the earlier prices that stay.
import { describe, expect, it } from 'vitest'
import { carriedOn, withShipped } from '../../scripts/prices/file.ts'
import { choose, type Offer, pricesOf } from '../../scripts/prices/merge.ts'
import type { GenaiModel, LitellmModel } from '../../scripts/prices/sources.ts'

const providers = [
  'openai',
  'anthropic',
  'google',
  'mistral',
  'deepseek',
  'x-ai',
  'cohere',
  'perplexity',
  'moonshotai',
  'zai',
  'minimax',
  'groq',
  'cerebras',
  'azure',
  'aws',
  'fireworks',
  'together',
]
/** The sources with the models of one provider. */
const sourcesOf = (id: string, models: GenaiModel[], litellm: Record<string, LitellmModel>) => ({
  genai: providers.map((one) => ({
    id: one,
    pricing_urls: [`https://${one}/prices`],
    models: one === id ? models : [],
  })),
  litellm,
})
const perToken = (input: number, output: number, more: LitellmModel = {}): LitellmModel => ({
  litellm_provider: 'openai',
  mode: 'chat',
  source: 'https://page',
  input_cost_per_token: input / 1e6,
  output_cost_per_token: output / 1e6,
  ...more,
})
const equals = (id: string, prices: GenaiModel['prices']): GenaiModel => ({
  id,
  match: { kind: 'ClauseEquals', equals: id },
  prices,
})
const from = (start_date: string) => ({ constraint: { kind: 'StartDateConstraint' as const, start_date } })

describe('of two sources', () => {
  const genai = { points: [{ date: '2000-01-01', amounts: { input: 1, output: 2, write: 1.25 } }], isExact: true }

  it('that agree the one that knows dates is taken, with what it lacks from the other', () => {
    const points = [
      { date: '2000-01-01', amounts: { input: 3, output: 4 } },
      { ...genai.points[0], date: '2026-02-01' },
    ]
    const found = choose({ input: 1, output: 2, read: 0.1, write1h: 2 }, { ...genai, points: points as never })
    expect(found).toEqual({
      from: 'genai',
      points: [points[0], { date: '2026-02-01', amounts: { input: 1, output: 2, read: 0.1, write: 1.25, write1h: 2 } }],
    })
  })
  it('that differ the one that lists the name is taken', () => {
    const differ = choose({ input: 2, output: 2 }, genai)
    expect(differ).toMatchObject({ from: 'litellm', difference: { difference: 0.5, taken: 'litellm' } })
    expect(differ.points).toEqual([{ date: '2000-01-01', amounts: { input: 2, output: 2 } }])
  })
  it('that differ the other one is taken where it names the model itself and dates the change', () => {
    const points = [...genai.points, { date: '2026-10-29', amounts: { input: 0.7, output: 2.1 } }]
    const of = (isExact: boolean) => choose({ input: 1.4, output: 4.2 }, { points, isExact })
    expect(of(true)).toMatchObject({ points, difference: { taken: 'genai' } })
    expect(of(false)).toMatchObject({ from: 'litellm', difference: { taken: 'litellm' } })
    // A change of the future is not the price of today.
    const later = [...genai.points, { date: '2999-01-01', amounts: { input: 9, output: 9 } }]
    expect(choose({ input: 1, output: 2 }, { points: later, isExact: true }).points).toHaveLength(2)
  })
})

describe('names', () => {
  const namesOf = (id: string, models: GenaiModel[], litellm: Record<string, LitellmModel>) => {
    const { offers } = pricesOf(sourcesOf(id, models, litellm))
    return Object.fromEntries(
      [...offers].map(([name, { provider, points }]) => [name, [provider, points.at(-1)?.amounts.input]]),
    )
  }

  it('are those of both sources, with the prefixes of gateways', () => {
    const models = [equals('only-genai', { input_mtok: 5, output_mtok: 6 })]
    expect(
      namesOf('openai', models, { 'gpt-x': perToken(1, 2), 'not-tokens': { ...perToken(1, 2), mode: 'rerank' } }),
    ).toEqual({
      'gpt-x': ['openai', 1],
      'openai/gpt-x': ['openai', 1],
      'only-genai': ['openai', 5],
      'openai/only-genai': ['openai', 5],
    })
  })
  it('of one way to a model do not get the prices of another', () => {
    const vertex = { litellm_provider: 'vertex_ai' }
    const models = [equals('gemini-x', { input_mtok: 1, output_mtok: 2 })]
    const litellm = { 'vertex_ai/gemini-x': perToken(1.5, 3, vertex), 'vertex_ai/gemini-y': perToken(4, 4, vertex) }
    expect(namesOf('google', models, litellm)).toEqual({
      'gemini-x': ['google', 1],
      'gemini/gemini-x': ['google', 1],
      'google/gemini-x': ['google', 1],
      'vertex_ai/gemini-x': ['google', 1.5],
      'vertex_ai/gemini-y': ['google', 4],
    })
  })
  it('belong to the maker of a model before those who resell it', () => {
    const litellm = { 'gpt-x': perToken(1, 2), 'azure/gpt-x': perToken(1.1, 2.2, { litellm_provider: 'azure' }) }
    expect(namesOf('openai', [], litellm)).toMatchObject({ 'gpt-x': ['openai', 1], 'azure/gpt-x': ['azure', 1.1] })
  })
})

describe('prices', () => {
  const pointsOf = (prices: GenaiModel['prices']) =>
    pricesOf(sourcesOf('openai', [equals('m', prices)], {})).offers.get('m')?.points

  it('of long prompts and of hours of the day are the base price', () => {
    const tiers = { base: 1.25, tiers: [{ start: 200_000, price: 2.5 }] }
    expect(pointsOf({ input_mtok: tiers, output_mtok: 10, cache_write_1h_mtok: 2.5 })).toEqual([
      { date: '2000-01-01', amounts: { input: 1.25, output: 10, write1h: 2.5 } },
    ])
    const peak = { constraint: { kind: 'TimeOfDateConstraint' as const }, prices: { input_mtok: 2, output_mtok: 4 } }
    expect(pointsOf([{ prices: { input_mtok: 1, output_mtok: 2 } }, peak])).toHaveLength(1)
    const offPeak = { input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 }
    const tiered = { tiered_pricing: [offPeak, { input_cost_per_token: 9e-6 }] }
    for (const more of [{ off_peak_pricing: offPeak }, tiered]) {
      const { offers } = pricesOf(sourcesOf('openai', [], { m: perToken(2, 4, more) }))
      expect(offers.get('m')?.points).toEqual([{ date: '2000-01-01', amounts: { input: 1, output: 2 } }])
    }
  })
  it('keep their dates', () => {
    const prices = [
      { prices: { input_mtok: 2, output_mtok: 4 } },
      { ...from('2026-04-30'), prices: { input_mtok: 1, output_mtok: 2 } },
    ]
    expect(pointsOf(prices)?.map(({ date, amounts }) => [date, amounts.input])).toEqual([
      ['2000-01-01', 2],
      ['2026-04-30', 1],
    ])
  })
})

describe('prices that were shipped before', () => {
  const offer = (points: Offer['points'], more: Partial<Offer> = {}): Offer => ({
    provider: 'openai',
    model: 'm',
    points,
    page: 'https://page',
    read: '2026-11-12',
    ...more,
  })
  const point = (input: number, date = '2000-01-01', more: object = {}) => ({
    date,
    amounts: { input, output: 2, ...more },
  })

  it('hold until a source says otherwise: a changed price is a new point', () => {
    const shipped = offer([point(1)])
    expect(carriedOn(shipped, offer([point(3)])).points).toEqual([point(1), point(3, '2026-11-12')])
    // Once more with the same source: nothing is added.
    const again = carriedOn(offer([point(1), point(3, '2026-11-12')]), offer([point(3)]))
    expect(again.points).toEqual([point(1), point(3, '2026-11-12')])
  })
  it('get what they lacked', () => {
    expect(carriedOn(offer([point(1)]), offer([point(1, '2000-01-01', { read: 0.1 })])).points).toEqual([
      point(1, '2000-01-01', { read: 0.1 }),
    ])
  })
  it('give way to a source that dates the change', () => {
    const dated = [point(1), point(3, '2026-05-01')]
    expect(carriedOn(offer([point(1)]), offer(dated)).points).toEqual(dated)
  })
  it('stay when neither source lists the model any longer', () => {
    const gone = offer([point(7)], { read: '2025-01-01' })
    const all = withShipped(new Map([['m', offer([point(1)])]]), new Map([['gone', gone]]))
    expect([...all.keys()]).toEqual(['gone', 'm'])
    expect(all.get('gone')).toEqual(gone)
  })
})
