// HTTP/1.1 as every port of the server speaks it: the same limits, the same answer to what is no request, the same end.
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Server as SocketServer } from 'node:net'
import type { Connections } from '../process/connections.ts'
import { securityHeaders } from './security-headers.ts'
import type { Tls } from './tls.ts'

const limits = {
  /** Room for the query of a DELETE with a thousand ids. */
  maxHeaderSize: 128 * 1024,
  headersTimeout: 60_000,
  /** Longer than a gateway keeps a connection that it sends the next request over. */
  keepAliveTimeout: 75_000,
  /** Bodies are bounded by the time between their bytes: a big file over a slow line is no attack. */
  requestTimeout: 0,
  // One without is answered as all others are, by who takes the requests.
  requireHostHeader: false,
}

/** Options of every answer, those of Node itself too. */
type Options = { isSecure?: boolean }

/** An answer to what is no request of HTTP/1.1 that Node could parse here; the connection ends with it. */
export function rawAnswer(status: string, contentType: string, body: string, isSecure: boolean): string {
  const own = [
    ['Content-Type', contentType],
    ['Content-Length', Buffer.byteLength(body)],
    ['Connection', 'close'],
  ]
  const head = [...own, ...securityHeaders(isSecure)].map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return `HTTP/1.1 ${status}\r\n${head}\r\n${body}`
}

/** Creates a server, with TLS when there is a certificate. @param options whether people reach the port over TLS */
export function createHttpServer(
  tls: Tls | undefined,
  connections: Connections,
  onRequest?: RequestListener,
  { isSecure = false }: Options = {},
): Server {
  const headers = securityHeaders(isSecure)
  const server = tls ? createSecureServer({ ...limits, ...tls.options() }, onRequest) : createServer(limits, onRequest)
  connections.watch(server)
  const noteRequest: RequestListener = (request, response) => {
    const connection = connections.of(request.socket)
    if (connection === undefined) return
    connection.begins()
    response.once('close', connection.ends)
  }
  server.prependListener('request', noteRequest).prependListener('checkContinue', noteRequest)
  if (tls) tls.renews(server as ReturnType<typeof createSecureServer>)
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') return socket.destroy()
    const status = error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request'
    socket.end(rawAnswer(status, 'application/json', '{"reason":"Malformed request"}', isSecure))
  })
  server.on('checkExpectation', (_, response) => {
    for (const [name, value] of headers) response.setHeader(name, value)
    response.writeHead(417, { 'Content-Type': 'application/json', Connection: 'close' })
    response.end('{"reason":"Expectation failed: only 100-continue is known"}')
  })
  return server
}

/** Stops accepting and waits for requests in flight; cuts what is left after the limit. False when it had to. */
export function closeHttpServer(server: Server, limitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    let isOrderly = true
    // Connections that were busy when closing began become idle later, and would stay open for the next request.
    const closing = setInterval(() => server.closeIdleConnections(), 50)
    const limit = setTimeout(() => {
      isOrderly = false
      server.closeAllConnections()
    }, limitMs)
    server.close(() => {
      clearInterval(closing)
      clearTimeout(limit)
      resolve(isOrderly)
    })
  })
}

/** Resolves with the port. */
export const listenOn = (server: SocketServer, port: number, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })
