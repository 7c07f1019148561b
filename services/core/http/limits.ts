// Bounds of the whole server: the bytes of request bodies that are in memory at one time.
import { retryLater } from './errors.ts'

export type ByteBudget = {
  /** Takes bytes for one request; 429 when all requests together would hold more than the limit. */
  lease(): ByteLease
  heldBytes(): number
}

export type ByteLease = {
  take(bytes: number): void
  /** Gives back everything taken; more than once does no harm. */
  release(): void
}

export function createByteBudget(limitBytes: number): ByteBudget {
  let held = 0
  return {
    heldBytes: () => held,
    lease() {
      let taken = 0
      return {
        take(bytes) {
          if (held + bytes > limitBytes) throw retryLater(429, 'Too many bytes of request bodies at one time')
          held += bytes
          taken += bytes
        },
        release() {
          held -= taken
          taken = 0
        },
      }
    },
  }
}
