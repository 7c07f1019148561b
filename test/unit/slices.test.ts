// Long work gives others their turn, and works of one line follow each other.
import { describe, expect, it } from 'vitest'
import { createLine, forEachYielding } from '../../services/core/concurrency/slices.ts'

const spin = (ms: number): void => {
  for (const from = performance.now(); performance.now() - from < ms; );
}

describe('slices', () => {
  it('visit every item in order, and others run in between', async () => {
    const seen: string[] = []
    const visit = (item: string) => {
      seen.push(item)
      setImmediate(() => seen.push(`after ${item}`))
      spin(12)
    }
    await forEachYielding(['a', 'b', 'c'], visit)
    expect(seen).toEqual(['a', 'after a', 'b', 'after b', 'c', 'after c'])
  })

  it('reject with what a visit throws', async () => {
    const visit = (item: number) => {
      if (item === 2) throw new Error('two')
    }
    await expect(forEachYielding([1, 2, 3], visit)).rejects.toThrow('two')
    await forEachYielding([], visit)
  })
})

it('a line runs one work after the other, whatever becomes of them', async () => {
  const inLine = createLine()
  const seen: string[] = []
  const work = (name: string, fails = false) =>
    inLine(async () => {
      seen.push(`${name} begins`)
      await new Promise((resolve) => setImmediate(resolve))
      seen.push(`${name} ends`)
      if (fails) throw new Error(name)
      return name
    })
  const outcomes = await Promise.allSettled([work('a'), work('b', true), work('c')])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(seen).toEqual(['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} ends`]))
})
