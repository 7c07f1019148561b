// A bounded map that forgets the least recently used entry: what was written lately and need not be written again.

export type Recent<Value> = {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
}

/** @param limit entries, not bytes: for keys and values of a known small size */
export function createRecent<Value>(limit: number): Recent<Value> {
  const entries = new Map<string, Value>()
  return {
    get(key) {
      const value = entries.get(key)
      if (value === undefined) return undefined
      entries.delete(key)
      entries.set(key, value)
      return value
    },
    set(key, value) {
      entries.delete(key)
      entries.set(key, value)
      if (entries.size > limit) entries.delete(entries.keys().next().value as string)
    },
  }
}
