// tier: bars
// Memory of a server that took calls of 3.0 KB as fast as it could.
import { expect, it } from 'vitest'
import { measureMemory } from '../../scripts/bench/ingest.ts'
import { bar } from '../fixtures/bar.ts'

const calls = 320_000

it('320,000 calls', async () => {
  const measured = await measureMemory(calls)
  expect(measured.calls).toBe(calls)
  bar('memory/resident', measured.residentMb)
}, 1_200_000)
