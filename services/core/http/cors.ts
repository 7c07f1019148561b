// Cross-origin headers for the origins that the operator listed.

const methods = 'GET, POST, PUT, DELETE, OPTIONS'
const exposed = 'X-Request-Id, X-Call-Id, Retry-After, X-Callhouse-Position, X-Callhouse-Stale'
const allowed = [
  'authorization',
  'content-type',
  'content-encoding',
  'project_id',
  'x-request-id',
  'openai-project',
  'traceparent',
  'tracestate',
]
const allowedFamilies = ['x-weave-', 'x-stainless-']
const isAllowed = (name: string) => allowed.includes(name) || allowedFamilies.some((family) => name.startsWith(family))

type RequestHeaders = Record<string, string | string[] | undefined>

export type Cors = {
  /** Headers of every answer to the origin; empty when it is not listed. */
  headers(origin: string | undefined): Record<string, string>
  /** Headers of the answer to a preflight; undefined when the request is not one, or its origin is not listed. */
  preflight(method: string | undefined, headers: RequestHeaders): Record<string, string> | undefined
}

export function createCors(origins: readonly string[]): Cors {
  const any = origins.includes('*')
  const listed = new Set(origins)
  const headers = (origin: string | undefined): Record<string, string> => {
    if (origins.length === 0) return {}
    if (origin === undefined || !(any || listed.has(origin))) return { Vary: 'Origin' }
    return {
      Vary: 'Origin',
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Expose-Headers': exposed,
      ...(any ? {} : { 'Access-Control-Allow-Credentials': 'true' }),
    }
  }
  return {
    headers,
    preflight(method, request) {
      if (method !== 'OPTIONS' || request['access-control-request-method'] === undefined) return undefined
      const granted = headers(request.origin as string | undefined)
      if (granted['Access-Control-Allow-Origin'] === undefined) return undefined
      // x-weave-* is a family; the protocol knows no families, so those asked for are named back.
      const asked = String(request['access-control-request-headers'] ?? '')
        .toLowerCase()
        .split(',')
        .map((name) => name.trim())
      return {
        ...granted,
        'Access-Control-Allow-Methods': methods,
        'Access-Control-Allow-Headers': [...new Set([...allowed, ...asked.filter(isAllowed)])].join(', '),
        'Access-Control-Max-Age': '600',
      }
    },
  }
}
