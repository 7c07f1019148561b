// What is known about an attribute key or JSON key, worked out once per key: its path, its JSON text, whether it is secret.
import { isSensitiveKey } from '../../content/redact.ts'

export type AttributeKey = {
  /** Segments between the dots; of a key that is too deep only one more than there may be. */
  path: string[]
  /** `"key":` */
  json: string
  /** Its string values are credentials. */
  isSecret: boolean
}

/** Deepest dotted key; together with the bounds of values the stored JSON stays below 512 levels. */
export const maxPath = 100

/** Keys come from the sender: the cache is bounded and long keys stay out of it. */
const maxKeys = 10_000
export const maxKeyLength = 128
const cache = new Map<string, AttributeKey>()

export function keyOf(name: string): AttributeKey {
  const hit = cache.get(name)
  if (hit !== undefined) return hit
  const json = `${JSON.stringify(name.toWellFormed())}:`
  const key = { path: name.split('.', maxPath + 1), json, isSecret: isSensitiveKey(name) }
  if (name.length <= maxKeyLength) {
    if (cache.size >= maxKeys) cache.clear()
    cache.set(name, key)
  }
  return key
}
