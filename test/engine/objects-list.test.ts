// Listing and deleting object versions, on the embedded store.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createNameBinding } from '../../services/content/name-binding.ts'
import { createClock } from '../../services/core/clock/clock.ts'
import { canonicalJson } from '../../services/core/json/canonical.ts'
import { objectContent, objectRecord } from '../../services/events/objects.ts'
import { createObjectWriteRoutes } from '../../services/ingest/objects/routes.ts'
import { createBaseClasses } from '../../services/query/objects/base-classes.ts'
import { createObjectDeleteRoutes } from '../../services/query/objects/delete.ts'
import { createObjectListRoutes } from '../../services/query/objects/query.ts'
import { createObjectReadRoutes } from '../../services/query/objects/routes.ts'
import { createMemoryLog, type MemoryLog } from '../fixtures/memory-log.ts'
import { noAudit } from '../fixtures/no-audit.ts'
import { type Call, createCall } from '../fixtures/route-call.ts'
import { createTestStore } from '../fixtures/store.ts'

const clock = createClock()
let call: Call
let log: MemoryLog
let remove: () => Promise<void>

beforeAll(async () => {
  const opened = await createTestStore()
  remove = opened.remove
  const { store } = opened
  log = createMemoryLog(store)
  const freshness = { wait: async () => ({}) }
  const config = { wirePrefix: 'wb', allowPrivateNetworks: false }
  const binding = createNameBinding(createBaseClasses({ store, freshness }))
  call = createCall([
    ...createObjectWriteRoutes({ log, clock, binding, config }),
    ...createObjectReadRoutes({ store, freshness, config }),
    ...createObjectListRoutes({ store, freshness, config }),
    ...createObjectDeleteRoutes({ store, log, clock, freshness, audit: noAudit }),
  ])
})
afterAll(() => remove())

type Version = { object_id: string; digest: string; version_index: number; is_latest: number; kind: string }

const create = async (project_id: string, object_id: string, val: unknown, more = {}): Promise<string> => {
  const answer = await call('/obj/create', { json: { obj: { project_id, object_id, val, ...more } } })
  expect(answer.status).toBe(200)
  return (answer.json as { digest: string }).digest
}
const list = async (project_id: string, more: Record<string, unknown> = {}): Promise<Version[]> => {
  const { status, json } = await call('/objs/query', { json: { project_id, ...more } })
  expect(status).toBe(200)
  return (json as { objs: Version[] }).objs
}
const labels = async (...args: Parameters<typeof list>) =>
  (await list(...args)).map(
    (v) => `${v.kind === 'op' ? 'op ' : ''}${v.object_id} v${v.version_index}${v.is_latest ? '*' : ''}`,
  )
const destroy = (project_id: string, object_id: string, digests?: string[] | null) =>
  call('/obj/delete', { json: { project_id, object_id, digests } })
const op = { _type: 'CustomWeaveType', weave_type: { type: 'Op' } }

describe('list', () => {
  const project = 'e/list'
  beforeAll(async () => {
    await create(project, 'b', { n: 1 })
    await create(project, 'a', { n: 1 })
    await create(project, 'b', { n: 2 })
    await create(project, 'f', op)
    await create(project, 'board', { columns: [] }, { builtin_object_class: 'Leaderboard' })
    await create(project, 'm', { _class_name: 'Mine', _bases: ['Model', 'Object', 'BaseModel'] })
    await create(project, 'dead', 1)
    await destroy(project, 'dead')
    await create('e/list-other', 'x', 1)
  })

  it('shows live versions in order of creation', async () => {
    const all = ['b v0', 'a v0*', 'b v1*', 'op f v0*', 'board v0*', 'm v0*']
    expect(await labels(project)).toEqual(all)
    const nulls = { filter: null, limit: null, offset: null, sort_by: null, metadata_only: null }
    expect(await labels(project, nulls)).toEqual(all)
    expect(await labels('e/list-none')).toEqual([])
  })
  it.each([
    [{ object_ids: ['b', 'dead', 'nope'] }, ['b v0', 'b v1*']],
    [{ object_ids: [], is_op: null }, ['b v0', 'a v0*', 'b v1*', 'op f v0*', 'board v0*', 'm v0*']],
    [{ latest_only: true }, ['a v0*', 'b v1*', 'op f v0*', 'board v0*', 'm v0*']],
    [{ latest_only: false, object_ids: ['b'] }, ['b v0', 'b v1*']],
    [{ is_op: true }, ['op f v0*']],
    [{ is_op: false, latest_only: true }, ['a v0*', 'b v1*', 'board v0*', 'm v0*']],
    [{ base_object_classes: ['Leaderboard', 'Model'] }, ['board v0*', 'm v0*']],
    [{ leaf_object_classes: ['Mine'] }, ['m v0*']],
    [{ exclude_base_object_classes: ['Leaderboard'] }, ['b v0', 'a v0*', 'b v1*', 'op f v0*', 'm v0*']],
    [{ tags: ['x'] }, []],
    [{ tags: [], aliases: ['x'] }, []],
    [{ aliases: ['x', 'latest'], object_ids: ['b'] }, ['b v1*']],
  ])('%j', async (filter, expected) => {
    expect(await labels(project, { filter })).toEqual(expected)
  })
  it('sorts and pages', async () => {
    const by = (...terms: string[]) =>
      terms.map((term) => ({ field: term.slice(1), direction: term[0] === '-' ? 'desc' : 'asc' }))
    const filter = { object_ids: ['a', 'b', 'f'] }
    expect(await labels(project, { filter, sort_by: by('+object_id') })).toEqual(['a v0*', 'b v0', 'b v1*', 'op f v0*'])
    expect(await labels(project, { filter, sort_by: by('-object_id', '+size') })).toEqual([
      'op f v0*',
      'b v0',
      'b v1*',
      'a v0*',
    ])
    expect(await labels(project, { filter, sort_by: by('-created_at') })).toEqual([
      'op f v0*',
      'b v1*',
      'a v0*',
      'b v0',
    ])
    expect(await labels(project, { filter, sort_by: by('+unknown'), limit: 2, offset: 1 })).toEqual(['a v0*', 'b v1*'])
    expect(await labels(project, { limit: 0 })).toEqual([])
    expect(await labels(project, { offset: 100 })).toEqual([])
  })
  it('refuses negative bounds with 400 and other directions with 422', async () => {
    const status = async (more: object) =>
      (await call('/objs/query', { json: { project_id: project, ...more } })).status
    expect(await status({ limit: -1 })).toBe(400)
    expect(await status({ offset: -1 })).toBe(400)
    expect(await status({ sort_by: [{ field: 'object_id', direction: 'up' }] })).toBe(422)
  })
  it('shows the record that reading one shows', async () => {
    const [listed] = await list(project, { filter: { object_ids: ['m'] } })
    const asked = { project_id: project, object_id: 'm', digest: 'latest' }
    expect({ obj: listed }).toEqual((await call('/obj/read', { json: asked })).json)
  })
  it('shows sizes, tags and metadata only, when asked', async () => {
    const filter = { object_ids: ['b'] }
    const [full] = await list(project, { filter, include_storage_size: true, include_tags_and_aliases: true })
    const size_bytes = canonicalJson('{"n":1}').length
    expect(full).toMatchObject({ val: { n: 1 }, size_bytes, tags: [], aliases: [] })
    const [light] = await list(project, { filter, metadata_only: true })
    expect(light).toMatchObject({ val: {}, size_bytes: null, tags: null, aliases: null, wb_user_id: 'tester' })
  })
  it('shows a re-created version with its old number and a new time', async () => {
    const at = 'e/list-revive'
    await create(at, 'x', 1)
    await create(at, 'x', 2)
    await destroy(at, 'x', ['v0'])
    await create(at, 'x', 1)
    expect(await labels(at)).toEqual(['x v1', 'x v0*'])
  })
  it('keeps values of thousands of versions apart', async () => {
    const at = 'e/list-many'
    const count = 2_500
    const records = Array.from({ length: count }, (_, i) =>
      objectRecord({
        ...objectContent(`{"i":${i}}`),
        projectId: at,
        objectId: `o${i % 50}`,
        kind: 'object',
        clock: clock.next(),
        userId: 'u',
        baseClass: '',
        leafClass: '',
        refs: [],
      }),
    )
    await log.append('objects', records)
    const objs = (await list(at, { limit: null })) as (Version & { val: { i: number } })[]
    expect(new Set(objs.map((o) => o.val.i)).size).toBe(count)
    expect(objs.every((o) => o.object_id === `o${o.val.i % 50}`)).toBe(true)
  })
})

describe('delete', () => {
  it('takes every version of the name without a list', async () => {
    const at = 'e/delete-all'
    const leaderboard = { builtin_object_class: 'Leaderboard' }
    const one = await create(at, 'x', { columns: [], name: 'one' }, leaderboard)
    const two = await create(at, 'x', { columns: [] }, leaderboard)
    const three = await create(at, 'x', op)
    await create(at, 'y', 1)
    const answer = await destroy(at, 'x', [])
    expect(answer.json).toEqual({
      num_deleted: 3,
      deleted_versions: [
        { digest: one, base_object_class: 'Leaderboard', leaf_object_class: 'Leaderboard' },
        { digest: two, base_object_class: 'Leaderboard', leaf_object_class: 'Leaderboard' },
        { digest: three, base_object_class: null, leaf_object_class: null },
      ],
    })
    expect(answer.headers['X-Callhouse-Position']).toMatch(/^objects=\d+$/)
    expect(await labels(at)).toEqual(['y v0*'])
    expect((await destroy(at, 'x', null)).status).toBe(404)
  })
  it('takes digests, numbers and latest; numbers stay, latest falls back', async () => {
    const at = 'e/delete-some'
    const [a] = [
      await create(at, 'x', 'a'),
      await create(at, 'x', 'b'),
      await create(at, 'x', 'c'),
      await create(at, 'x', 'd'),
    ]
    expect((await destroy(at, 'x', ['latest'])).json).toMatchObject({ num_deleted: 1 })
    expect(await labels(at)).toEqual(['x v0', 'x v1', 'x v2*'])
    expect((await destroy(at, 'x', [a, 'v1', a])).json).toMatchObject({ num_deleted: 2 })
    expect(await labels(at)).toEqual(['x v2*'])
    const gone = await call('/obj/read', { json: { project_id: at, object_id: 'x', digest: a } })
    expect(gone).toMatchObject({ status: 404, json: { deleted_at: expect.stringMatching(/Z$/) } })
  })
  it.each([
    ['an unknown digest', ['nope']],
    ['a known and an unknown one', ['v0', 'nope']],
    ['a number that no version has', ['v7']],
    ['one version twice', ['v1', 'latest']],
    ['a number beyond all', ['v99999999999999999999']],
  ])('of %s is 404 and deletes nothing', async (_, digests) => {
    const at = 'e/delete-none'
    await create(at, 'x', 1)
    await create(at, 'x', 2)
    const appends = log.appends()
    expect((await destroy(at, 'x', digests)).status).toBe(404)
    expect(log.appends()).toBe(appends)
  })
  it('of more than 100 entries is 400', async () => {
    expect((await destroy('e/delete-many', 'x', Array(101).fill('v0'))).status).toBe(400)
  })
  it('stays inside the project', async () => {
    await create('e/delete-here', 'x', 1)
    expect((await destroy('e/delete-there', 'x', ['latest'])).status).toBe(404)
    expect(await labels('e/delete-here')).toEqual(['x v0*'])
  })
})
