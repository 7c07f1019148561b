// Bounds of the whole server: the bytes of request bodies that are in memory at one time.
import { createShares } from '../concurrency/shares.ts'
import { overLimit } from '../errors.ts'

export type ByteBudget = {
  /** Takes bytes for one request of a key; 429 when all requests together, or those of the key, would hold too many. */
  lease(key: object): ByteLease
  heldBytes(): number
}

export type ByteLease = {
  take(bytes: number): void
  /** Gives back everything taken; more than once does no harm. */
  release(): void
}

/** @param bodyBytes one body; each key may have that many as long as the limit allows it */
export function createByteBudget(limitBytes: number, bodyBytes: number): ByteBudget {
  const shares = createShares<object>({ bound: () => limitBytes, minBytes: bodyBytes })
  return {
    heldBytes: shares.totalBytes,
    lease(key) {
      let taken = 0
      return {
        take(bytes) {
          const of = [[key, bytes]] as const
          const refusal = shares.refusal(bytes, of)
          if (refusal === 'all') throw overLimit('bodies', 'Too many bytes of concurrent request bodies')
          if (refusal === 'share')
            throw overLimit('bodies_share', 'Too many bytes of concurrent request bodies for this key')
          shares.take(bytes, of)
          taken += bytes
        },
        release() {
          if (taken > 0) shares.give(taken, [[key, taken]])
          taken = 0
        },
      }
    },
  }
}
