// OTLP signals that are taken and not stored: exporters that send everything get an answer that tells them so, once.

import { z } from 'zod'
import { TooLongHere } from '../../core/errors.ts'
import { parseJson } from '../../core/http/json-check.ts'
import { type Reply, type Route, type RouteContext, route } from '../../core/http/route.ts'
import { isObject } from '../../core/json/objects.ts'
import { bytesField, countMessages, integerField, textField } from '../../core/protobuf.ts'
import { shortBytes } from './decode-json.ts'
import { protobufType, undecodableReply } from './reply.ts'
import { senderPaths } from './senders.ts'

type Signal = {
  /** Name of the route. */
  name: string
  signal: 'metrics'
  /** Member of the answer in JSON. */
  rejected: string
  /** Paths of the records in the request, in protobuf and in JSON. */
  fields: readonly (readonly number[])[]
  names: readonly (readonly string[])[]
}

const signals: readonly Signal[] = [
  {
    name: 'otel.metrics',
    signal: 'metrics',
    rejected: 'rejectedDataPoints',
    fields: [[1], [2], [2], [5, 7, 9, 10, 11], [1]],
    names: [
      ['resourceMetrics', 'resource_metrics'],
      ['scopeMetrics', 'scope_metrics'],
      ['metrics'],
      ['gauge', 'sum', 'histogram', 'exponentialHistogram', 'exponential_histogram', 'summary'],
      ['dataPoints', 'data_points'],
    ],
  },
]

/** Records at the end of the way, each list and each object on it being one or many. */
function countRecords(value: unknown, names: Signal['names']): number {
  let level: unknown[] = [value]
  for (const choices of names) {
    const next: unknown[] = []
    for (const one of level)
      if (isObject(one)) for (const choice of choices) for (const item of [one[choice] ?? []].flat()) next.push(item)
    level = next
  }
  return level.length
}

function answer(
  { signal, rejected, fields, names }: Signal,
  maxJsonDepth: number,
  { body, mayTakeLong }: RouteContext,
): Reply {
  const isJson = body.contentType === 'application/json'
  if (isJson && !mayTakeLong && body.bytes.length > shortBytes) throw new TooLongHere()
  let count: number
  try {
    count = isJson ? countRecords(parseJson(body.bytes, maxJsonDepth), names) : countMessages(body.bytes, fields)
  } catch (error) {
    if (isJson) throw error
    return undecodableReply(false, `Invalid ${signal} request: ${error instanceof Error ? error.message : ''}`)
  }
  const message = `${signal} are not stored`
  if (isJson)
    return { json: count === 0 ? {} : { partialSuccess: { [rejected]: String(count), errorMessage: message } } }
  const bytes =
    count === 0 ? Buffer.alloc(0) : bytesField(1, Buffer.concat([integerField(1, count), textField(2, message)]))
  return { bytes, contentType: protobufType }
}

export const notStoredRoutes = (maxJsonDepth: number): Route[] =>
  signals.map((one) =>
    route({
      name: one.name,
      method: 'POST',
      path: `/otel/v1/${one.signal}`,
      aliases: [`/v1/${one.signal}`, ...senderPaths[one.signal]],
      takesExporterKeys: true,
      withoutProject: true,
      topics: [],
      summary: `Accepts OTLP ${one.signal} without storing them`,
      body: { type: 'raw', contentTypes: [protobufType, 'application/json'] },
      response: z.object({
        partialSuccess: z.object({ [one.rejected]: z.string(), errorMessage: z.string() }).optional(),
      }),
      handle: async (context) => {
        return answer(one, maxJsonDepth, context)
      },
    }),
  )
