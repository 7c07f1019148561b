// Turns of the event loop, under a clock that passes only with the work that is done.
import { AsyncLocalStorage } from 'node:async_hooks'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLoopTurns, inPieces, inTurn } from '../../services/core/concurrency/loop-turns.ts'

const [one, other] = [{}, {}]

let nowMs: number
beforeEach(() => {
  nowMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
})
afterEach(() => vi.restoreAllMocks())

/** Holds the event loop. */
const spend = (ms: number) => {
  nowMs += ms
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
    expect(await orderOf([...'abcdefgh'].map((name) => ({ key: one, name, ms: 1 })))).toBe('abcd|efgh')
    expect(await orderOf([...'abcdefgh'].map((name) => ({ key: one, name, ms: 3 })))).toBe('ab|cd|ef|gh')
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

describe('work in pieces', () => {
  function* steps(count: number, ms: number, onStep = () => {}): Generator<void> {
    for (let n = 0; n < count; n++) {
      spend(ms)
      onStep()
      yield
    }
  }

  it('is done at once when it is short', async () => {
    let done = 0
    const ended = inPieces(
      createLoopTurns(),
      one,
      steps(3, 0, () => done++),
    )
    expect(done).toBe(3)
    await ended
  })

  it('of many adds up to no longer pause than that of one', async () => {
    const turns = createLoopTurns()
    let inRound = 0
    let longest = 0
    const onStep = () => {
      inRound++
      longest = Math.max(longest, inRound)
    }
    const begun = Array.from({ length: 8 }, () => inTurn(turns, one, () => inPieces(turns, one, steps(20, 1, onStep))))
    let isOver = false
    const all = Promise.all(begun).then(() => {
      isOver = true
    })
    let rounds = 0
    for (; !isOver; rounds++) {
      await new Promise((resolve) => setImmediate(resolve))
      inRound = 0
    }
    await all
    // 160 ms in all: four of a round, and no more than the slice that began within them.
    expect(rounds).toBeGreaterThanOrEqual(40)
    expect(longest).toBeLessThan(6)
  })

  it('goes on in the context that it began in, and fails as its steps do', async () => {
    const context = new AsyncLocalStorage<string>()
    const turns = createLoopTurns()
    const seen = new Set<string>()
    const of = (name: string) =>
      context.run(name, () =>
        inPieces(
          turns,
          one,
          steps(10, 1, () => seen.add(`${name} in ${context.getStore()}`)),
        ),
      )
    await Promise.all([of('a'), of('b')])
    expect([...seen].sort()).toEqual(['a in a', 'b in b'])
    let taken = 0
    await expect(
      inPieces(
        turns,
        one,
        steps(10, 1, () => {
          if (++taken > 5) throw new Error('broken')
        }),
      ),
    ).rejects.toThrow('broken')
  })
})
