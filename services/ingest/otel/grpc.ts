// OTLP over gRPC: which declared route takes the calls of which method, and the answer of the health check.
import type { GrpcMethod } from '../../core/grpc/server.ts'
import { GrpcError, grpcStatus } from '../../core/grpc/status.ts'
import type { Invoke } from '../../core/http/invoke.ts'
import { positionHeader } from '../../core/positions.ts'
import { integerField } from '../../core/protobuf.ts'
import { protobufType } from './reply.ts'

const serving = 1
const notServing = 2
const serviceOf = (signal: string): string =>
  `opentelemetry.proto.collector.${signal}.v1.${signal.replace(/^./, (letter) => letter.toUpperCase())}Service`

/** Signals that are taken, and the route of each. */
const signals = { trace: 'otel.traces', logs: 'otel.logs', metrics: 'otel.metrics' } as const

/** The methods by path: nothing after the decoder knows over what a request came. */
export function createOtelGrpcMethods(deps: {
  invoke: Pick<Invoke, 'reply'>
  isShuttingDown(): boolean
}): Record<string, GrpcMethod> {
  const methods: Record<string, GrpcMethod> = {
    '/grpc.health.v1.Health/Check': {
      name: 'grpc.health',
      withoutKey: true,
      async handle({ message }) {
        // HealthCheckRequest: field 1 is the name of a service, none = the whole server.
        const name = message.length > 2 ? message.toString('utf8', 2) : ''
        if (name !== '' && !Object.keys(signals).some((signal) => serviceOf(signal) === name))
          throw new GrpcError(grpcStatus.notFound, 'Unknown service')
        return { message: integerField(1, deps.isShuttingDown() ? notServing : serving) }
      },
    },
  }
  for (const [signal, route] of Object.entries(signals))
    methods[`/${serviceOf(signal)}/Export`] = {
      name: route,
      async handle({ message: bytes, caller, signal: until, requestId, header, clientIp }) {
        if (caller === undefined) throw new GrpcError(grpcStatus.unauthenticated, 'Missing or unknown credentials')
        const reply = await deps.invoke.reply(
          route,
          { bytes, contentType: protobufType },
          { caller, signal: until, requestId, header, clientIp: () => clientIp },
        )
        if (!('bytes' in reply) || !Buffer.isBuffer(reply.bytes)) throw new Error(`${route} does not answer bytes`)
        if (reply.status !== undefined && reply.status !== 200)
          throw new GrpcError(grpcStatus.invalidArgument, 'The message cannot be decoded')
        const position = reply.headers?.[positionHeader]
        const trailers = position === undefined ? {} : { [positionHeader.toLowerCase()]: position }
        return { message: reply.bytes, trailers }
      },
    }
  return methods
}
