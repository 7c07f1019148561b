// Reading refs in batches: which refs, paths through values, tables and other refs, and what is missing.
// again: kafka

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createNameBinding } from '../../services/content/name-binding.ts'
import { createClock } from '../../services/core/clock/clock.ts'
import { valueDigest } from '../../services/events/digest.ts'
import { createObjectWriteRoutes } from '../../services/ingest/objects/routes.ts'
import { createTableWriteRoutes } from '../../services/ingest/tables/routes.ts'
import { createObjectDeleteRoutes } from '../../services/query/objects/delete.ts'
import { createRefReadRoutes } from '../../services/query/refs/routes.ts'
import { createMemoryLog } from '../fixtures/memory-log.ts'
import { noAudit } from '../fixtures/no-audit.ts'
import { type Call, createCall } from '../fixtures/route-call.ts'
import { createTestStore } from '../fixtures/store.ts'

let call: Call
let statements = 0
let remove: () => Promise<void>

beforeAll(async () => {
  const opened = await createTestStore()
  remove = opened.remove
  const { store } = opened
  const { rows } = store
  store.rows = (...args) => {
    statements++
    return rows(...args)
  }
  const log = createMemoryLog(store)
  const clock = createClock()
  const freshness = { wait: async () => ({}) }
  call = createCall([
    ...createObjectWriteRoutes({
      log,
      clock,
      binding: createNameBinding(async () => []),
      config: { allowPrivateNetworks: false },
    }),
    ...createTableWriteRoutes({ log, clock }),
    ...createObjectDeleteRoutes({ store, log, clock, freshness, audit: noAudit }),
    ...createRefReadRoutes({ store, freshness }),
  ])
})
afterAll(() => remove())

const project = 'e/refs'
/** Creates an object and returns its ref. */
const object = async (name: string, valText: string, project_id = project): Promise<string> => {
  const answer = await call('/obj/create', {
    jsonText: `{"obj":{"project_id":"${project_id}","object_id":"${name}","val":${valText}}}`,
  })
  expect(answer.status).toBe(200)
  return `weave:///${project_id}/object/${name}:${(answer.json as { digest: string }).digest}`
}
const table = async (rows: string[]): Promise<string> => {
  const jsonText = `{"table":{"project_id":"${project}","rows":[${rows.join(',')}]}}`
  const { json } = await call('/table/create', { jsonText })
  return `weave:///${project}/table/${(json as { digest: string }).digest}`
}
const read = (refs: unknown, options?: { may?: (project: string) => boolean }) =>
  call('/refs/read_batch', { json: { refs } }, options)
const values = async (...refs: string[]) => {
  const { status, json } = await read(refs)
  expect(status).toBe(200)
  return (json as { vals: unknown[] }).vals
}
const digestOf = (ref: string) => ref.slice(ref.lastIndexOf(':') + 1)
const none = valueDigest('"never stored"')

beforeEach(() => {
  statements = 0
})

describe('values', () => {
  it('come in the order of the request, repeated ones each, as they were stored', async () => {
    const one = await object('one', '{"n":1.0,"big":12345678901234567890}')
    const two = await object('two', '"text"')
    const { bytes } = await read([two, one, two])
    expect(bytes.toString()).toBe('{"vals":["text",{"n":1.0,"big":12345678901234567890},"text"]}')
  })
  it('of an empty list are an empty list', async () => {
    expect(await read([])).toMatchObject({ status: 200, json: { vals: [] } })
  })
  it('are found whatever kind the ref names', async () => {
    const ref = await object('kind', '1')
    expect(await values(ref.replace('/object/', '/op/'))).toEqual([1])
  })
  it('of several projects come together', async () => {
    const one = await object('x', '1', 'e/refs-a')
    const two = await object('x', '2', 'e/refs-b')
    expect(await values(one, two, one)).toEqual([1, 2, 1])
  })
  it('of a thousand refs take few statements', async () => {
    const inner = await object('inner', '{"v":[10,20]}')
    const outer = await object('outer', `{"to":"${inner}"}`)
    const refs = Array.from({ length: 1_000 }, (_, i) => `${outer}/attr/to/key/v/index/${i % 2}`)
    statements = 0
    expect(new Set(await values(...refs))).toEqual(new Set([10, 20]))
    expect(statements).toBe(4)
    expect((await read([...refs, outer])).status).toBe(400)
  })
})

describe('paths', () => {
  it('go through members and items', async () => {
    const ref = await object('path', '{"a":{"b c/é":[1,[2,3],null]},"":4,"n":null,"s":"text","__proto__":{"x":5}}')
    const expected: [string, unknown][] = [
      ['/attr/a/key/b%20c%2F%C3%A9/index/0', 1],
      ['/key/a/attr/b%20c%2F%C3%A9/index/1/index/-1', 3],
      ['/attr/a/attr/b%20c%2F%C3%A9/index/-3', 1],
      ['/attr/a/attr/b%20c%2F%C3%A9/index/3', null],
      ['/attr/a/attr/b%20c%2F%C3%A9/index/-4', null],
      ['/attr/a/attr/b%20c%2F%C3%A9/index/2/attr/x', null],
      ['/attr/n/id/x', null],
      ['/attr/none/index/0', null],
      ['/attr/toString', null],
      ['/attr/__proto__/attr/x', 5],
      ['/index/0', null],
      ['/attr/a/index/0', null],
      ['/attr/s/attr/length', null],
      ['/attr/s/', 'text'],
    ]
    expect(await values(...expected.map(([path]) => ref + path))).toEqual(expected.map(([, value]) => value))
  })
  it('go on behind refs inside the value', async () => {
    const leaf = await object('leaf', '{"x":{"y":[7]}}')
    const middle = await object('middle', `{"to":"${leaf}/attr/x"}`)
    const top = await object('top', `{"list":["${middle}/attr/to"]}`)
    expect(
      await values(`${top}/attr/list/index/0/attr/y/index/0`, `${top}/attr/list/index/0`, `${middle}/attr/to`),
    ).toEqual([7, `${middle}/attr/to`, `${leaf}/attr/x`])
  })
  it('stop at other projects, and show their refs as text', async () => {
    const other = await object('foreign', '{"secret":1}', 'e/refs-other')
    const ref = await object('across', `{"to":"${other}","call":"weave:///${project}/call/1","bad":"weave:///x"}`)
    expect(await values(`${ref}/attr/to`, `${ref}/attr/to/attr/secret`)).toEqual([other, null])
    expect(await values(`${ref}/attr/call/attr/id`, `${ref}/attr/bad/attr/x`)).toEqual([null, null])
  })
  it('end after 32 refs', async () => {
    const deep = await object('deep', `{"to":{"v":"end"}}`)
    const links = [deep]
    for (let i = 0; i < 33; i++) links.push(await object('deep', `{"to":"${links.at(-1)}/attr/to","i":${i}}`))
    expect(await values(`${links[32]}/attr/to/attr/v`, `${links[33]}/attr/to/attr/v`)).toEqual(['end', null])
  })
  it('lead to rows of a table', async () => {
    const rows = await table(['{"q":"a","n":{"m":1}}', '{"q":"b"}'])
    const dataset = await object('dataset', `{"rows":"${rows}"}`)
    const [a, b] = ['{"q":"a","n":{"m":1}}', '{"q":"b"}'].map(valueDigest)
    expect(
      await values(
        `${dataset}/attr/rows/id/${a}`,
        `${dataset}/attr/rows/id/${a}/key/n/key/m`,
        `${dataset}/attr/rows/id/${b}/attr/q`,
      ),
    ).toEqual([{ q: 'a', n: { m: 1 } }, 1, 'b'])
    expect((await read([`${dataset}/attr/rows/index/0`])).status).toBe(400)
    expect((await read([`${dataset}/id/${a}`])).status).toBe(400)
    await table(['{"elsewhere":1}'])
    const strange = valueDigest('{"elsewhere":1}')
    expect(await read([`${dataset}/attr/rows/id/${b}`, `${dataset}/attr/rows/id/${strange}`])).toMatchObject({
      status: 404,
      json: { missing_object_digests: [strange] },
    })
  })
})

describe('faults', () => {
  it.each([
    'text',
    '',
    'weave:///e/refs',
    'weave:///e/refs/object/x',
    'weave:///e/refs/thing/x:y',
    'weave:///e/refs/object/x:latest',
    `weave:///e/refs/object/x:${none}/attr`,
    `weave:///e/refs/object/x:${none}/index/one`,
    `weave:///e/refs/object/x:${none}/edge/a`,
    'weave:///e/refs/table/abc',
    'weave:///e/refs/call/abc',
    'weave-trace-internal:///i/object/x:y',
    'wandb-artifact:///e/p/x',
  ])('%s is 400', async (ref) => {
    expect((await read([await object('good', '1'), ref])).status).toBe(400)
  })
  it.each([['text'], [[1]], [[null]], [null]])('%j instead of refs is 422', async (refs) => {
    expect((await read(refs)).status).toBe(422)
  })
  it('missing objects are listed, sorted and once, for the whole batch', async () => {
    const good = await object('good', '1')
    const other = valueDigest('"also never"')
    const refs = [
      `weave:///${project}/object/x:${none}`,
      good,
      good.replace('/good:', '/other:'),
      `weave:///${project}/object/x:${other}/attr/a`,
      `weave:///${project}/object/y:${none}`,
      `weave:///${project}/object/good:v0`,
    ]
    expect(await read(refs)).toMatchObject({
      status: 404,
      json: { reason: expect.any(String), missing_object_digests: [digestOf(good), none, other, 'v0'].sort() },
    })
  })
  it('a project without permission looks like one without the object', async () => {
    const mine = await object('good', '1')
    const hidden = await object('hidden', '2', 'e/refs-hidden')
    const may = (name: string) => name !== 'e/refs-hidden'
    expect(await read([mine, hidden], { may })).toMatchObject({
      status: 404,
      json: { missing_object_digests: [digestOf(hidden)] },
    })
  })
  it('deleted objects read as null, with any path, and come back with a new creation', async () => {
    const ref = await object('gone', '{"a":1}')
    const inside = await object('holder', `{"to":"${ref}"}`)
    const asked = [ref, `${ref}/attr/a`, `${ref}/id/x`, `${inside}/attr/to/attr/a`]
    const { status } = await call('/obj/delete', { json: { project_id: project, object_id: 'gone', digests: null } })
    expect(status).toBe(200)
    expect(await values(...asked)).toEqual([null, null, null, null])
    await object('gone', '{"a":1}')
    expect(await values(ref, asked[1] as string)).toEqual([{ a: 1 }, 1])
  })
})
