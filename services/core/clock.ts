// The accept clock: strictly increasing over a process and its restarts; orders the parts of a call.

/** Bits below the microseconds that hold the edge's number, so that two edges never give the same value. */
const edgeBits = 10n
/** Greatest number of an edge. */
export const maxEdgeNumber = 2 ** Number(edgeBits) - 1

export type Clock = {
  /**
   * Next value: (microseconds since 1970 << 10) | edge number. Four of them fit into 64 bits until the year 2112.
   * @throws Fault 503 while this edge has no number
   */
  next(): bigint
  /** The last value that was given. */
  last(): bigint
  /** Later values are greater than this one, which another clock gave. */
  pass(value: bigint): void
  /** Microseconds by which the clock that all edges follow is ahead of this machine's. */
  follow(aheadUs: number): void
}

/**
 * @param edge number of this edge at the moment, 0 to 1023
 * @param after greatest value known from earlier runs (the log's record headers)
 */
export function createClock(edge: () => number = () => 0, after = 0n): Clock {
  let lastUs = Number(after >> edgeBits)
  let low = after & BigInt(maxEdgeNumber)
  let aheadUs = 0
  return {
    next() {
      low = BigInt(edge())
      const now = Math.floor((performance.timeOrigin + performance.now()) * 1000 + aheadUs)
      lastUs = now > lastUs ? now : lastUs + 1
      return (BigInt(lastUs) << edgeBits) | low
    },
    last: () => (BigInt(lastUs) << edgeBits) | low,
    follow(us) {
      aheadUs = us
    },
    pass(value) {
      lastUs = Math.max(lastUs, Number(value >> edgeBits))
    },
  }
}
