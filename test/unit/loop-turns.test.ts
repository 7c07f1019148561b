import { describe, expect, it } from 'vitest'
import { createLoopTurns, inTurn } from '../../services/core/concurrency/loop-turns.ts'

const [one, other] = [{}, {}]

/** Holds the event loop. */
const spend = (ms: number) => {
  const endMs = performance.now() + ms
  while (performance.now() < endMs);
}

/** The names of pieces of work in their order, and a bar where the event loop came round in between. */
async function orderOf(pieces: { key?: object; name: string; ms: number }[]): Promise<string> {
  const turns = createLoopTurns()
  let left = pieces.length
  let seen = ''
  for (const { key, name, ms } of pieces)
    turns(key, () => {
      seen += name
      left--
      spend(ms)
    })
  while (left > 0) {
    await new Promise((resolve) => setImmediate(resolve))
    if (!seen.endsWith('|')) seen += '|'
  }
  return seen.replace(/\|$/, '')
}

describe('work that comes together', () => {
  it('is begun at once in one round of the event loop while it takes little time', async () => {
    expect(await orderOf([...'abcde'].map((name) => ({ key: one, name, ms: 0 })))).toBe('abcde')
  })

  it('goes on in the next rounds when it takes long', async () => {
    expect(await orderOf([...'abc'].map((name) => ({ key: one, name, ms: 11 })))).toBe('a|b|c')
    expect(await orderOf([...'abc'].map((name) => ({ name, ms: 11 })))).toBe('a|b|c')
  })

  it('adds up short pieces to one pause and no more', async () => {
    const rounds = (await orderOf([...'abcdefgh'].map((name) => ({ key: one, name, ms: 4 })))).split('|')
    expect(rounds.join('')).toBe('abcdefgh')
    expect(rounds.length).toBeGreaterThan(2)
    expect(Math.max(...rounds.map(({ length }) => length))).toBeLessThan(5)
  })

  it('of one key lets work of another key pass that comes later', async () => {
    const pieces = [...'abcd'].map((name) => ({ key: one, name, ms: 11 }))
    expect((await orderOf([...pieces, { key: other, name: 'X', ms: 0 }])).replaceAll('|', '')).toBe('abXcd')
  })
})

it('a promise made in turn settles as the work does', async () => {
  const turns = createLoopTurns()
  expect(await inTurn(turns, one, async () => 7)).toBe(7)
  await expect(
    inTurn(turns, one, async () => {
      throw new Error('broken')
    }),
  ).rejects.toThrow('broken')
  expect(await inTurn(turns, one, async () => 8)).toBe(8)
})
