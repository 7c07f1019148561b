// Values that were set lately, by text: so many at most, and the older ones go together.

export type Latest<Value> = {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  clear(): void
}

/**
 * Keeps the latest values: when they are half of the limit they take the place of those before, so nothing is removed
 * one by one.
 */
export function createLatest<Value>(most: number): Latest<Value> {
  let newer = new Map<string, Value>()
  let older = new Map<string, Value>()
  return {
    get: (key) => newer.get(key) ?? older.get(key),
    set(key, value) {
      if (newer.size >= most / 2) {
        older = newer
        newer = new Map()
      }
      newer.set(key, value)
    },
    clear() {
      newer.clear()
      older.clear()
    },
  }
}
