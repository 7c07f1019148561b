// The fair queue: turns by key, shares of the slots, bounds, and what is taken back while it waits.
// again: property
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFairQueue, type FairQueue, slotIn } from '../../services/core/concurrency/fair-queue.ts'
import { runs } from '../fixtures/runs.ts'

/** Asks, and notes in which order they begin; the slots are given back by hand. */
function watched(queue: FairQueue<string>) {
  const begun: string[] = []
  const leaves = new Map<string, () => void>()
  return {
    begun,
    ask(key: string | undefined, name: string, request?: object): () => void {
      return queue.request(
        key,
        (leave) => {
          begun.push(name)
          leaves.set(name, leave)
        },
        request,
      )
    },
    leave(name: string): void {
      leaves.get(name)?.()
      leaves.delete(name)
    },
  }
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n)

describe('turns', () => {
  it('go round the keys, whoever came first, and in order within a key', () => {
    const { ask, begun, leave } = watched(createFairQueue({ slots: 1 }))
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) ask(name[0], name)
    while (begun.length < 6) leave(begun.at(-1) as string)
    expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2'])
  })

  it('leave a place to whoever has none, beside any number of slow ones', () => {
    const { ask, begun } = watched(createFairQueue({ slots: 5 }))
    for (const n of numbers(60)) ask('a', `a${n}`)
    expect(begun).toHaveLength(4)
    ask('b', 'b0')
    expect(begun.at(-1)).toBe('b0')
  })

  it('come to half of the slots for a key while another one waits', () => {
    const { ask, begun, leave } = watched(createFairQueue({ slots: 5 }))
    for (const n of numbers(10)) ask('a', `a${n}`)
    for (const n of numbers(10)) ask('b', `b${n}`)
    for (const n of numbers(3)) leave(`a${n}`)
    expect(begun).toEqual(['a0', 'a1', 'a2', 'a3', 'b0', 'a4', 'b1'])
  })

  it('without a key are each their own', () => {
    const { ask, begun, leave } = watched(createFairQueue({ slots: 2, maxWaitingPerKey: 1 }))
    for (const n of numbers(9)) ask(undefined, `${n}`)
    for (const n of numbers(7)) leave(`${n}`)
    expect(begun).toEqual(numbers(9).map(String))
  })

  it('may be given back twice and from within, and are taken by what asks meanwhile', () => {
    const queue = createFairQueue<string>({ slots: 1 })
    let count = 0
    const again = (leave: () => void): void => {
      count++
      leave()
      leave()
      if (count < 100) queue.request('a', again)
    }
    queue.request('a', again)
    expect([count, queue.waiting(), queue.keys()]).toEqual([100, 0, 0])
  })
})

describe('the bound of those that wait', () => {
  const tooMany = new Error('too many')
  const refused = (): Error => tooMany

  it('holds for one key and leaves the others alone', () => {
    const { ask } = watched(createFairQueue({ slots: 1, maxWaitingPerKey: 32, refused }))
    for (const n of numbers(33)) ask('a', `a${n}`)
    expect(() => ask('a', 'one more')).toThrow(tooMany)
    for (const n of numbers(32)) ask('b', `b${n}`)
    expect(() => ask('b', 'one more')).toThrow(tooMany)
  })

  it('counts the parts of a request once, and lets those in whose request was', () => {
    const { ask, begun, leave } = watched(createFairQueue({ slots: 1, maxWaitingPerKey: 2, maxWaiting: 20, refused }))
    const request = {}
    ask('a', 'first part', request)
    leave('first part')
    for (const n of numbers(3)) ask('a', `a${n}`)
    expect(() => ask('a', 'other', {})).toThrow(tooMany)
    for (const n of numbers(18)) ask('a', `part ${n}`, request)
    expect(() => ask('a', 'one part more', request)).toThrow(tooMany)
    for (const n of numbers(3)) leave(`a${n}`)
    ask('a', 'another', {})
    expect(() => ask('a', 'and another', {})).toThrow(tooMany)
    while (begun.at(-1) !== 'another') leave(begun.at(-1) as string)
  })

  it('shrinks to one when very many keys wait, and is never below', () => {
    const queue = createFairQueue<string>({ slots: 1, maxWaitingPerKey: 32, maxWaiting: 100, refused })
    const { ask } = watched(queue)
    for (const n of numbers(301)) ask(`key ${n}`, `${n}`)
    expect(() => ask('key 7', 'second')).toThrow(tooMany)
    expect(queue.waiting()).toBe(300)
  })
})

describe('what is taken back', () => {
  it('never begins, and its bound is free again', () => {
    const queue = createFairQueue<string>({ slots: 1, maxWaitingPerKey: 1 })
    const { ask, begun, leave } = watched(queue)
    ask('a', 'a0')
    const takeBack = ask('a', 'a1')
    takeBack()
    takeBack()
    ask('a', 'a2')
    leave('a0')
    expect(begun).toEqual(['a0', 'a2'])
    leave('a2')
    expect([queue.waiting(), queue.keys()]).toEqual([0, 0])
  })

  it('rejects with the reason of its signal', async () => {
    const queue = createFairQueue<string>({ slots: 1 })
    const leave = await slotIn(queue, 'a')
    const stop = new AbortController()
    const waiting = slotIn(queue, 'a', { signal: stop.signal })
    const next = slotIn(queue, 'b')
    stop.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    await expect(slotIn(queue, 'a', { signal: stop.signal })).rejects.toThrow('gone')
    leave()
    ;(await next)()
    expect(queue.keys()).toBe(0)
  })

  it('may be any of very many', () => {
    const queue = createFairQueue<string>({ slots: 1 })
    const { ask, begun } = watched(queue)
    const takeBack = numbers(30_000).map((n) => ask(`${n % 10_000}`, `${n}`))
    for (let at = takeBack.length - 2; at > 0; at -= 2) takeBack[at]?.()
    for (const one of takeBack) one()
    expect([queue.waiting(), begun.length]).toEqual([0, 1])
  })
})

type Step = { is: 'ask'; key: number } | { is: 'leave' | 'take back'; pick: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ is: fc.constant('ask' as const), key: fc.nat(4) }) },
  { weight: 3, arbitrary: fc.record({ is: fc.constant('leave' as const), pick: fc.nat(99) }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('take back' as const), pick: fc.nat(99) }) },
)

it('the fair queue keeps its rules in any history of asking, leaving and taking back', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.array(step, { maxLength: 120 }), (slots, steps) => {
      const queue = createFairQueue<number>({ slots })
      type One = { key: number; n: number; leave?: () => void; takeBack?: () => void; passedBy: Map<number, number> }
      let waiting: One[] = []
      let running: One[] = []
      const half = Math.ceil(slots / 2)
      const of = (list: One[], key: number): One[] => list.filter((one) => one.key === key)
      /** Whoever has no place is passed at most once by each other key. */
      const passes = (one: One): void => {
        for (const other of waiting) {
          if (of(running, other.key).length > 0) other.passedBy.clear()
          else other.passedBy.set(one.key, (other.passedBy.get(one.key) ?? 0) + 1)
          if (of(waiting, other.key)[0] === other)
            for (const times of other.passedBy.values()) expect(times).toBeLessThanOrEqual(1)
        }
      }
      const begins = (one: One): void => {
        const others = waiting.some(({ key }) => key !== one.key)
        expect(of(waiting, one.key)[0]).toBe(one)
        waiting = waiting.filter((other) => other !== one)
        running.push(one)
        const mine = of(running, one.key).length
        expect(running.length).toBeLessThanOrEqual(slots)
        if (mine > 1) expect(running.length).toBeLessThan(slots)
        if (mine > 1 && others) expect(mine).toBeLessThanOrEqual(half)
        passes(one)
      }
      const check = (): void => {
        expect(queue.waiting()).toBe(waiting.length)
        expect(queue.keys()).toBe(new Set([...waiting, ...running].map(({ key }) => key)).size)
        const free = slots - running.length
        for (const { key } of waiting) {
          const mine = of(running, key).length
          const others = waiting.some((one) => one.key !== key)
          expect(mine === 0 ? free > 0 : free > 1 && (mine < half || !others)).toBe(false)
        }
      }
      for (const [n, one] of steps.entries()) {
        if (one.is === 'ask') {
          const asked: One = { key: one.key, n, passedBy: new Map() }
          waiting.push(asked)
          asked.takeBack = queue.request(one.key, (leave) => {
            asked.leave = leave
            begins(asked)
          })
        } else if (one.is === 'leave') {
          const left = running[one.pick % Math.max(1, running.length)]
          running = running.filter((other) => other !== left)
          left?.leave?.()
        } else {
          const gone = waiting[one.pick % Math.max(1, waiting.length)]
          waiting = waiting.filter((other) => other !== gone)
          gone?.takeBack?.()
        }
        check()
      }
      while (running.length > 0) {
        const left = running.shift() as One
        left.leave?.()
        check()
      }
      expect([waiting.length, queue.keys()]).toEqual([0, 0])
    }),
    { numRuns: runs(300, 5_000) },
  )
})
