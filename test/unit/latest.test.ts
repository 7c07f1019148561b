// Values that were set lately: the latest are there, and never more than so many.
import { expect, it } from 'vitest'
import { createLatest } from '../../services/core/memory/latest.ts'

it('the latest half of the bound is always there, and no more than the bound', () => {
  const latest = createLatest<number>(100)
  for (let n = 0; n < 1_000; n++) {
    latest.set(`k${n}`, n)
    for (let back = 0; back < Math.min(50, n + 1); back++) expect(latest.get(`k${n - back}`)).toBe(n - back)
  }
  const kept = Array.from({ length: 1_000 }, (_, n) => latest.get(`k${n}`)).filter((value) => value !== undefined)
  expect(kept.length).toBeLessThanOrEqual(100)
  latest.clear()
  expect(latest.get('k999')).toBeUndefined()
})
