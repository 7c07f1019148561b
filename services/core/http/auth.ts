// Who is calling: the key in the request's headers.
import type { IncomingHttpHeaders } from 'node:http'
import { Fault } from './errors.ts'
import type { KeyHolder, Keys } from './keys.ts'

const unauthorized = (): Fault =>
  new Fault(401, { reason: 'Missing or unknown credentials' }, { 'WWW-Authenticate': 'Basic realm="api"' })

/** The key of an Authorization header: the password of Basic, or the token of Bearer. */
function keyOfAuthorization(header: string): string | undefined {
  const [, scheme = '', rest = ''] = /^\s*([A-Za-z]+)\s+(\S+)\s*$/.exec(header) ?? []
  if (scheme.toLowerCase() === 'bearer') return rest
  if (scheme.toLowerCase() !== 'basic') return undefined
  const pair = Buffer.from(rest, 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  return colon === -1 ? undefined : pair.slice(colon + 1)
}

export type Authenticate = (headers: IncomingHttpHeaders) => KeyHolder

/**
 * Reads the key from `Authorization` (Basic or Bearer) or from `<vendor>-api-key`; 401 when none of them is known.
 * @param vendors CALLHOUSE_OTEL_VENDOR_NAMESPACES
 */
export function createAuthenticate(keys: Pick<Keys, 'find'>, vendors: readonly string[]): Authenticate {
  const headerNames = vendors.map((vendor) => `${vendor}-api-key`)
  return (headers) => {
    const fromAuthorization =
      headers.authorization === undefined ? undefined : keyOfAuthorization(headers.authorization)
    const found = fromAuthorization === undefined ? undefined : keys.find(fromAuthorization)
    if (found !== undefined) return found
    for (const name of headerNames) {
      const value = headers[name]
      const holder = typeof value === 'string' ? keys.find(value.trim()) : undefined
      if (holder !== undefined) return holder
    }
    throw unauthorized()
  }
}
