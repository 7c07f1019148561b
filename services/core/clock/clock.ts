// The clock of accept timestamps: strictly increasing over a process with all its threads and its restarts; they order the parts of a call.
import { unavailable } from '../errors.ts'

/** Bits below the microseconds that hold the edge's number, so that two edges never give the same value. */
const edgeBits = 10n
/** Greatest number of an edge. */
export const maxEdgeNumber = 2 ** Number(edgeBits) - 1

export type Clock = {
  /**
   * Next value: (microseconds since 1970 << 10) | edge number. Four of them fit into 64 bits until the year 2112.
   * @throws Refusal while this edge has no number
   */
  next(): bigint
  /** The last value that was given. */
  last(): bigint
  /** Later values are greater than this one, which another clock gave. */
  pass(value: bigint): void
  /** Microseconds by which the clock that all edges follow is ahead of this machine's. */
  follow(aheadUs: number): void
  /** Tells the other threads the number that this edge has now. */
  tell(): void
  /** @throws Refusal unless another thread gave this value under the number that this edge has now */
  check(value: bigint): void
  /** The state by which another thread of this process joins the clock. */
  readonly shared: SharedClock
}

/** Memory of all threads: the number of the edge (-1 = none), the last value, and by how much the clock is ahead. */
export type SharedClock = {
  edge: Int32Array<SharedArrayBuffer>
  last: BigInt64Array<SharedArrayBuffer>
  aheadUs: Float64Array<SharedArrayBuffer>
  /** Microseconds since 1970 at which the monotonic clock of the machine was zero, as the first thread has it. */
  zeroUs: number
}

/** Zero of this thread's `performance.now()` on the machine's monotonic clock. */
const ownZeroUs = (): number => Number(process.hrtime.bigint()) / 1000 - performance.now() * 1000

const noNumber = () => unavailable('The number of this edge has changed', 2)

/**
 * The clock of a process, seen from one of its threads.
 * @param edge number of this edge at the moment; default: what the first thread told last
 */
export function joinClock(shared: SharedClock, edge: () => number = () => publishedEdge(shared)): Clock {
  const { last, aheadUs, zeroUs } = shared
  const originUs = zeroUs + ownZeroUs()
  let seen = Atomics.load(last, 0)
  let number = -1
  let low = 0n

  function lowBits(): bigint {
    const current = edge()
    if (current !== number) {
      number = current
      low = BigInt(current)
      Atomics.store(shared.edge, 0, current)
    }
    return low
  }

  /** Moves the last value on to what `wanted` makes of it. */
  function moveTo(wanted: () => bigint): bigint {
    for (;;) {
      const next = wanted()
      if (next <= seen) return seen
      const before = Atomics.compareExchange(last, 0, seen, next)
      const isMine = before === seen
      seen = isMine ? next : before
      if (isMine) return next
    }
  }
  const now = (): bigint => {
    const us = Math.floor(originUs + performance.now() * 1000 + (aheadUs[0] as number))
    const value = (BigInt(us) << edgeBits) | low
    return value > seen ? value : (((seen >> edgeBits) + 1n) << edgeBits) | low
  }
  return {
    next() {
      lowBits()
      return moveTo(now)
    },
    last: () => Atomics.load(last, 0),
    follow(us) {
      aheadUs[0] = us
    },
    pass(value) {
      moveTo(() => ((value >> edgeBits) << edgeBits) | low)
    },
    tell() {
      try {
        lowBits()
      } catch {
        number = -1
        Atomics.store(shared.edge, 0, number)
      }
    },
    check(value) {
      if (Number(value & BigInt(maxEdgeNumber)) !== edge()) throw noNumber()
    },
    shared,
  }
}

function publishedEdge({ edge }: SharedClock): number {
  const number = Atomics.load(edge, 0)
  if (number === -1) throw noNumber()
  return number
}

/**
 * @param edge number of this edge at the moment, 0 to 1023
 * @param after greatest value known from earlier runs (the log's record headers)
 */
export function createClock(edge: () => number = () => 0, after = 0n): Clock {
  const last = new BigInt64Array(new SharedArrayBuffer(8))
  last[0] = after
  const shared = {
    edge: new Int32Array(new SharedArrayBuffer(4)).fill(-1),
    last,
    aheadUs: new Float64Array(new SharedArrayBuffer(8)),
    zeroUs: performance.timeOrigin * 1000 - ownZeroUs(),
  }
  return joinClock(shared, edge)
}

/** The least accept timestamp of a time: microseconds, with the number of the edge in the low bits. */
export const clockOf = (ms: number): bigint => BigInt(Math.floor(ms * 1_000)) << 10n
