// Long work on the event loop yields to other work.
import { describe, expect, it } from 'vitest'
import { forEachYielding } from '../../services/core/concurrency/yielding.ts'

const spin = (ms: number): void => {
  for (const from = performance.now(); performance.now() - from < ms; );
}

describe('forEachYielding', () => {
  it('visits every item in order and lets other work run in between', async () => {
    const seen: string[] = []
    const visit = (item: string) => {
      seen.push(item)
      setImmediate(() => seen.push(`after ${item}`))
      spin(12)
    }
    await forEachYielding(['a', 'b', 'c'], visit)
    expect(seen).toEqual(['a', 'after a', 'b', 'after b', 'c', 'after c'])
  })

  it('rejects with what a visit throws', async () => {
    const visit = (item: number) => {
      if (item === 2) throw new Error('two')
    }
    await expect(forEachYielding([1, 2, 3], visit)).rejects.toThrow('two')
    await forEachYielding([], visit)
  })
})
