// Pieces of work that come together are begun over several rounds of the event loop, one of each key in turn: they do
// not add up to one pause, and those of one key do not hold up another's.
import { AsyncResource } from 'node:async_hooks'
import { createFairQueue } from './fair-queue.ts'

/** No further piece is begun in a round of the event loop that has spent so long on them. */
const maxRoundMs = 4

/** Begins a piece when its turn has come, at once as a rule. Without a key it has a turn of its own. */
export type InTurn = (key: object | undefined, begin: () => void) => void

export function createLoopTurns(): InTurn {
  const queue = createFairQueue<object>({ slots: 1 })
  let roundBeganMs: number | undefined
  const beginRound = (): number => {
    setImmediate(() => {
      roundBeganMs = undefined
    })
    roundBeganMs = performance.now()
    return roundBeganMs
  }
  return (key, begin) => {
    queue.request(key, (leave) => {
      const beganMs = roundBeganMs ?? beginRound()
      try {
        begin()
      } finally {
        if (performance.now() - beganMs < maxRoundMs) leave()
        // Callbacks of setImmediate belong to the same round: those that they set come in the next one.
        else setImmediate(() => setImmediate(leave))
      }
    })
  }
}

/** Those of this thread: whatever has its turn here shares its rounds with all else that has. */
export const loopTurns = createLoopTurns()

/** Resolves and rejects as `work` does, which is begun when its turn has come. */
export const inTurn = <Result>(turns: InTurn, key: object, work: () => Promise<Result>): Promise<Result> =>
  new Promise((resolve, reject) => turns(key, () => work().then(resolve, reject)))

/** A piece is short beside a round, so that a round ends about when it should. */
const sliceMs = 2

/** Does all of some work in pieces: the first at once, each further one when its turn has come. */
export async function inPieces(turns: InTurn, key: object, work: Iterator<unknown>): Promise<void> {
  const slice = (): boolean => {
    for (const endMs = performance.now() + sliceMs; performance.now() < endMs; ) if (work.next().done) return true
    return false
  }
  if (slice()) return
  // A turn may come while something else's is given back.
  const own = AsyncResource.bind(async () => slice())
  while (!(await inTurn(turns, key, own)));
}
