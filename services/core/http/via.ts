// The way of a request to this server: over TLS or not, from this machine or not, below which path.
import type { Express, Request } from 'express'
import { isLoopbackName } from './host.ts'

export type Via = {
  /** `https://host:port` as the client wrote it. */
  origin: string
  isSecure: boolean
  /** The client is on this machine and calls the server by a loopback name. */
  isLocal: boolean
  port: string
  /** Path with a slash at its end: `/`, `/obs/callhouse/`. */
  basePath: string
}

const prefixForm = /^(?:\/[\w~-][\w.~-]*)+\/?$/

/** Headers of a proxy count only when the peer is one that CALLHOUSE_TRUST_PROXY names. */
export function createVia(app: Express, { basePath }: { basePath: string }): (request: Request) => Via {
  const isTrusted = app.get('trust proxy fn') as (address: string, hop: number) => boolean
  const baseOf = (request: Request): string => {
    const given = request.headers['x-forwarded-prefix']
    const isKnown = basePath !== '' || typeof given !== 'string' || !isTrusted(request.socket.remoteAddress ?? '', 0)
    const path = isKnown ? basePath : prefixForm.test(given) ? given : ''
    return path.endsWith('/') ? path : `${path}/`
  }
  return (request) => {
    const { host = '' } = request.headers
    const url = URL.parse(`${request.protocol}://${host}`)
    const peer = (request.socket.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/, '')
    return {
      origin: url?.origin ?? '',
      isSecure: request.secure,
      isLocal: isLoopbackName(url?.hostname ?? '') && isLoopbackName(peer),
      port: url?.port || (request.secure ? '443' : '80'),
      basePath: baseOf(request),
    }
  }
}
