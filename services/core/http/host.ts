// Host and Origin checks: pages in a browser can reach a server on loopback, and must not use it.
import { isIP } from 'node:net'
import { type Fault, fault } from './errors.ts'

/** True for names and addresses that only this machine can reach. */
export function isLoopbackName(name: string): boolean {
  const bare = name.startsWith('[') ? name.slice(1, -1) : name
  if (isIP(bare) === 4) return bare.startsWith('127.')
  return bare === '::1' || bare.toLowerCase() === 'localhost'
}

/** The name of a Host header, lower case and without port; undefined when it is malformed. */
function nameOf(host: string): string | undefined {
  return /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?$/.exec(host)?.[1]?.toLowerCase()
}

export type HostCheck = (host: string | undefined, origin: string | undefined) => Fault | undefined

/**
 * The check of a server on loopback: Host must be a loopback name or listed, and Origin, when there is one, must be
 * listed or be the server itself. Beyond loopback only a list of hosts, when there is one, is enforced.
 */
export function createHostCheck({
  host,
  allowedHosts,
  corsOrigins,
}: {
  host: string
  allowedHosts: readonly string[]
  corsOrigins: readonly string[]
}): HostCheck {
  const onLoopback = isLoopbackName(host)
  const listed = new Set(allowedHosts.map((name) => name.toLowerCase()))
  const origins = new Set(corsOrigins)
  return (hostHeader, origin) => {
    if (onLoopback || listed.size > 0) {
      const name = nameOf(hostHeader ?? '')
      if (name === undefined || !(isLoopbackName(name) || listed.has(name)))
        return fault(403, 'Host name not allowed; see CALLHOUSE_ALLOWED_HOSTS')
    }
    if (!onLoopback || origin === undefined || origins.has('*') || origins.has(origin)) return undefined
    if (origin === `http://${hostHeader}` || origin === `https://${hostHeader}`) return undefined
    return fault(403, 'Origin not allowed; see CALLHOUSE_CORS_ORIGINS')
  }
}
