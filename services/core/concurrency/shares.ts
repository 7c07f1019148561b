// Shares of a bounded number of bytes by key: no key fills all of it, and none is refused for what another one holds.

export type Shares<Key> = {
  /**
   * The reason why so many bytes more cannot be had: `all` = everybody's together would be too many, `share` = a key's
   * would.
   * @param of what each key would have of them; the rest belongs to nobody
   * @param total what everybody holds; default: what was taken here
   */
  refusal(bytes: number, of: Iterable<readonly [Key, number]>, total?: number): 'all' | 'share' | null
  take(bytes: number, of: Iterable<readonly [Key, number]>): void
  /** Takes back what was taken. */
  give(bytes: number, of: Iterable<readonly [Key, number]>): void
  totalBytes(): number
  /** Bytes that a key holds. */
  bytesOf(key: Key): number
}

type Options = {
  /** The total limit. It is read each time, because it may change. */
  bound(): number
  /** Bytes that a key may have with any number of keys, as long as the bound allows it. */
  minBytes: number
  /** Most bytes of a key when another one has something too, or had lately. Default: an equal share of the bound. */
  maxBytes?(): number
  /** Time for which another key counts after it took something. Default: as long as it holds something. */
  recentMs?: number
  /** Whether `maxBytes` counts below half of the bound too. */
  isAlwaysShared?(): boolean
  now?(): number
}

/**
 * Over half of the bound a key has an equal share of it; a key that is alone leaves an eighth for the next one that
 * comes. Every operation takes the same time however many keys there are, and only keys that hold something are known.
 */
export function createShares<Key>(options: Options): Shares<Key> {
  const { bound, minBytes, maxBytes = bound, recentMs = 0, now = Date.now } = options
  const { isAlwaysShared = () => false } = options
  const held = new Map<Key, number>()
  let total = 0
  /** The key that took last, and the last other one: enough to know when any other key did. */
  let latest: { key: Key; atMs: number } | undefined
  let before: { key: Key; atMs: number } | undefined

  function note(key: Key): void {
    if (recentMs === 0) return
    if (latest?.key !== key) before = latest
    latest = { key, atMs: now() }
  }

  /** Keys besides this one that hold something, or did lately. */
  function othersOf(key: Key): number {
    const others = held.size - (held.has(key) ? 1 : 0)
    if (others > 0 || recentMs === 0) return others
    const last = latest?.key === key ? before : latest
    return last !== undefined && now() - last.atMs < recentMs ? 1 : 0
  }

  function isOverShare(key: Key, bytes: number, after: number): boolean {
    const has = held.get(key) ?? 0
    const mine = has + bytes
    // A piece that is larger than a share could never be taken otherwise.
    if (mine <= minBytes || has === 0) return false
    const others = othersOf(key)
    const boundBytes = bound()
    if (others === 0) return after > boundBytes * (7 / 8)
    if (after <= boundBytes / 2) return isAlwaysShared() && mine > maxBytes()
    return mine > Math.max(minBytes, Math.min(maxBytes(), boundBytes / (others + 1)))
  }

  return {
    refusal(bytes, of, all = total) {
      // A piece that is larger than the bound is taken when there is nothing else: it could never be taken otherwise.
      if (all === 0) return null
      if (all + bytes > bound()) return 'all'
      for (const [key, part] of of) if (isOverShare(key, part, all + bytes)) return 'share'
      return null
    },
    take(bytes, of) {
      total += bytes
      for (const [key, part] of of) {
        held.set(key, (held.get(key) ?? 0) + part)
        note(key)
      }
    },
    give(bytes, of) {
      total -= bytes
      for (const [key, part] of of) {
        const left = (held.get(key) ?? 0) - part
        if (left > 0) held.set(key, left)
        else held.delete(key)
      }
    },
    totalBytes: () => total,
    bytesOf: (key) => held.get(key) ?? 0,
  }
}
