// Evaluation objects over routes that answer what they are told to: the tables are behind, or a list is long.
import { describe, expect, it } from 'vitest'
import { refsReadBatchRequest } from '../../schemas/refs.ts'
import { createClock } from '../../services/core/clock/clock.ts'
import { Fault } from '../../services/core/http/errors.ts'
import { createInvoke } from '../../services/core/http/invoke.ts'
import type { Reply, Route } from '../../services/core/http/route.ts'
import { createEvaluationObjectRoutes } from '../../services/evaluation/objects/routes.ts'
import { createCall } from '../fixtures/route-call.ts'

const stale = { 'X-Callhouse-Stale': '350' }
const version = {
  object_id: 'x',
  digest: 'd',
  version_index: 0,
  created_at: '2026-01-05T00:00:00Z',
  kind: 'object',
  base_object_class: 'Dataset',
  is_latest: 1,
  size_bytes: 2,
  aliases: null,
}

/** The routes over others that answer what they are told to. */
function callOver(answers: Record<string, () => Reply>, method: Route['method'] = 'POST', more: Route[] = []) {
  const routes = Object.entries(answers).map(
    ([name, answer]): Route => ({
      name,
      method: 'GET',
      path: `/${name}`,
      right: 'any',
      summary: '',
      body: { type: 'none' },
      response: null,
      handle: async () => answer(),
    }),
  )
  const invoke = createInvoke({
    routes: () => [...routes, ...more],
    config: { maxBodyBytes: 1_000_000, maxJsonDepth: 100 },
  })
  const append = async () => ({ topic: 'objects' as const, partition: 0, offset: 7 })
  const own = createEvaluationObjectRoutes({ invoke, log: { append }, clock: createClock() })
  return createCall(own.filter((one) => one.method === method))
}

const params = { entity: 'e', project: 'p', object_id: 'x', digest: 'latest' }
const path = '/v2/{entity}/{project}/datasets'

describe('while the tables are behind', () => {
  it('a version whose number is not known yet is to be asked for again', async () => {
    const call = callOver({
      'tables.create': () => ({ json: { digest: 't' }, headers: { 'X-Callhouse-Position': 'tables=3' } }),
      'objects.create': () => ({ json: { digest: 'd' }, headers: { 'X-Callhouse-Position': 'objects=4' } }),
      'objects.read': () => {
        throw new Fault(404, { reason: 'not there' })
      },
    })
    const { status, headers, json } = await call(path, { json: { rows: [] } }, { params })
    expect([status, headers['Retry-After'], json]).toEqual([503, '1', { reason: expect.any(String) }])
  })

  it('a fault of what is written to is the answer', async () => {
    const call = callOver({
      'tables.create': () => {
        throw new Fault(429, { reason: 'too much' }, { 'Retry-After': '3' })
      },
    })
    const { status, headers, json } = await call(path, { json: { rows: [] } }, { params })
    expect([status, headers['Retry-After'], json]).toEqual([429, '3', { reason: 'too much' }])
  })

  it('positions of all writes are told together', async () => {
    const call = callOver({
      'files.create': () => ({ json: { digest: 'f' }, headers: { 'X-Callhouse-Position': 'files=3' } }),
      'tables.create': () => ({ json: { digest: 't' }, headers: { 'X-Callhouse-Position': 'tables=3' } }),
      'objects.create': () => ({ json: { digest: 'd' }, headers: { 'X-Callhouse-Position': 'objects=4' } }),
      'objects.read': () => ({ json: { obj: version }, headers: {} }),
    })
    const { status, headers, json } = await call(path, { json: { rows: [] } }, { params })
    expect([status, headers, json]).toEqual([
      200,
      { 'X-Callhouse-Position': 'tables=3,objects=4' },
      { object_id: 'Dataset', digest: 'd', version_index: 0 },
    ])
  })

  it('lists, versions and deletes say so', async () => {
    const value = '{"name":"x","rows":"r"}'
    const answers: Record<string, () => Reply> = {
      'objects.query': () => ({ json: { objs: [version] }, headers: stale }),
      'objects.read': () => ({
        jsonText: `{"obj":${JSON.stringify(version).slice(0, -1)},"val":${value}}}`,
        headers: stale,
      }),
      'refs.read_batch': () => ({ jsonText: `{"vals":[${value}]}` }),
      'objects.delete': () => ({ json: { num_deleted: 1 }, headers: stale }),
    }
    const shown = {
      object_id: 'x',
      digest: 'd',
      version_index: 0,
      created_at: '2026-01-05T00:00:00Z',
      name: 'x',
      description: null,
      rows: 'r',
    }
    const get = callOver(answers, 'GET')
    const list = await get(path, { json: null }, { params })
    expect([list.status, list.headers, list.json]).toEqual([200, stale, shown])
    const read = await get(`${path}/{object_id}/versions/{digest}`, { json: null }, { params })
    expect([read.status, read.headers, read.json]).toEqual([200, stale, shown])
    const removed = await callOver(answers, 'DELETE')(`${path}/{object_id}`, { json: null }, { params })
    expect([removed.headers, removed.json]).toEqual([stale, { num_deleted: 1 }])
  })
})

describe('a source', () => {
  it('that is longer than any program is left out, and not read to its end', async () => {
    const value = { _type: 'CustomWeaveType', files: { 'obj.py': 'f' } }
    const piece = Buffer.alloc(2 ** 20, 'x')
    const answers = (pieces: number, seen: { pieces: number }) => ({
      'objects.read': () => ({
        jsonText: `{"obj":${JSON.stringify({ ...version, kind: 'op', base_object_class: null, val: value })}}`,
      }),
      'files.content': () => ({
        contentType: 'application/octet-stream',
        bytes: (async function* () {
          for (; seen.pieces < pieces; seen.pieces++) yield piece
        })(),
      }),
    })
    const codeOf = async (pieces: number) => {
      const seen = { pieces: 0 }
      const ops = '/v2/{entity}/{project}/ops/{object_id}/versions/{digest}'
      const { status, json } = await callOver(answers(pieces, seen), 'GET')(ops, { json: null }, { params })
      return [status, (json as { code: string }).code.length, seen.pieces]
    }
    expect(await codeOf(2)).toEqual([200, 2 ** 21, 2])
    expect(await codeOf(100)).toEqual([200, 0, 16])
  })
})

describe('a long list', () => {
  it('is read in batches, in order and without what is deleted meanwhile', async () => {
    const versions = Array.from({ length: 450 }, (_, n) => ({
      ...version,
      object_id: `x${n}`,
      size_bytes: n === 300 ? 20_000_000 : 1_000,
    }))
    const asked: number[] = []
    const read: Route = {
      name: 'refs.read_batch',
      method: 'POST',
      path: '/refs',
      right: 'any',
      summary: '',
      body: { type: 'json', schema: refsReadBatchRequest, check: 'schema' },
      response: null,
      async handle({ input }) {
        const { refs } = input as { refs: string[] }
        asked.push(refs.length)
        return { json: { vals: refs.map((ref) => (ref.includes('/x7:') ? null : { name: ref.split(/[/:]/).at(-2) })) } }
      },
    }
    const get = callOver({ 'objects.query': () => ({ json: { objs: versions } }) }, 'GET', [read])
    const { bytes } = await get(path, { json: null }, { params })
    const names = bytes
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { name: string }).name)
    expect(names).toEqual(versions.map(({ object_id }) => object_id).filter((id) => id !== 'x7'))
    // A large value is read by itself.
    expect(asked).toEqual([200, 100, 1, 149])
  })
})
