// Long work on the event loop that yields, so that requests are answered in between.
import { setImmediate } from 'node:timers/promises'

/** Longest time that work holds the event loop before it yields. */
const maxHoldMs = 4

/** @returns called after each step of work: a promise to wait for when the last one is long enough ago */
function createYields(): () => Promise<void> | undefined {
  let begunMs = performance.now()
  return () => {
    if (performance.now() - begunMs < maxHoldMs) return undefined
    return setImmediate().then(() => {
      begunMs = performance.now()
    })
  }
}

/** Visits every item in order, and yields in between. */
export async function forEachYielding<Item>(items: Iterable<Item>, visit: (item: Item) => void): Promise<void> {
  const yields = createYields()
  for (const item of items) {
    visit(item)
    const pause = yields()
    if (pause !== undefined) await pause
  }
}

/**
 * The items as they come. A stream whose reader takes each piece at once is read on and on within one round of the
 * event loop.
 */
export async function* yieldingBetween<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
  const yields = createYields()
  for await (const item of items) {
    yield item
    await yields()
  }
}

/** Concatenates buffers, and yields in between. */
export async function concatYielding(buffers: readonly Buffer[], sizeBytes: number): Promise<Buffer> {
  const whole = Buffer.allocUnsafeSlow(sizeBytes)
  let at = 0
  await forEachYielding(buffers, (buffer) => {
    at += buffer.copy(whole, at)
  })
  return whole
}
