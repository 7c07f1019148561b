// Costs that lack models without a price: marked in rows, with the names of the models.
import { expect, it } from 'vitest'
import { rowOf } from '../../services/web/page/engine/rows.ts'
import { costsExclude, costText, costTitle } from '../../services/web/page/engine/unpriced.ts'

const usage = { 'gpt-4o': { prompt_tokens: 10, completion_tokens: 2 }, own: { input_tokens: 7 }, unused: {} }
const costs = { 'gpt-4o': { prompt_tokens_total_cost: 0.1, completion_tokens_total_cost: 0.025 } }
const row = (summary: object) => rowOf({ id: 'a', started_at: '2026-01-05T00:00:00Z', summary })

it('marks the cost of a call whose models have not all a price, and names them', () => {
  const some = row({ usage, weave: { costs } })
  expect(some.unpriced).toEqual(['own'])
  expect(costText(some)).toBe('$0.125+')
  expect(costTitle(some)).toBe('$0.125. Costs exclude 1 model without a price: own. Add prices under Settings, Prices.')
})

it('marks nothing where all models have a price, or none was used', () => {
  const all = row({ usage: { 'gpt-4o': usage['gpt-4o'] }, weave: { costs } })
  expect([costText(all), costTitle(all)]).toEqual(['$0.125', '$0.125'])
  const none = row({})
  expect([none.unpriced, costText(none), costTitle(none)]).toEqual([undefined, '–', ''])
})

it('says why there is no cost, where no model has a price', () => {
  const own = row({ usage: { own: usage.own } })
  expect([costText(own), costTitle(own)]).toEqual(['–', costsExclude(['own'])])
})

it('names some of many models, and no letters that deceive', () => {
  expect(costsExclude(['a', 'b', 'c', 'd\u202e'], ', used today')).toBe(
    'Costs exclude 4 models without a price, used today: a, b, c and others. Add prices under Settings, Prices.',
  )
  expect(costsExclude(['d\u202e'])).toContain(': d[RLO].')
})
