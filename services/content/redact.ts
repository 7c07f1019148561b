// Redaction of credentials: which keys hold them, and the copy of a JSON value without them.
import { hiddenNames } from './masking/secret-names.ts'

export const redacted = 'REDACTED'

const whole = new Set<string>(hiddenNames.whole)
const sensitiveEnding = new RegExp(`(?:${hiddenNames.endings.join('|')})$`)

const known = new Map<string, boolean>()

/** True when a non-empty string under this key is a credential. */
export function isSensitiveKey(key: string): boolean {
  const seen = known.get(key)
  if (seen !== undefined) return seen
  const name = key.replace(/[_-]/g, '').toLowerCase()
  const sensitive = whole.has(name) || sensitiveEnding.test(name)
  if (known.size >= 4096) known.clear()
  if (key.length <= 256) known.set(key, sensitive)
  return sensitive
}

/** The value with every credential replaced; the same object when there is none. */
export function redact<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    let copy: unknown[] | null = null
    for (let i = 0; i < value.length; i++) {
      const item = redact(value[i])
      if (item !== value[i]) {
        copy ??= [...value]
        copy[i] = item
      }
    }
    return (copy ?? value) as T
  }
  let copy: Record<string, unknown> | null = null
  for (const [key, member] of Object.entries(value)) {
    const hides = typeof member === 'string' && member !== '' && member !== redacted && isSensitiveKey(key)
    const kept = hides ? redacted : redact(member)
    if (kept === member) continue
    copy ??= { ...value } as Record<string, unknown>
    Object.defineProperty(copy, key, { value: kept, enumerable: true, configurable: true, writable: true })
  }
  return (copy ?? value) as T
}

/** The last four letters of credentials' keys. */
const keyEndings = [...new Set([...hiddenNames.whole, ...hiddenNames.endings].map((name) => name.slice(-4)))]
const anyEnding = 2 ** keyEndings.length - 1
/** Bits of the endings that a byte fits, for the last letter, the one before it and so on. */
const endingBits = [3, 2, 1, 0].map((place) => {
  const bits = new Uint32Array(256)
  keyEndings.forEach((ending, bit) => {
    const letter = ending.charAt(place)
    for (const form of [letter, letter.toUpperCase()])
      bits[form.charCodeAt(0)] = (bits[form.charCodeAt(0)] as number) | (1 << bit)
  })
  return bits
})

/** False when no member's name in a JSON text can be one that holds credentials. Names with `\u` are not seen. */
export function mayHoldSensitiveKey(json: string): boolean {
  for (let colon = json.indexOf(':'); colon !== -1; colon = json.indexOf(':', colon + 1)) {
    const before = json.charCodeAt(colon - 1)
    if (before <= 32) return true
    if (before === 34 && mayEndSensitiveKey(json, colon - 1)) return true
  }
  return false
}

/** The same of the one name that ends at `end`. */
function mayEndSensitiveKey(text: string, end: number): boolean {
  let bits = anyEnding
  let i = end - 1
  for (let letter = 0; letter < 4; letter++) {
    let c = text.charCodeAt(i)
    while (c === 45 || c === 95) c = text.charCodeAt(--i)
    if (i < 0) return false
    // Lower-casing turns some other letters into ASCII (the Kelvin sign).
    if (c >= 128) return true
    bits &= (endingBits[letter] as Uint32Array)[c] as number
    if (bits === 0) return false
    i--
  }
  return true
}

/** False when the last letters of a key in UTF-8 bytes rule out that it is sensitive; `_` and `-` do not count. */
export function mayBeSensitiveKey(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < 6) return false
  let bits = anyEnding
  let i = end - 1
  for (let letter = 0; letter < 4; letter++) {
    while (bytes[i] === 45 || bytes[i] === 95) i--
    if (i < start) return false
    const c = bytes[i--] as number
    // Lower-casing turns some other letters into ASCII (the Kelvin sign).
    if (c >= 128) return true
    bits &= (endingBits[letter] as Uint32Array)[c] as number
    if (bits === 0) return false
  }
  return true
}
