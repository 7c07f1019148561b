// Figures of a server, read from its metrics.
import { Counter, Histogram, Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { boundOf, labelsOf, parseMetrics, sumOf } from '../../services/web/page/engine/metrics.ts'

it('reads what the server writes: names, labels with any text, and sums of those that fit', async () => {
  const registry = new Registry()
  const registers = [registry]
  const refused = new Counter({ name: 'refused', help: 'a "help"\nof lines', labelNames: ['policy', 'at'], registers })
  const odd = 'a "quoted", \\ slashed\nline} 7'
  refused.inc({ policy: odd, at: 'x' }, 2)
  refused.inc({ policy: odd, at: 'y' }, 3)
  refused.inc({ policy: 'plain', at: 'x' }, 1.5e9)
  const metrics = parseMetrics(await registry.metrics())
  expect(labelsOf(metrics, 'refused', 'policy')).toEqual([odd, 'plain'])
  expect(sumOf(metrics, 'refused', { policy: odd })).toBe(5)
  expect(sumOf(metrics, 'refused', { at: 'x' })).toBe(1_500_000_002)
  expect(sumOf(metrics, 'refused', { at: 'z' })).toBeUndefined()
  expect(sumOf(metrics, 'unknown')).toBeUndefined()
})

it('tells under which bound a share of a histogram lies', async () => {
  const registry = new Registry()
  const of = { name: 'read', help: 'h', labelNames: ['path'], buckets: [0.1, 1, 10], registers: [registry] }
  const reads = new Histogram(of)
  for (const value of [0.05, 0.05, 0.5, 5]) reads.observe({ path: 'a' }, value)
  reads.observe({ path: 'b' }, 50)
  const metrics = parseMetrics(await registry.metrics())
  const bounds = [0.5, 0.75, 0.95].map((share) => boundOf(metrics, 'read', share, { path: 'a' }))
  expect(bounds).toEqual([0.1, 1, 10])
  expect(boundOf(metrics, 'read', 0.95, { path: 'b' })).toBe(Number.POSITIVE_INFINITY)
  expect(boundOf(metrics, 'read', 0.95, { path: 'c' })).toBeUndefined()
  expect(boundOf(metrics, 'read', 0.5)).toBe(1)
})
