// The OpenAPI 3.1 document, generated from the declared routes.
import { z } from 'zod'
import { forEachYielding } from '../concurrency/yielding.ts'
import type { Route } from './route.ts'

type Json = Record<string, unknown>

const schemaOf = (schema: z.ZodType, io: 'input' | 'output'): Json => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any', target: 'draft-2020-12' })
  return rest
}

const placeholders = (path: string) => [...path.matchAll(/\{(\w+)\*?\}/g)].map((match) => match[1] as string)

function requestBody({ body }: Route): Json | undefined {
  switch (body.type) {
    case 'none':
      return undefined
    case 'json':
      return { required: !body.optional, content: { 'application/json': { schema: schemaOf(body.schema, 'input') } } }
    case 'raw':
      return { required: true, content: Object.fromEntries(body.contentTypes.map((type) => [type, {}])) }
    case 'stream':
      return { required: true, content: { [body.contentType]: {} } }
    default:
      return body satisfies never
  }
}

function queryParameters({ query }: Route): Json[] {
  if (query === undefined) return []
  const { properties = {}, required = [] } = schemaOf(query, 'input') as { properties?: Json; required?: string[] }
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }))
}

function operation(route: Route, id: string): Json {
  const json = { 'application/json': { schema: route.response === null ? {} : schemaOf(route.response, 'output') } }
  const line = route.line === undefined ? {} : { schema: schemaOf(route.line, 'output') }
  const content = route.responseType === undefined ? json : { [route.responseType]: line }
  const body = requestBody(route)
  return {
    operationId: id,
    summary: route.summary,
    tags: [route.name.split('.', 1)[0]],
    parameters: [
      ...placeholders(route.path).map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
      ...queryParameters(route),
    ],
    ...(body === undefined ? {} : { requestBody: body }),
    responses: {
      200: { description: 'Success', content },
      ...(body === undefined ? {} : { 422: { $ref: '#/components/responses/Invalid' } }),
      default: { $ref: '#/components/responses/Fault' },
    },
    security: route.right === 'none' || route.keyOf !== undefined ? [] : [{ basic: [] }, { bearer: [] }],
  }
}

const components = {
  securitySchemes: { basic: { type: 'http', scheme: 'basic' }, bearer: { type: 'http', scheme: 'bearer' } },
  responses: {
    Fault: {
      description: 'Refused or failed',
      content: { 'application/json': { schema: schemaOf(z.object({ reason: z.string() }), 'output') } },
    },
    Invalid: {
      description: 'Invalid request',
      content: {
        'application/json': {
          schema: schemaOf(
            z.object({
              detail: z.array(
                z.object({ loc: z.array(z.union([z.string(), z.int()])), msg: z.string(), type: z.string() }),
              ),
            }),
            'output',
          ),
        },
      },
    },
  },
}

/** The document of the routes under their first path and under each alias; others have their turn while it is made. */
export async function openapiDocument(routes: readonly Route[], version: string): Promise<Json> {
  const paths: Record<string, Json> = {}
  await forEachYielding(routes, (route) => {
    for (const [index, path] of [route.path, ...(route.aliases ?? [])].entries()) {
      const shown = path.replaceAll('*}', '}')
      paths[shown] ??= {}
      const id = index === 0 ? route.name : `${route.name}.${index}`
      const described = paths[shown] as Json
      described[route.method.toLowerCase()] = operation(route, id)
    }
  })
  return { openapi: '3.1.0', info: { title: 'Callhouse', version }, paths, components }
}
