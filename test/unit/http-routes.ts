// Tiny routes of every body type, for the tests of the HTTP core.
import { z } from 'zod'
import { int, optional, text } from '../../schemas/coerce.ts'
import { fault } from '../../services/core/http/errors.ts'
import { type Route, route } from '../../services/core/http/route.ts'
import { StoreError } from '../../services/core/store/store.ts'

const item = z.object({ name: text(), count: optional(int()) })
const anyJson = z.unknown()
const none = { type: 'none' } as const
const declared = { right: 'read', summary: '', response: anyJson } as const

const failures: Record<string, () => unknown> = {
  timeout: () => new StoreError('timeout', 159, 'x'),
  memory: () => new StoreError('memory', 241, 'x'),
  outage: () => new StoreError('outage', 210, 'x'),
  crowd: () => new StoreError('outage', 202, 'x'),
  busy: () => new StoreError('busy', 202, 'x'),
  query: () => new StoreError('query', 47, "unknown identifier x in 'words of a caller \\' more' AND 'cut of a caller"),
  data: () => new StoreError('data', 27, 'x'),
  bug: () => new TypeError('hidden detail'),
  text: () => 'a thrown text',
  conflict: () => fault(409, 'differs', { expected: 'a' }),
}

export const routes: Route[] = [
  route({
    ...declared,
    name: 'item.echo',
    method: 'POST',
    path: '/item',
    aliases: ['/items/one'],
    body: { type: 'json', schema: item, check: 'schema' },
    handle: async ({ input }) => ({ json: input }),
  }),
  route({
    ...declared,
    name: 'item.count',
    method: 'POST',
    path: '/bytes',
    body: { type: 'json', schema: anyJson, check: 'handler' },
    handle: async ({ input, body }) => ({ json: { bytes: body.bytes.length, type: body.contentType, input } }),
  }),
  route({
    ...declared,
    name: 'raw.echo',
    method: 'POST',
    path: '/raw',
    body: { type: 'raw', contentTypes: ['application/x-protobuf'] },
    handle: async ({ body }) => ({ bytes: body.bytes, contentType: 'application/octet-stream' }),
  }),
  route({
    ...declared,
    name: 'upload.count',
    method: 'POST',
    path: '/upload',
    body: { type: 'stream', contentType: 'multipart/form-data' },
    async handle({ stream }) {
      let bytes = 0
      for await (const chunk of stream) bytes += (chunk as Buffer).length
      return { json: { bytes } }
    },
  }),
  route({
    ...declared,
    name: 'upload.unread',
    method: 'POST',
    path: '/unread',
    body: { type: 'stream', contentType: 'multipart/form-data' },
    handle: async () => ({ json: null }),
  }),
  route({
    ...declared,
    name: 'thing.read',
    method: 'GET',
    path: '/things/{id}',
    body: none,
    handle: async ({ params, query }) => ({ json: { params, query: [...query] } }),
  }),
  route({
    ...declared,
    name: 'thing.query',
    method: 'GET',
    path: '/things/query',
    body: none,
    handle: async () => ({ json: 'query' }),
  }),
  route({
    ...declared,
    name: 'rest.read',
    method: 'GET',
    path: '/rest/{path*}',
    body: none,
    handle: async ({ params }) => ({ json: params }),
  }),
  route({
    ...declared,
    name: 'big.read',
    method: 'GET',
    path: '/big',
    body: none,
    handle: async () => ({ json: { text: 'x'.repeat(5000) }, headers: { 'X-Callhouse-Position': 'calls=1' } }),
  }),
  route({
    ...declared,
    name: 'fail.read',
    method: 'GET',
    path: '/fail/{how}',
    body: none,
    async handle({ params }) {
      throw failures[params.how ?? '']?.()
    },
  }),
  route({
    ...declared,
    name: 'never.read',
    method: 'GET',
    path: '/never',
    body: none,
    handle: ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
  }),
]
