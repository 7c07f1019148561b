// The clock of calls: their deadlines, and their waits for room.

export type CallClock = {
  /** Milliseconds. */
  now(): number
  /** Runs it once after so long. The answer takes that back. */
  after(ms: number, run: () => void): () => void
}

export const callClock: CallClock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}
