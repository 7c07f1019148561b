// Facts about an attribute key or JSON key, computed once per key: its path, its JSON text, whether it is secret.
import { isSensitiveKey } from '../../content/redact.ts'

export type AttributeKey = {
  /** Segments between the dots; of a key with more than there may be the last one is all of the rest. */
  path: string[]
  /** It has more segments than there may be. */
  isTooDeep: boolean
  /** `"key":` */
  json: string
  /** Its string values are credentials. */
  isSecret: boolean
  /** The same of its last segment, or of all of it. */
  endsSecret: boolean
  /** Number of the list of attributes that had it last. */
  list: number
}

/** Deepest dotted key; together with the bounds of values the stored JSON stays below 512 levels. */
export const maxPath = 100

function segmentsOf(name: string): { path: string[]; isTooDeep: boolean } {
  const path = name.split('.', maxPath + 1)
  if (path.length <= maxPath) return { path, isTooDeep: false }
  const before = path.slice(0, maxPath - 1)
  return { path: [...before, name.slice(before.join('.').length + 1)], isTooDeep: true }
}

/** Keys come from the sender: the cache is bounded and long keys stay out of it. */
const maxKeys = 10_000
export const maxKeyLength = 128
const cache = new Map<string, AttributeKey>()

let forgotten = 0
/** Number of times that keys were forgotten: within a list in which this changes, `list` says nothing. */
export const timesForgotten = (): number => forgotten

export function keyOf(name: string): AttributeKey {
  const hit = cache.get(name)
  if (hit !== undefined) return hit
  const json = `${JSON.stringify(name.toWellFormed())}:`
  const { path, isTooDeep } = segmentsOf(name)
  const isSecret = isSensitiveKey(name)
  const endsSecret = isSecret || isSensitiveKey(path[path.length - 1] as string)
  const key = { path, isTooDeep, json, isSecret, endsSecret, list: 0 }
  if (name.length <= maxKeyLength) {
    if (cache.size >= maxKeys) {
      cache.clear()
      forgotten++
    }
    cache.set(name, key)
  }
  return key
}
