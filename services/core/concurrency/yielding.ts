// Long work on the event loop that yields, so that requests are answered in between.
import { setImmediate } from 'node:timers/promises'

/** How long work holds the event loop before it yields. */
const maxHoldMs = 10

/** Visits every item in order, and yields in between. */
export async function forEachYielding<Item>(items: Iterable<Item>, visit: (item: Item) => void): Promise<void> {
  let begunMs = performance.now()
  for (const item of items) {
    visit(item)
    if (performance.now() - begunMs < maxHoldMs) continue
    await setImmediate()
    begunMs = performance.now()
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
