// Reading objects back: versions, numbers, the latest pointer, deletion and fidelity, on the embedded store.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNameBinding } from '../../services/content/name-binding.ts'
import { createClock } from '../../services/core/clock/clock.ts'
import type { Freshness } from '../../services/core/log/freshness.ts'
import { objectContent } from '../../services/events/objects.ts'
import { createObjectWriteRoutes } from '../../services/ingest/objects/routes.ts'
import { createObjectReadRoutes } from '../../services/query/objects/routes.ts'
import { createMemoryLog, type MemoryLog } from '../fixtures/memory-log.ts'
import { type Call, createCall } from '../fixtures/route-call.ts'
import { createTestStore } from '../fixtures/store.ts'

const clock = createClock()
const freshness: Freshness = { wait: async () => ({}) }
let call: Call
let log: MemoryLog
let remove: () => Promise<void>

beforeAll(async () => {
  const opened = await createTestStore()
  remove = opened.remove
  log = createMemoryLog(opened.store)
  call = createCall([
    ...createObjectWriteRoutes({
      log,
      clock,
      binding: createNameBinding(async () => []),
      config: { allowPrivateNetworks: false },
    }),
    ...createObjectReadRoutes({ store: opened.store, freshness, config: { wirePrefix: 'wb' } }),
  ])
})
afterAll(() => remove())

const create = async (project_id: string, object_id: string, valText: string): Promise<string> => {
  const answer = await call('/obj/create', {
    jsonText: `{"obj":{"project_id":"${project_id}","object_id":"${object_id}","val":${valText}}}`,
  })
  expect(answer.status).toBe(200)
  return (answer.json as { digest: string }).digest
}

type Version = {
  digest: string
  version_index: number
  is_latest: number
  kind: string
  created_at: string
  val: unknown
}

const read = async (project_id: string, object_id: string, digest: string, more = {}) => {
  const { status, json, bytes } = await call('/obj/read', { json: { project_id, object_id, digest, ...more } })
  return { status, bytes, json, obj: (json as { obj: Version }).obj }
}

/** Events as the delete route writes them. */
const remove_ = (projectId: string, objectId: string, kind: 'op' | 'object', digest: string) => {
  const at = clock.next()
  const row = { project_id: projectId, object_id: objectId, kind, digest }
  const line = `${JSON.stringify(row).slice(0, -1)},"clock":${at},"event":"deleted","user_id":"d"}\n`
  return log.append('objects', [{ rows: Buffer.from(line), rowCount: 1, patchCount: 0, clock: at, key: objectId }])
}

describe('a version', () => {
  it('has every field of the record', async () => {
    const digest = await create('e/record', 'thing', '{"a":1.0,"ref":"weave:///e/p/object/x:abc"}')
    const { json } = await read('e/record', 'thing', digest)
    expect(json).toEqual({
      obj: {
        project_id: 'e/record',
        object_id: 'thing',
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z$/),
        deleted_at: null,
        digest,
        version_index: 0,
        is_latest: 1,
        kind: 'object',
        base_object_class: null,
        leaf_object_class: null,
        wb_user_id: 'tester',
        val: { a: 1, ref: 'weave:///e/p/object/x:abc' },
        size_bytes: null,
        tags: null,
        aliases: null,
      },
    })
  })
  it.each([
    '1.0',
    '123456789012345678901234567890',
    '"text \\"quoted\\" \\ud83d\\ude00 \\ud800 \\u0000"',
    'null',
    'true',
    '[]',
    '{"a":{"b":[1.50,1e5,{"c":"\\ud83d"}]},"a.b":2,"":null}',
    '{\n  "pretty" : [ 1.0,\r\n "two  spaces \\n" ]\n}',
  ])('comes back as it was sent: %s', async (text) => {
    const digest = await create('e/fidelity', 'x', text)
    const { bytes, obj } = await read('e/fidelity', 'x', digest)
    expect(obj.val).toEqual(JSON.parse(text))
    const sent = bytes.toString()
    expect(sent.slice(sent.indexOf('"val":') + 6, -2)).toBe(objectContent(text).val)
  })
  it('has an empty value when only metadata is asked for', async () => {
    const digest = await create('e/meta', 'x', '{"a":1}')
    expect((await read('e/meta', 'x', digest, { metadata_only: true })).obj.val).toEqual({})
  })
  it('of a builtin class tells its classes', async () => {
    const obj = { project_id: 'e/cls', object_id: 'l', val: { columns: [] }, builtin_object_class: 'Leaderboard' }
    const { json } = await call('/obj/create', { json: { obj } })
    expect((await read('e/cls', 'l', (json as { digest: string }).digest)).obj).toMatchObject({
      base_object_class: 'Leaderboard',
      leaf_object_class: 'Leaderboard',
    })
  })
  it('is found in its own project and under its own name only', async () => {
    const digest = await create('e/mine', 'x', '{"secret":1}')
    for (const [project, name] of [
      ['e/other', 'x'],
      ['e/mine', 'y'],
      ["e/mine' OR 1", 'x'],
    ] as const)
      for (const version of [digest, 'latest', 'v0']) expect((await read(project, name, version)).status).toBe(404)
  })
})

describe('numbers and the latest pointer', () => {
  it('follow the order of first creation through creation, deletion and revival', async () => {
    const at = ['e/seq', 'x'] as const
    const state = async (digest: string) => {
      const { status, obj } = await read(...at, digest)
      return status === 200 ? `v${obj.version_index}${obj.is_latest ? ' latest' : ''}` : 'gone'
    }
    const a = await create(...at, '"a"')
    const b = await create(...at, '"b"')
    const c = await create(...at, '"c"')
    const all = async () => [await state(a), await state(b), await state(c)]
    expect(await all()).toEqual(['v0', 'v1', 'v2 latest'])
    const first = (await read(...at, a)).obj.created_at
    await create(...at, '"a"')
    expect(await all()).toEqual(['v0 latest', 'v1', 'v2'])
    expect((await read(...at, a)).obj.created_at).toBe(first)
    expect((await read(...at, 'latest')).obj.digest).toBe(a)
    expect((await read(...at, 'v02')).obj.digest).toBe(c)

    await remove_(...at, 'object', a)
    expect(await all()).toEqual(['gone', 'v1', 'v2 latest'])
    const deleted = await read(...at, a)
    expect(deleted.json).toEqual({ reason: expect.any(String), deleted_at: expect.stringMatching(/Z$/) })
    expect((await read(...at, 'v0')).json).toHaveProperty('deleted_at')

    await create(...at, '"a"')
    expect(await all()).toEqual(['v0 latest', 'v1', 'v2'])
    expect((await read(...at, a)).obj.created_at > first).toBe(true)

    const op = await create(...at, '{"_type":"CustomWeaveType","weave_type":{"type":"Op"},"files":{}}')
    expect((await read(...at, op)).obj).toMatchObject({ kind: 'op', version_index: 0, is_latest: 1 })
    expect((await read(...at, 'v0')).obj.digest).toBe(a)
    expect(await all()).toEqual(['v0', 'v1', 'v2'])
  })
  it('tells when the last live version is deleted', async () => {
    const at = ['e/gone', 'x'] as const
    const a = await create(...at, '1')
    const b = await create(...at, '2')
    await remove_(...at, 'object', b)
    expect((await read(...at, 'latest')).obj.digest).toBe(a)
    await remove_(...at, 'object', a)
    expect(await read(...at, 'latest')).toMatchObject({ status: 404, json: { deleted_at: expect.any(String) } })
  })
  it('ignores events that are delivered again', async () => {
    const at = ['e/again', 'x'] as const
    const a = await create(...at, '1')
    await create(...at, '2')
    const before = (await read(...at, a)).json
    for (const line of log.lines('objects').filter((line) => line.includes('"e/again"')))
      await log.append('objects', [{ rows: Buffer.from(`${line}\n`), rowCount: 1, patchCount: 0, clock: 0n, key: 'x' }])
    expect((await read(...at, a)).json).toEqual(before)
  })
  it('are 404 for what is no version', async () => {
    await create('e/none', 'x', '1')
    for (const version of ['v1', 'v-1', 'v', 'v1x', 'v99999999999999999999', 'nope', '', 'LATEST'])
      expect(await read('e/none', 'x', version)).toMatchObject({ status: 404, json: { reason: expect.any(String) } })
    expect((await read('e/none', 'x', 'v1')).json).not.toHaveProperty('deleted_at')
  })
})
