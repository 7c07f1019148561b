// Redaction of credentials: which keys hold them, and the copy of a JSON value without them.

export const redacted = 'REDACTED'

/** Keys in lower case without `_` and `-`. */
const whole = new Set([
  'authheaders',
  'authorization',
  'authtoken',
  'awsaccesskey',
  'awsaccesskeyid',
  'bearertoken',
  'cloudcredentials',
  'vertexcredentials',
  'webhookkey',
  'webhooksecret',
])
const endings = [
  'accesstoken',
  'apikey',
  'apitoken',
  'clientsecret',
  'privatekey',
  'refreshtoken',
  'secretaccesskey',
  'secretkey',
  'sessiontoken',
]
const sensitiveEnding = new RegExp(`(?:${endings.join('|')})$`)

/** Names of keys that hold credentials, in lower case without `_` and `-`, and what further ones end like. */
export const sensitiveNames: { whole: Iterable<string>; endings: readonly string[] } = { whole, endings }

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

/** How the last four letters of a credential's key may look: one of the first group, then the second. */
const keyEndings = ['iestk key', 'o ken', 'c ret', 'd ers', 't ion', 'e yid', 'i als']
/** For the last letter, the one before it and so on: bits of the endings that a byte fits. */
const endingBits = [3, 2, 1, 0].map((place) => {
  const bits = new Uint8Array(256)
  keyEndings.forEach((ending, bit) => {
    const [first = '', rest = ''] = ending.split(' ')
    for (const letter of place === 0 ? first : (rest[place - 1] as string))
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
  let bits = 0x7f
  let i = end - 1
  for (let letter = 0; letter < 4; letter++) {
    let c = text.charCodeAt(i)
    while (c === 45 || c === 95) c = text.charCodeAt(--i)
    if (i < 0) return false
    // Lower-casing turns some other letters into ASCII (the Kelvin sign).
    if (c >= 128) return true
    bits &= (endingBits[letter] as Uint8Array)[c] as number
    if (bits === 0) return false
    i--
  }
  return true
}

/** False when the last letters of a key in UTF-8 bytes rule out that it is sensitive; `_` and `-` do not count. */
export function mayBeSensitiveKey(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < 6) return false
  let bits = 0x7f
  let i = end - 1
  for (let letter = 0; letter < 4; letter++) {
    while (bytes[i] === 45 || bytes[i] === 95) i--
    if (i < start) return false
    const c = bytes[i--] as number
    // Lower-casing turns some other letters into ASCII (the Kelvin sign).
    if (c >= 128) return true
    bits &= (endingBits[letter] as Uint8Array)[c] as number
    if (bits === 0) return false
  }
  return true
}
