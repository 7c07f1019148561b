// What is known about an attribute key or JSON key, worked out once per key: its path, its JSON text, whether it is secret.
import { isSensitiveKey } from '../../core/redact.ts'

export type Key = {
  /** Segments between the dots. */
  path: string[]
  /** `"key":` */
  json: string
  /** Its string values are credentials. */
  isSecret: boolean
}

/** Keys come from the sender: the cache is bounded and long keys stay out of it. */
const maxKeys = 10_000
const maxKeyLength = 128
const known = new Map<string, Key>()

export function keyOf(name: string): Key {
  const hit = known.get(name)
  if (hit !== undefined) return hit
  const json = `${JSON.stringify(name.toWellFormed())}:`
  const key = { path: name.split('.'), json, isSecret: isSensitiveKey(name) }
  if (name.length <= maxKeyLength) {
    if (known.size >= maxKeys) known.clear()
    known.set(name, key)
  }
  return key
}
