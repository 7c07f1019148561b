// Whoever tries keys from one address waits: for a while nothing more is said of keys that do not fit.
import { createHash } from 'node:crypto'
import { retryLater } from './errors.ts'

/** Different keys of one address that are refused within a minute; a wrong key that a program goes on sending is one. */
const wrongPerMinute = 20
/** Addresses whose wrong keys are remembered at one time. */
const maxAddresses = 10_000
const forMs = 60_000

type Wrong = { keys: Set<string>; sinceMs: number }

export type Guesses = {
  /** @throws Fault 429 when too many keys from the address were wrong within a minute */
  throwIfTooMany(address: string): void
  /** A key from the address was wrong. */
  add(address: string, key: string): void
}

export function createGuesses(now: () => number = Date.now): Guesses {
  const byAddress = new Map<string, Wrong>()
  const current = (address: string): Wrong | undefined => {
    const found = byAddress.get(address)
    return found && now() - found.sinceMs < forMs ? found : undefined
  }
  return {
    throwIfTooMany(address) {
      const found = current(address)
      if (found === undefined || found.keys.size < wrongPerMinute) return
      throw retryLater(429, 'Too many wrong keys', Math.ceil((found.sinceMs + forMs - now()) / 1000))
    },
    add(address, key) {
      let found = current(address)
      if (found === undefined) {
        byAddress.delete(address)
        if (byAddress.size >= maxAddresses) byAddress.delete(byAddress.keys().next().value as string)
        found = { keys: new Set(), sinceMs: now() }
        byAddress.set(address, found)
      }
      if (found.keys.size < wrongPerMinute) found.keys.add(createHash('sha256').update(key).digest('base64'))
    },
  }
}
