// Bounds how many answers are kept that nothing shows any more: keys may hold the moment, and then nobody asks for
// them again.

/** The parts of the library's cache that are used. */
type Query = { queryKey: readonly unknown[]; getObserversCount(): number }
type Cache = {
  subscribe(listener: (event: { type: string; query: Query }) => void): void
  remove(query: Query): void
}

/** Bounds of kinds whose answers are large; a kind is the first word of the key. Spans of one trace hold up to 16 MB. */
const mostOf: ReadonlyMap<unknown, number> = new Map([
  ['trace', 3],
  ['comparison', 3],
  ['evaluation rows', 3],
  ['call', 20],
  ['calls', 40],
])
const most = 60

/** Lets those of a kind go first that were left longest ago by the last that showed them. */
export function boundUnused(cache: Cache): void {
  const unused = new Map<unknown, Set<Query>>()
  cache.subscribe(({ type, query }) => {
    if (!['observerAdded', 'observerRemoved', 'removed'].includes(type)) return
    const [kind] = query.queryKey
    const left = unused.get(kind) ?? new Set()
    unused.set(kind, left)
    left.delete(query)
    if (type !== 'observerRemoved' || query.getObserversCount() > 0) return
    left.add(query)
    if (left.size <= (mostOf.get(kind) ?? most)) return
    const [oldest] = left
    if (oldest) cache.remove(oldest)
  })
}
