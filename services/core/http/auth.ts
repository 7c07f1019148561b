// Who is calling: the key in the request's headers.
import type { IncomingHttpHeaders } from 'node:http'
import { Fault, fault } from './errors.ts'
import type { KeyHolder } from './holder.ts'
import type { KeyRefusal, Keys } from './keys.ts'
import type { Sessions } from './session.ts'
import type { Via } from './via.ts'

const unknownText = 'Missing or unknown credentials'
const reasons: Record<KeyRefusal, string> = {
  key_unknown: unknownText,
  key_malformed: 'This is no key: its last characters do not fit the others',
  key_expired: 'This key has expired',
  key_revoked: 'This key was revoked',
}

/** A browser asks its user for a password when it is told of Basic: the page has a sign-in of its own. */
const unauthorized = (isPage: boolean, code: KeyRefusal | undefined): Fault =>
  new Fault(
    401,
    { reason: code === undefined ? unknownText : reasons[code], ...(code !== undefined && { code }) },
    isPage ? {} : { 'WWW-Authenticate': 'Basic realm="api"' },
  )

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

/** What decides whether a cookie counts: without it none does. */
type CameBy = { method: string; via: (() => Via) | undefined; address(): string }

/** @throws Fault 403 for a key that counts from elsewhere only */
function admitted(holder: KeyHolder, cameBy: CameBy | undefined): KeyHolder {
  if (holder.addresses === undefined) return holder
  const address = cameBy?.address() ?? ''
  if (!holder.addresses.check(address, address.includes(':') ? 'ipv6' : 'ipv4'))
    throw fault(403, 'This key does not count from this address')
  return holder
}

/** @param takesBareKey gRPC: the metadata `authorization` may be the key itself */
export type Authenticate = (
  headers: IncomingHttpHeaders,
  takesBareKey?: boolean,
  cameBy?: CameBy,
) => KeyHolder | Promise<KeyHolder>

/**
 * Reads the key from `Authorization` (Basic or Bearer) or from `<vendor>-api-key`, else the session from the page's
 * cookie; 401 when none of them is known. A cookie does not save a request with a wrong key.
 * @param vendors CALLHOUSE_OTEL_VENDOR_NAMESPACES
 */
export function createAuthenticate(
  keys: Pick<Keys, 'find' | 'refusal' | 'arriving'>,
  vendors: readonly string[],
  sessions?: Pick<Sessions, 'holder'>,
): Authenticate {
  const headerNames = vendors.map((vendor) => `${vendor}-api-key`)
  return (headers, takesBareKey = false, cameBy = undefined) => {
    const fromAuthorization =
      headers.authorization === undefined ? undefined : keyOfAuthorization(headers.authorization, takesBareKey)
    const found = fromAuthorization === undefined ? undefined : keys.find(fromAuthorization)
    if (found !== undefined) return admitted(found, cameBy)
    for (const name of headerNames) {
      const value = headers[name]
      const holder = typeof value === 'string' ? keys.find(value.trim()) : undefined
      if (holder !== undefined) return admitted(holder, cameBy)
    }
    const hasKey = headers.authorization !== undefined || headerNames.some((name) => headers[name] !== undefined)
    const signedIn =
      hasKey || cameBy?.via === undefined ? undefined : sessions?.holder(headers, cameBy.method, cameBy.via())
    if (signedIn !== undefined) return admitted(signedIn, cameBy)
    const refused = [fromAuthorization, ...headerNames.map((name) => headers[name])].find(
      (text): text is string => typeof text === 'string' && text !== '',
    )
    const isPage = headers['x-callhouse-page'] !== undefined
    if (refused === undefined) throw unauthorized(isPage, undefined)
    const text = refused.trim()
    const arriving = keys.arriving(text)
    if (arriving === undefined) throw unauthorized(isPage, keys.refusal(text))
    return arriving.then((holder) => {
      if (holder === undefined) throw unauthorized(isPage, keys.refusal(text))
      return admitted(holder, cameBy)
    })
  }
}
