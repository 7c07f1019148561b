// Usage of projects and keys, minute by minute: counted here, written elsewhere.

export type Counts = {
  requests: number
  refused: number
  calls: number
  bytesIn: number
  bytesStored: number
  reads: number
  readMs: number
  readBytes: number
  /** Values that rules of masking hit. */
  masked: number
}

export type UsageMinute = Counts & {
  projectId: string
  /** Id of the key; '' = the server's own work. */
  keyId: string
  /** Milliseconds since 1970 at which the minute began. */
  minuteMs: number
}

export type Meter = {
  /** Counters of the minute that it is now, to be added to. */
  of(projectId: string, keyId: string): Counts
  /** Minutes that changed since they were taken last, each with all of its counts so far. */
  take(): UsageMinute[]
  /** They were not written: they are taken again. */
  putBack(minutes: readonly UsageMinute[]): void
}

const minute = 60_000
/** Key of the pairs of a minute beyond those that are told apart. */
const otherKey = 'other'
/** Minutes that wait to be written. */
const maxMinutes = 60

const none = (): Counts => ({
  requests: 0,
  refused: 0,
  calls: 0,
  bytesIn: 0,
  bytesStored: 0,
  reads: 0,
  readMs: 0,
  readBytes: 0,
  masked: 0,
})

type Pair = { projectId: string; keyId: string; counts: Counts; isChanged: boolean }

/** @param maxPairs of project and key that are told apart in a minute */
export function createMeter({
  now = Date.now,
  maxPairs = 10_000,
}: {
  now?: () => number
  maxPairs?: number
} = {}): Meter {
  const minutes = new Map<number, Map<string, Pair>>()

  function pairOf(pairs: Map<string, Pair>, projectId: string, keyId: string): Pair {
    const name = `${projectId}\n${keyId}`
    const found = pairs.get(name)
    if (found !== undefined) return found
    if (pairs.size >= maxPairs && keyId !== otherKey) return pairOf(pairs, projectId, otherKey)
    const pair = { projectId, keyId, counts: none(), isChanged: true }
    pairs.set(name, pair)
    return pair
  }

  return {
    of(projectId, keyId) {
      const at = now()
      const minuteMs = at - (at % minute)
      let pairs = minutes.get(minuteMs)
      if (pairs === undefined) {
        pairs = new Map()
        minutes.set(minuteMs, pairs)
        if (minutes.size > maxMinutes) minutes.delete(minutes.keys().next().value as number)
      }
      const pair = pairOf(pairs, projectId, keyId)
      pair.isChanged = true
      return pair.counts
    },
    take() {
      const taken: UsageMinute[] = []
      const at = now()
      for (const [minuteMs, pairs] of minutes) {
        for (const pair of pairs.values()) {
          if (!pair.isChanged) continue
          pair.isChanged = false
          taken.push({ projectId: pair.projectId, keyId: pair.keyId, minuteMs, ...pair.counts })
        }
        if (minuteMs + minute <= at) minutes.delete(minuteMs)
      }
      return taken
    },
    putBack(taken) {
      for (const { projectId, keyId, minuteMs, ...counts } of taken) {
        const pairs = minutes.get(minuteMs) ?? new Map<string, Pair>()
        minutes.set(minuteMs, pairs)
        const name = `${projectId}\n${keyId}`
        const pair = pairs.get(name)
        if (pair === undefined) pairs.set(name, { projectId, keyId, counts, isChanged: true })
        else pair.isChanged = true
      }
    },
  }
}
