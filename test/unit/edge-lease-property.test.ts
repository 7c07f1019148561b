// Property: whatever edges start, stop, sleep or die, and however late the log answers, no two hold one number at a time.
// again: property
import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { type Claim, type ClaimLog, type EdgeLease, leaseEdgeNumber } from '../../services/core/log/kafka/edge-lease.ts'
import { createRandom, type Random } from '../fixtures/random.ts'
import { limitMs, runs } from '../fixtures/runs.ts'

const termMs = 30_000
const steps = 150
const maxNumber = 3
const maxEdges = 6

type Edge = { lease?: EdgeLease; isAsleep: boolean }

/** Edges over one list of claims, moved step by step: answers and times come when the test says so. */
function createWorld(random: Random) {
  const stored: { claim: Claim; atMs: number }[] = []
  const edges = new Set<Edge>()
  /** Requests under way, and the edges that wait for them. */
  const waiting: { edge: Edge; isAnswer: boolean; go(): void }[] = []
  let nowMs = 1e6
  /** Brokers differ in their clocks, by less than the others wait beyond a term. */
  let skewMs = 0

  /** The brokers do it whether the edge sleeps or not; the edge hears of it when it is awake. */
  const asked = <T>(edge: Edge, work: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      const answer = (go: () => void) => waiting.push({ edge, isAnswer: true, go })
      const go = () => {
        const lost = random.below(12)
        if (lost === 0) return answer(() => reject(new Error('not sent')))
        const done = work()
        answer(() => (lost === 1 ? reject(new Error('no answer')) : resolve(done)))
      }
      waiting.push({ edge, isAnswer: false, go })
    })
  const claimsOf = (edge: Edge): ClaimLog => ({
    append: (claim) =>
      asked(edge, () => {
        const atMs = Math.max(nowMs + skewMs, stored.at(-1)?.atMs ?? 0)
        return { offset: stored.push({ claim, atMs }) - 1, atMs }
      }),
    before: (offset, sinceMs) =>
      asked(edge, () => {
        const first = stored.findIndex(({ atMs }) => atMs >= sinceMs)
        return stored.slice(first, offset).map(({ claim }) => claim)
      }),
    close: async () => undefined,
  })
  function start(): void {
    const edge: Edge = { isAsleep: false }
    edges.add(edge)
    const clock = () => nowMs
    leaseEdgeNumber({ claims: claimsOf(edge), fixed: 0, maxNumber, termMs, clocks: [clock], logger: undefined }).then(
      (lease) => {
        edge.lease = lease
      },
      () => edges.delete(edge),
    )
  }
  const some = (is: (edge: Edge) => boolean): Edge | undefined => {
    const found = [...edges].filter(is)
    return found.length > 0 ? random.pick(found) : undefined
  }
  const isAwake = ({ lease, isAsleep }: Edge) => lease !== undefined && !isAsleep

  const actions: (() => void)[] = [
    () => {
      if (edges.size < maxEdges) start()
    },
    () => {
      nowMs += random.below(termMs / 2)
    },
    () => {
      if (random.chance(0.1)) nowMs += random.below(4 * termMs)
      skewMs = (random.below(1_001) / 1_000 - 0.5) * termMs * 0.9
    },
    () =>
      void some(isAwake)
        ?.lease?.renew()
        .catch(() => undefined),
    () =>
      void some(isAwake)
        ?.lease?.renew()
        .catch(() => undefined),
    () => {
      const edge = some(() => true)
      if (edge) edge.isAsleep = !edge.isAsleep
    },
    () => {
      const edge = random.chance(0.3) ? some(isAwake) : undefined
      if (edge === undefined) return
      // Killed, or ended in order.
      edges.delete(edge)
      if (random.chance(0.5)) void edge.lease?.close()
    },
  ]
  return {
    step(): void {
      const ready = waiting.filter(({ edge, isAnswer }) => !isAnswer || !edge.isAsleep)
      if (ready.length > 0 && random.chance(0.6)) {
        const one = random.pick(ready)
        waiting.splice(waiting.indexOf(one), 1)
        one.go()
      } else random.pick(actions)()
    },
    /** Numbers that edges would use at this moment. */
    held: () => [...edges].flatMap(({ lease }) => (lease && lease.problem() === null ? [lease.number()] : [])),
  }
}

it('edges hold different numbers at every moment', { timeout: limitMs(60_000) }, async () => {
  let most = 0
  for (let seed = 1; seed <= runs(120, 20_000); seed++) {
    const world = createWorld(createRandom(seed))
    for (let step = 0; step < steps; step++) {
      world.step()
      await setImmediate()
      const held = world.held()
      expect(new Set(held).size, `seed ${seed}, step ${step}: ${held}`).toBe(held.length)
      most = Math.max(most, held.length)
    }
  }
  // Else nothing was tried.
  expect(most).toBe(maxNumber)
})
