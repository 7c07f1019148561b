// The standard ports of OTLP: 4317 for gRPC, 4318 for HTTP. Exporters with their defaults work at the first try.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGrpcServer, type GrpcServerDeps } from '../core/grpc/server.ts'
import { closeHttpServer, createHttpServer, listenOn } from '../core/http/http-server.ts'
import { securityHeaders } from '../core/http/security-headers.ts'
import type { Tls } from '../core/http/tls.ts'
import type { Logger } from '../core/process/logger.ts'
import type { Config } from './config.ts'

export type OtlpPorts = {
  /** Addresses by protocol, of those that are open. */
  grpc?: string
  http?: string
  /** False when something had to be cut off. */
  close(limitMs: number): Promise<boolean>
}

type OtlpPortsDeps = Omit<GrpcServerDeps, 'hint'> & {
  config: Pick<Config, 'host' | 'otlpGrpcPort' | 'otlpHttpPort' | 'given'>
  /** The main server: takes the requests of the HTTP port too, so that nothing knows which one they came through. */
  main: Server
  logger: Logger
  /** TLS of both ports, which then speak nothing else. */
  tls?: Tls | undefined
}

const addressOf = (host: string, port: number): string => `${host.includes(':') ? `[${host}]` : host}:${port}`

type Addresses = Pick<OtlpPorts, 'grpc' | 'http'> & { main: string }

/**
 * The environment of an exporter of any language, for the first of these ports that is open: gRPC, HTTP, the main port,
 * which takes OTLP too. Other machines know one that listens everywhere by a name of its machine.
 */
export function exporterText({ grpc, http, main }: Addresses, isSecure: boolean): string {
  const address = (grpc ?? http ?? main).replace(/^(0\.0\.0\.0|\[::\])(?=:)/, '<host>')
  return [
    'an OpenTelemetry exporter sends its spans here with:',
    `  export OTEL_EXPORTER_OTLP_ENDPOINT=http${isSecure ? 's' : ''}://${address}`,
    `  export OTEL_EXPORTER_OTLP_PROTOCOL=${grpc === undefined ? 'http/protobuf' : 'grpc'}`,
    '  export OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20<key>,project_id=<entity>/<project>"',
  ].join('\n')
}

/** Addresses of the ports, from the settings. */
export function configuredAddresses(
  config: Pick<Config, 'host' | 'port' | 'otlpGrpcPort' | 'otlpHttpPort'>,
): Addresses {
  const { host, port, otlpGrpcPort: grpc, otlpHttpPort: http } = config
  return {
    main: addressOf(host, port),
    ...(grpc === undefined ? {} : { grpc: addressOf(host, grpc) }),
    ...(http === undefined ? {} : { http: addressOf(host, http) }),
  }
}

const otlpPaths = new Set(['/v1/traces', '/v1/logs', '/v1/metrics', '/ready'])
const portOf = (server: Server): number => (server.address() as AddressInfo).port

/**
 * Opens the ports that the settings name. A default port that is taken is a warning.
 * @throws Error with a line for the operator when a port that was asked for is taken
 */
export async function openOtlpPorts(deps: OtlpPortsDeps): Promise<OtlpPorts> {
  const { config, main, logger, tls } = deps
  const { host } = config
  const mainAddress = addressOf(host, portOf(main))
  const open: { grpc?: string; http?: string } = {}

  const listen = async (
    protocol: 'grpc' | 'http',
    setting: 'otlpGrpcPort' | 'otlpHttpPort',
    start: (port: number) => Promise<number>,
  ): Promise<boolean> => {
    const port = config[setting]
    if (port === undefined) return false
    try {
      open[protocol] = addressOf(host, await start(port))
      return true
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      const name = setting === 'otlpGrpcPort' ? 'CALLHOUSE_OTLP_GRPC_PORT' : 'CALLHOUSE_OTLP_HTTP_PORT'
      const why = code === 'EADDRINUSE' ? 'is in use' : `cannot be opened (${code})`
      if (config.given.has(setting)) throw new Error(`port ${port} ${why}; see ${name}`)
      logger.warn({ port, setting: name }, `port ${port} ${why}: OTLP is taken on ${mainAddress} only`)
      return false
    }
  }

  const taking = (event: 'request' | 'checkContinue') => (request: IncomingMessage, response: ServerResponse) => {
    const path = (request.url ?? '').replace(/\?.*$/, '')
    if (otlpPaths.has(path)) return void main.emit(event, request, response)
    request.resume()
    for (const [name, value] of securityHeaders(false)) response.setHeader(name, value)
    response.writeHead(404, { 'Content-Type': 'application/json' })
    response.end(
      JSON.stringify({ detail: `Not Found: this port takes OTLP alone; everything else is on ${mainAddress}` }),
    )
  }
  const http = createHttpServer(tls, deps.connections, taking('request'))
  http.on('checkContinue', taking('checkContinue'))
  const hasHttp = await listen('http', 'otlpHttpPort', (port) => listenOn(http, port, host))
  const grpc = createGrpcServer({
    ...deps,
    hint: () =>
      `This is the gRPC port. OTLP over HTTP: ${open.http === undefined ? '' : `${open.http} or `}${mainAddress}/otel`,
  })
  const close = async (limitMs: number): Promise<boolean> => {
    const outcomes: Promise<boolean>[] = []
    if (open.grpc !== undefined) outcomes.push(grpc.close(limitMs))
    if (hasHttp) outcomes.push(closeHttpServer(http, limitMs))
    return (await Promise.all(outcomes)).every(Boolean)
  }
  try {
    await listen('grpc', 'otlpGrpcPort', (port) => grpc.listen(port, host))
  } catch (error) {
    await close(0)
    throw error
  }
  return { ...open, close }
}
