// Redaction of credentials: which keys hold them, and the copy of a JSON value without them.

export const redacted = 'REDACTED'

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
const endings =
  /(?:accesstoken|apikey|apitoken|clientsecret|privatekey|refreshtoken|secretaccesskey|secretkey|sessiontoken)$/

const known = new Map<string, boolean>()

/** True when a non-empty string under this key is a credential. */
export function isSensitiveKey(key: string): boolean {
  const seen = known.get(key)
  if (seen !== undefined) return seen
  const name = key.replace(/[_-]/g, '').toLowerCase()
  const sensitive = whole.has(name) || endings.test(name)
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
