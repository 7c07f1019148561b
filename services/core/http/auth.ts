// Authenticates the caller: the key in the request's headers.
import type { IncomingHttpHeaders } from 'node:http'
import { Fault } from './errors.ts'
import { createGuesses } from './guesses.ts'
import { type KeyHolder, throwUnlessFrom } from './holder.ts'
import type { KeyRefusal, Keys } from './keys.ts'
import type { Sessions } from './session.ts'
import type { Via } from './via.ts'

const unknownText = 'Missing or unknown credentials'
const reasons: Record<KeyRefusal, string> = {
  key_unknown: unknownText,
  key_malformed: 'Invalid API key (checksum mismatch). It may be incomplete',
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

/** Headers in which exporters of other products send their key: LangSmith, LangWatch. */
const exporterHeaders = ['x-api-key', 'x-auth-token']

/** Everything in the headers that may be a key, in the order in which it counts. */
function keysIn(headers: IncomingHttpHeaders, names: readonly string[], takesBareKey: boolean): string[] {
  const { authorization } = headers
  const texts = [
    authorization && keyOfAuthorization(authorization, takesBareKey),
    ...names.map((name) => headers[name]),
  ]
  return texts.flatMap((text) => (typeof text === 'string' && text.trim() !== '' ? [text.trim()] : []))
}

/** The parts of a request that decide whether a cookie counts: without them none does. */
type CameBy = { method: string; via: (() => Via) | undefined; address(): string }

/** @throws Fault 403 for a key that counts from elsewhere only */
function admitted(holder: KeyHolder, cameBy: CameBy | undefined): KeyHolder {
  if (holder.addresses !== undefined) throwUnlessFrom(holder, cameBy?.address() ?? '')
  return holder
}

/** @param isExporter `authorization` may be the key itself, and the headers of exporters count */
export type Authenticate = (
  headers: IncomingHttpHeaders,
  isExporter?: boolean,
  cameBy?: CameBy,
) => KeyHolder | Promise<KeyHolder>

/**
 * Reads the key from `Authorization` (Basic or Bearer), from `<vendor>-api-key` or as exporters send it, else the
 * session from the page's cookie; 401 when none of them is known, 429 after too many wrong keys of one address: those
 * that are known go on. A cookie does not save a request with a wrong key.
 * @param vendors CALLHOUSE_OTEL_VENDOR_NAMESPACES
 */
export function createAuthenticate(
  keys: Pick<Keys, 'find' | 'refusal' | 'arriving'>,
  vendors: readonly string[],
  sessions?: Pick<Sessions, 'holder'>,
): Authenticate {
  const guesses = createGuesses()
  const vendorHeaders = vendors.map((vendor) => `${vendor}-api-key`)
  const allHeaders = [...vendorHeaders, ...exporterHeaders]
  return (headers, isExporter = false, cameBy = undefined) => {
    const headerNames = isExporter ? allHeaders : vendorHeaders
    const texts = keysIn(headers, headerNames, isExporter)
    for (const text of texts) {
      const holder = keys.find(text)
      if (holder !== undefined) return admitted(holder, cameBy)
    }
    const hasKey = headers.authorization !== undefined || headerNames.some((name) => headers[name] !== undefined)
    const signedIn =
      hasKey || cameBy?.via === undefined ? undefined : sessions?.holder(headers, cameBy.method, cameBy.via())
    if (signedIn !== undefined) return admitted(signedIn, cameBy)
    const [text] = texts
    const isPage = headers['x-callhouse-page'] !== undefined
    if (text === undefined) throw unauthorized(isPage, undefined)
    const address = cameBy?.address() ?? ''
    if (address !== '') guesses.throwIfTooMany(address)
    const refused = (): Fault => {
      const code = keys.refusal(text)
      // A key that was good once is no guess.
      if (address !== '' && (code === 'key_unknown' || code === 'key_malformed')) guesses.add(address, text)
      return unauthorized(isPage, code)
    }
    const arriving = keys.arriving(text)
    if (arriving === undefined) throw refused()
    return arriving.then((holder) => {
      if (holder === undefined) throw refused()
      return admitted(holder, cameBy)
    })
  }
}
