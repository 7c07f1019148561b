// The socket of the gRPC port: finds out what a connection speaks, with TLS or without, and ends in order.
import type { Http2Server } from 'node:http2'
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { rawAnswer } from '../http/http-server.ts'
import type { Tls } from '../http/tls.ts'
import type { Logger } from '../process/logger.ts'

/** A connection that does not say what it speaks. */
const prefaceMs = 10_000
const preface = Buffer.from('PRI * HTTP/2.0')
type SocketDeps = {
  h2: Http2Server
  tls: Tls | undefined
  log: Logger
  /** The text for clients that speak HTTP/1.1 here. */
  hint(): string
}

/** A server whose connections go to `h2` once they have begun to speak HTTP/2. */
export function createGrpcSocket(deps: SocketDeps): Server {
  const { tls, log } = deps
  const welcome = (socket: Socket): void => findProtocol(deps, socket)
  if (tls === undefined) return createServer(welcome)
  const protocols = { ALPNProtocols: ['h2', 'http/1.1'], handshakeTimeout: prefaceMs }
  const server = createTlsServer({ ...tls.options(), ...protocols }, welcome)
  server.on('tlsClientError', (error) => log.debug({ error: error.message }, 'no TLS with a client'))
  tls.renews(server)
  return server
}

/** Finds the protocol of a connection in its first bytes; HTTP/1.1 gets an answer in HTTP/1.1. */
function findProtocol({ h2, hint }: SocketDeps, socket: Socket): void {
  const patience = setTimeout(() => socket.destroy(), prefaceMs)
  socket.on('error', () => undefined).once('close', () => clearTimeout(patience))
  const look = (): void => {
    const chunk = socket.read() as Buffer | null
    if (chunk === null) return void socket.once('readable', look)
    const isPreface = preface
      .subarray(0, Math.min(chunk.length, preface.length))
      .equals(chunk.subarray(0, preface.length))
    socket.unshift(chunk)
    if (isPreface && chunk.length < preface.length) return void socket.once('readable', look)
    clearTimeout(patience)
    if (isPreface) h2.emit('connection', socket)
    else if (/^[A-Z]{3,7} /.test(chunk.toString('latin1', 0, 8))) {
      // Otherwise its bytes stay unread, and the connection open.
      socket.resume().end(rawAnswer('400 Bad Request', 'text/plain', hint(), false))
    } else socket.destroy()
  }
  socket.once('readable', look)
}
