// OTLP over gRPC: which declared route takes the calls of which method, and the answer of the health check.
import type { GrpcMethod } from '../../core/grpc/server.ts'
import { GrpcError, grpcStatus } from '../../core/grpc/status.ts'
import type { Route } from '../../core/http/route.ts'
import { positionHeader } from '../../core/log/positions.ts'
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
  routes: readonly Route[]
  isShuttingDown(): boolean
}): Record<string, GrpcMethod> {
  const methods: Record<string, GrpcMethod> = {
    '/grpc.health.v1.Health/Check': {
      name: 'grpc.health.v1.Health/Check',
      answer(message) {
        // HealthCheckRequest: field 1 is the name of a service, none = the whole server.
        const name = message.length > 2 ? message.toString('utf8', 2) : ''
        if (name !== '' && !Object.keys(signals).some((signal) => serviceOf(signal) === name))
          throw new GrpcError(grpcStatus.notFound, 'Unknown service')
        return { message: integerField(1, deps.isShuttingDown() ? notServing : serving) }
      },
    },
  }
  for (const [signal, routeName] of Object.entries(signals)) {
    const route = deps.routes.find(({ name }) => name === routeName)
    if (route === undefined) throw new Error(`No route is named ${routeName}`)
    const name = `${serviceOf(signal)}/Export`
    methods[`/${name}`] = {
      name,
      route,
      contentType: protobufType,
      answerOf(reply) {
        if (!('bytes' in reply) || !Buffer.isBuffer(reply.bytes)) throw new Error(`${routeName} does not answer bytes`)
        if (reply.status !== undefined && reply.status !== 200)
          throw new GrpcError(grpcStatus.invalidArgument, 'The message cannot be decoded')
        const position = reply.headers?.[positionHeader]
        const trailers = position === undefined ? {} : { [positionHeader.toLowerCase()]: position }
        return { message: reply.bytes, trailers }
      },
    }
  }
  return methods
}
