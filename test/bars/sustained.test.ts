// tier: bars
// Small calls at a fixed rate, 1,000 a request: how far what is derived is behind at the end.
import { expect, it } from 'vitest'
import { measureLags } from '../../scripts/bench/sustained.ts'
import { bar } from '../fixtures/bar.ts'

it('15,000 calls a second for 45 seconds', async () => {
  const { reached, end } = await measureLags(45, 15_000, 1_000)
  const derived = new Map(end)
  expect(derived.delete('payload_leaves')).toBe(true)
  expect(derived.size).toBeGreaterThan(0)
  bar('sustained/rate', reached)
  bar('sustained/counters-lag', Math.max(...derived.values()))
  bar('sustained/field-index-lag', end.get('payload_leaves') ?? Number.NaN)
}, 1_200_000)
