// Token buckets: what of a rate per minute is left, by name, for those that were used last.

export type Buckets = {
  /**
   * Takes so much of the bucket. An amount of more than a whole minute is taken from a full one, which owes the rest
   * then.
   * @returns undefined once it is taken, else the milliseconds until it could be
   */
  take(name: string, perMinute: number, amount: number): number | undefined
  /** Gives back what was taken in vain. */
  give(name: string, amount: number): void
  /** Whether less than a quarter was left when something was taken last. */
  isLow(name: string, perMinute: number): boolean
  /** The amount that is left, and the milliseconds until the bucket is full. */
  left(name: string, perMinute: number): { amount: number; fullMs: number }
}

const minuteMs = 60_000
/** Below this part of a limit its answers tell how much is left. */
const lowPart = 1 / 4
/** A millisecond's share of it, times a minute, stays an exact integer. */
const maxPerMinute = 2 ** 53 / minuteMs / 2

type Bucket = { spent: number; atMs: number }

/** @param max buckets that are kept; one that is forgotten is full again */
export function createBuckets({ now = Date.now, max = 50_000 }: { now?: () => number; max?: number } = {}): Buckets {
  /** Least recently used first. Spending is counted in 60,000ths, so that each millisecond gives back an integer. */
  const buckets = new Map<string, Bucket>()

  function bucketOf(name: string, perMinute: number): Bucket {
    const atMs = now()
    const found = buckets.get(name)
    const bucket = found ?? { spent: 0, atMs }
    // While none is forgotten soon, their order does not matter.
    const isOrdered = buckets.size > max / 2
    if (found !== undefined && isOrdered) buckets.delete(name)
    else if (found === undefined && buckets.size >= max) buckets.delete(buckets.keys().next().value as string)
    if (found === undefined || isOrdered) buckets.set(name, bucket)
    // A clock that was set back gives nothing.
    bucket.spent = Math.max(0, bucket.spent - Math.max(0, atMs - bucket.atMs) * perMinute)
    bucket.atMs = atMs
    return bucket
  }

  const rateOf = (perMinute: number): number => Math.min(perMinute, maxPerMinute)

  return {
    take(name, perMinute, amount) {
      const rate = rateOf(perMinute)
      const bucket = bucketOf(name, rate)
      const needed = Math.min(amount, rate) * minuteMs
      const over = bucket.spent + needed - rate * minuteMs
      if (over > 0) return Math.ceil(over / rate)
      bucket.spent += Math.min(amount, maxPerMinute) * minuteMs
      return undefined
    },
    give(name, amount) {
      const bucket = buckets.get(name)
      if (bucket !== undefined) bucket.spent = Math.max(0, bucket.spent - Math.min(amount, maxPerMinute) * minuteMs)
    },
    isLow(name, perMinute) {
      const spent = buckets.get(name)?.spent ?? 0
      return spent > rateOf(perMinute) * minuteMs * (1 - lowPart)
    },
    left(name, perMinute) {
      const rate = rateOf(perMinute)
      const { spent } = bucketOf(name, rate)
      return { amount: Math.max(0, Math.floor(rate - spent / minuteMs)), fullMs: Math.ceil(spent / rate) }
    },
  }
}
