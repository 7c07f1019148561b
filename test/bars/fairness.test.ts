// tier: bars
// A project that writes little, beside one that sends all that is taken, against what it takes alone.
import { expect, it } from 'vitest'
import { measureFairness } from '../../scripts/bench/fairness.ts'
import { quantile } from '../../scripts/bench/process.ts'
import { bar } from '../fixtures/bar.ts'

it('forty writes alone and forty beside', async () => {
  const { alone, beside } = await measureFairness(40)
  expect([alone.refused, beside.refused]).toEqual([0, 0])
  bar('fairness/acknowledged', quantile(beside.acknowledged, 0.5) / quantile(alone.acknowledged, 0.5))
  bar('fairness/read', quantile(beside.read, 0.5) / quantile(alone.read, 0.5))
  bar('fairness/listed', quantile(beside.listed, 0.5) / quantile(alone.listed, 0.5))
  bar('fairness/longest', Math.max(...beside.read, ...beside.listed))
}, 1_200_000)
