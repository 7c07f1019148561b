// Long work on the event loop: in slices, so that others have their turn, and one such work at a time for its memory.
import { setImmediate } from 'node:timers/promises'

/** Work goes on for so long before others have their turn. */
const maxHoldMs = 10

/** Visits every item, and lets others have their turn in between. */
export async function forEachYielding<Item>(items: Iterable<Item>, visit: (item: Item) => void): Promise<void> {
  let begunMs = performance.now()
  for (const item of items) {
    visit(item)
    if (performance.now() - begunMs < maxHoldMs) continue
    await setImmediate()
    begunMs = performance.now()
  }
}

/** Runs each work when the one before has ended, however it ended. */
export function createLine(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const mine = last.then(work, work)
    last = mine.catch(() => undefined)
    return mine
  }
}

/** One buffer of many, copied in slices. */
export async function joinedInSlices(pieces: readonly Buffer[], sizeBytes: number): Promise<Buffer> {
  const whole = Buffer.allocUnsafeSlow(sizeBytes)
  let at = 0
  await forEachYielding(pieces, (piece) => {
    at += piece.copy(whole, at)
  })
  return whole
}
