// A bounded map that forgets the least recently used entry: what was written lately and need not be written again.

export type Recent<Value> = {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
}

/**
 * @param limit entries, not bytes: for keys and values of a known small size
 * @param keepMs an entry is forgotten so long after it was set
 */
export function createRecent<Value>(limit: number, keepMs = Number.POSITIVE_INFINITY): Recent<Value> {
  const entries = new Map<string, { value: Value; setMs: number }>()
  return {
    get(key) {
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      entries.delete(key)
      if (performance.now() - entry.setMs > keepMs) return undefined
      entries.set(key, entry)
      return entry.value
    },
    set(key, value) {
      entries.delete(key)
      entries.set(key, { value, setMs: performance.now() })
      if (entries.size > limit) entries.delete(entries.keys().next().value as string)
    },
  }
}
