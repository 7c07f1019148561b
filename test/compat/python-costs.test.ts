// tier: deep compat
// The published Python SDK adds prices, lists them, reads the costs of calls and purges prices.
import { describe, expect, it } from 'vitest'
import { installSdk, runPython, sdkVersion } from '../fixtures/python-sdk.ts'
import { sdkServer } from '../fixtures/sdk-server.ts'

type Costs = Record<string, Record<string, unknown>>
type Report = {
  ids: string[]
  models: string[]
  all: { id: string; llm_id: string; prices: number[]; provider: string; year: number }[]
  one: string[]
  of_model: string[]
  page: string[]
  costs: (Costs | null)[]
  plain: boolean[]
  after_one: number
  after_all: Costs | null
  left: number
}

describe(`costs of the Python SDK ${sdkVersion}`, () => {
  const server = sdkServer(installSdk)

  it('are added, listed, read with calls and purged', { timeout: 180_000 }, async () => {
    const report = await runPython<Report>('costs.py', ['compat/python-costs'], server)
    const { ids } = report
    expect(report.models).toEqual(['own-model', 'own-model', 'other-model'])
    expect(report.all).toEqual([
      { id: ids[0], llm_id: 'own-model', prices: [0.001, 0.002, 0, 0], provider: 'me', year: 2023 },
      { id: ids[1], llm_id: 'own-model', prices: [9, 9, 0, 0], provider: 'default', year: 2100 },
      { id: ids[2], llm_id: 'other-model', prices: [5, 6, 0.5, 0.25], provider: 'default', year: expect.any(Number) },
    ])
    expect([report.one, report.of_model, report.page]).toEqual([[ids[1]], [ids[0], ids[1]], [ids[1]]])

    const [own, unpriced, shipped] = report.costs
    expect(Object.keys(own as Costs)).toEqual(['own-model'])
    expect(own?.['own-model']).toMatchObject({
      prompt_tokens: 120,
      completion_tokens: 3,
      total_tokens: 123,
      requests: 1,
      prompt_token_cost: 0.001,
      prompt_tokens_total_cost: 0.12,
      completion_tokens_total_cost: 0.006,
      effective_date: '2023-01-01T00:00:00Z',
      provider_id: 'me',
      pricing_level: 'project',
      pricing_level_id: 'compat/python-costs',
      created_by: 'tester',
    })
    expect(unpriced).toBeNull()
    expect(shipped?.['gpt-4o']).toMatchObject({
      pricing_level: 'default',
      pricing_level_id: 'default',
      provider_id: 'openai',
      created_by: 'system',
    })
    expect(shipped?.['gpt-4o']?.prompt_tokens_total_cost).toBeGreaterThan(0)
    expect(report.plain).toEqual([false, false, false])

    expect(report.after_one).toBe(120 * 9)
    expect([report.after_all, report.left]).toEqual([null, 0])
  })
})
