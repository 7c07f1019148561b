// Statistics of the reads of a process by name and path: their number, and times of the latest ones.

type ReadTime = { name: string; path: string; count: number; p50Ms: number; p95Ms: number }

export type ReadTimes = {
  add(name: string, path: string, ms: number): void
  /** The slowest by their 95th percentile first. */
  slowest(limit: number): ReadTime[]
}

/** Times that are kept of each read: percentiles are of these. */
const kept = 256

export function createReadTimes(): ReadTimes {
  const all = new Map<string, { name: string; path: string; count: number; times: Float32Array }>()
  return {
    add(name, path, ms) {
      const key = `${name} ${path}`
      let of = all.get(key)
      if (of === undefined) {
        // Names are those of statements in the program: there are as many as it has.
        of = { name, path, count: 0, times: new Float32Array(kept) }
        all.set(key, of)
      }
      of.times[of.count % kept] = ms
      of.count++
    },
    slowest: (limit) =>
      [...all.values()]
        .map(({ name, path, count, times }) => {
          const sorted = times.slice(0, Math.min(count, kept)).sort()
          const at = (share: number) => Math.round((sorted[Math.ceil(share * sorted.length) - 1] ?? 0) * 10) / 10
          return { name, path, count, p50Ms: at(0.5), p95Ms: at(0.95) }
        })
        .sort((a, b) => b.p95Ms - a.p95Ms)
        .slice(0, limit),
  }
}
