// Headers that others name for requests to a provider: which of them go out.
import { validateHeaderName, validateHeaderValue } from 'node:http'

/** Those of the connection and of the body belong to whoever sends it. */
const ofTheConnection = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Those that open the metadata services of clouds. */
const ofMetadata = new Set(['metadata-flavor', 'x-aws-ec2-metadata-token', 'x-aws-ec2-metadata-token-ttl-seconds'])

/** Those by which a proxy or an engine takes a request for one of another path, method or host. */
export const ofRouting: readonly string[] = [
  'forwarded',
  'x-forwarded-host',
  'x-forwarded-prefix',
  'x-forwarded-uri',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-original-host',
  'x-original-url',
  'x-rewrite-url',
]

export const isMetadataHeader = (name: string): boolean => ofMetadata.has(name.toLowerCase())

/** The headers that may go out, by lower-case name. @throws TypeError with the name of one that is no header */
export function sendable(
  sent: Readonly<Record<string, string>>,
  refused: readonly string[] = [],
): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [name, value] of Object.entries(sent)) {
    const lower = name.toLowerCase()
    if (ofTheConnection.has(lower) || ofMetadata.has(lower) || refused.includes(lower)) continue
    try {
      validateHeaderName(name)
      validateHeaderValue(name, value)
    } catch {
      throw new TypeError(JSON.stringify(name.slice(0, 100)))
    }
    found[lower] = value
  }
  return found
}
