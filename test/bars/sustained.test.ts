// tier: bars
// Small calls at a fixed rate, 1,000 a request: how far what is derived is behind at the end.
import { it } from 'vitest'
import { measureLags } from '../../scripts/bench/sustained.ts'
import { bar } from '../fixtures/bar.ts'

it('15,000 calls a second for 45 seconds', async () => {
  const { reached, end } = await measureLags(45, 15_000, 1_000)
  const lagOf = (...tables: string[]): number => Math.max(...tables.map((table) => end.get(table) ?? Number.NaN))
  bar('sustained/rate', reached)
  bar('sustained/counters-lag', lagOf('call_counts', 'call_stats'))
  bar('sustained/trace-parts-lag', lagOf('trace_parts'))
  bar('sustained/field-index-lag', lagOf('payload_leaves'))
}, 1_200_000)
