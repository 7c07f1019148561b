// Who is calling: the key in the request's headers.
import type { IncomingHttpHeaders } from 'node:http'
import { Fault } from './errors.ts'
import type { KeyHolder, Keys } from './keys.ts'

const unauthorized = (): Fault =>
  new Fault(401, { reason: 'Missing or unknown credentials' }, { 'WWW-Authenticate': 'Basic realm="api"' })

/** The key of an Authorization header: the password of Basic, the token of Bearer, or a key that stands alone. */
function keyOfAuthorization(header: string, takesBareKey: boolean): string | undefined {
  const [, scheme = '', rest = ''] = /^\s*(?:([A-Za-z]+)\s+)?(\S+)\s*$/.exec(header) ?? []
  if (scheme === '') return takesBareKey ? rest || undefined : undefined
  if (scheme.toLowerCase() === 'bearer') return rest
  if (scheme.toLowerCase() !== 'basic') return undefined
  const pair = Buffer.from(rest, 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  return colon === -1 ? undefined : pair.slice(colon + 1)
}

/** @param takesBareKey gRPC: the metadata `authorization` may be the key itself */
export type Authenticate = (headers: IncomingHttpHeaders, takesBareKey?: boolean) => KeyHolder

/**
 * Reads the key from `Authorization` (Basic or Bearer) or from `<vendor>-api-key`; 401 when none of them is known.
 * @param vendors CALLHOUSE_OTEL_VENDOR_NAMESPACES
 */
export function createAuthenticate(keys: Pick<Keys, 'find'>, vendors: readonly string[]): Authenticate {
  const headerNames = vendors.map((vendor) => `${vendor}-api-key`)
  return (headers, takesBareKey = false) => {
    const fromAuthorization =
      headers.authorization === undefined ? undefined : keyOfAuthorization(headers.authorization, takesBareKey)
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
