// Tags, aliases and bound names of objects through a whole server.
// again: kafka
import { beforeAll, describe, expect, it } from 'vitest'
import type { RunningServer } from '../fixtures/live-server.ts'
import { sharedServer } from '../fixtures/shared-server.ts'

type Version = {
  digest: string
  version_index: number
  is_latest: number
  base_object_class: string | null
  tags: string[] | null
  aliases: string[] | null
}

let server: RunningServer
beforeAll(async () => {
  server = await sharedServer()
})

const project_id = 'e/labels'
const ask = async (method: string, path: string, body?: unknown) => {
  const response = await fetch(`${server.now().url}${path}`, {
    method,
    headers: { authorization: 'Bearer test-key' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, json: (await response.json()) as Record<string, unknown> }
}
const create = (object_id: string, val: unknown, more: Record<string, unknown> = {}) =>
  ask('POST', '/obj/create', { obj: { project_id, object_id, val, ...more } })
const made = async (...args: Parameters<typeof create>): Promise<string> => {
  const { status, json } = await create(...args)
  expect(json).toMatchObject({ digest: expect.any(String) })
  expect(status).toBe(200)
  return json.digest as string
}
const read = (object_id: string, digest: string) =>
  ask('POST', '/obj/read', { project_id, object_id, digest, include_tags_and_aliases: true })
const version = async (object_id: string, digest: string) => {
  const { obj } = (await read(object_id, digest)).json as { obj: Version }
  return { index: obj.version_index, tags: obj.tags, aliases: obj.aliases }
}
const tag = (object_id: string, digest: string, tags: string[], remove = '') =>
  ask(
    remove ? 'POST' : 'PUT',
    `/objs/${encodeURIComponent(object_id)}/versions/${encodeURIComponent(digest)}/tags${remove}`,
    { project_id, tags },
  )
const alias = (object_id: string, digest: string, aliases: string[]) =>
  ask('PUT', `/objs/${object_id}/aliases`, { project_id, digest, aliases })
const unalias = (object_id: string, aliases: string[]) =>
  ask('POST', `/objs/${object_id}/aliases/remove`, { project_id, aliases })
const list = async (filter: Record<string, unknown>, more = {}) =>
  ((await ask('POST', '/objs/query', { project_id, filter, ...more })).json as { objs: Version[] }).objs
const destroy = (object_id: string, digests: string[]) => ask('POST', '/obj/delete', { project_id, object_id, digests })

describe('tags', () => {
  it('are added, shown, filtered by, listed and removed', async () => {
    const first = await made('tagged', { n: 1 })
    const second = await made('tagged', { n: 2 })
    expect(await tag('tagged', first, ['reviewed', 'good one', 'reviewed'])).toEqual({ status: 200, json: {} })
    expect((await tag('tagged', 'latest', ['reviewed', 'größe'])).status).toBe(200)
    expect(await version('tagged', 'v0')).toEqual({ index: 0, tags: ['good one', 'reviewed'], aliases: [] })
    expect(await version('tagged', second)).toEqual({ index: 1, tags: ['größe', 'reviewed'], aliases: ['latest'] })
    expect((await list({ tags: ['reviewed'] })).map((v) => v.digest)).toEqual([first, second])
    expect((await list({ tags: ['good one', 'none'] })).map((v) => [v.digest, v.tags])).toEqual([[first, null]])
    const shown = await list({ object_ids: ['tagged'] }, { include_tags_and_aliases: true })
    expect(shown.map((v) => [v.tags, v.aliases])).toEqual([
      [['good one', 'reviewed'], []],
      [['größe', 'reviewed'], ['latest']],
    ])
    expect((await ask('GET', `/tags?project_id=${project_id}`)).json).toEqual({
      tags: ['good one', 'größe', 'reviewed'],
    })
    expect(await tag('tagged', first, ['reviewed', 'never set'], '/remove')).toEqual({ status: 200, json: {} })
    expect((await version('tagged', first)).tags).toEqual(['good one'])
    expect((await version('tagged', second)).tags).toEqual(['größe', 'reviewed'])
  })

  it('go with their version, also when it comes back', async () => {
    const digest = await made('gone', { n: 1 })
    await made('gone', { n: 2 })
    await tag('gone', digest, ['lost'])
    await alias('gone', digest, ['lost-alias'])
    expect((await destroy('gone', [digest])).status).toBe(200)
    expect(await list({ tags: ['lost'] })).toEqual([])
    expect((await ask('GET', `/tags?project_id=${project_id}`)).json.tags).not.toContain('lost')
    expect((await ask('GET', `/aliases?project_id=${project_id}`)).json.aliases).not.toContain('lost-alias')
    expect((await read('gone', 'lost-alias')).status).toBe(404)
    await made('gone', { n: 1 })
    expect(await version('gone', digest)).toEqual({ index: 0, tags: [], aliases: ['latest'] })
    await tag('gone', digest, ['back'])
    expect((await version('gone', digest)).tags).toEqual(['back'])
  })

  it.each([[''], [' a'], ['a '], ['a  b'], ['a.b'], ['a/b'], ['a\n'], ['x'.repeat(257)]])(
    '%j is refused with 400',
    async (bad) => {
      expect((await tag('tagged', 'v0', ['fine', bad])).status).toBe(400)
      expect((await version('tagged', 'v0')).tags).not.toContain('fine')
    },
  )

  it('need a version that lives, and a body', async () => {
    expect((await tag('nothing', 'latest', ['a'])).status).toBe(404)
    expect((await tag('tagged', 'v99', ['a'])).status).toBe(404)
    expect((await tag('tagged', 'v99', ['a'], '/remove')).status).toBe(404)
    expect((await tag('no/such:name\n', '../..', ['a'])).status).toBe(404)
    const gone = await destroy('gone', ['v1'])
    expect(gone.status).toBe(200)
    expect((await tag('gone', 'v1', ['a'])).json).toMatchObject({ deleted_at: expect.any(String) })
    expect((await ask('PUT', '/objs/tagged/versions/v0/tags', { project_id })).status).toBe(422)
    expect((await ask('PUT', '/objs/tagged/versions/v0/tags', { project_id: 'x', tags: [] })).status).toBe(400)
    expect((await ask('GET', '/tags')).status).toBe(422)
    expect((await ask('GET', '/aliases?project_id=x')).status).toBe(400)
    expect((await tag('tagged', 'v0', Array(1001).fill('a'))).status).toBe(400)
  })
})

describe('aliases', () => {
  it('name one version of an object, move, and are removed', async () => {
    const first = await made('named', { n: 1 })
    const second = await made('named', { n: 2 })
    await made('other', { n: 1 })
    expect(await alias('named', first, ['production', 'vintage'])).toEqual({ status: 200, json: {} })
    expect((await alias('other', 'v0', ['production'])).status).toBe(200)
    expect((await version('named', 'production')).index).toBe(0)
    expect((await version('other', 'production')).index).toBe(0)
    expect((await alias('named', 'v1', ['production'])).status).toBe(200)
    expect(await version('named', 'production')).toEqual({ index: 1, tags: [], aliases: ['latest', 'production'] })
    expect((await version('named', first)).aliases).toEqual(['vintage'])
    expect((await alias('named', 'vintage', ['old'])).status).toBe(200)
    expect((await version('named', 'old')).index).toBe(0)
    expect((await list({ object_ids: ['named'], aliases: ['production'] })).map((v) => v.digest)).toEqual([second])
    expect((await list({ object_ids: ['named'], aliases: ['latest', 'old'] })).map((v) => v.version_index)).toEqual([
      0, 1,
    ])
    expect((await list({ aliases: ['latest'], object_ids: ['named'] })).map((v) => v.digest)).toEqual([second])
    expect((await ask('GET', `/aliases?project_id=${project_id}`)).json).toEqual({
      aliases: ['old', 'production', 'vintage'],
    })
    expect(await unalias('named', ['production', 'old', 'absent'])).toEqual({ status: 200, json: {} })
    expect((await read('named', 'production')).status).toBe(404)
    expect((await version('other', 'production')).aliases).toEqual(['latest', 'production'])
  })

  it('do not come back when the version that they moved to is deleted', async () => {
    const first = await made('moved', { n: 1 })
    const second = await made('moved', { n: 2 })
    await alias('moved', first, ['prod'])
    await alias('moved', second, ['prod'])
    await destroy('moved', [second])
    expect((await read('moved', 'prod')).status).toBe(404)
    expect((await version('moved', first)).aliases).toEqual(['latest'])
  })

  it('leave texts that are no alias to digests', async () => {
    expect((await read('named', 'no such alias')).status).toBe(404)
    expect((await read('named', '')).status).toBe(404)
    expect((await read('named', 'v01')).status).toBe(200)
    const ref = `weave:///${project_id}/object/named:vintage`
    const { status, json } = await ask('POST', '/refs/read_batch', { refs: [ref] })
    expect([status, json.missing_object_digests]).toEqual([404, ['vintage']])
  })

  it.each([[''], ['  '], ['a/b'], ['a:b'], ['latest'], ['v1'], ['v007'], ['x'.repeat(129)]])(
    '%j is refused with 400',
    async (bad) => {
      expect((await alias('named', 'v0', ['fine', bad])).status).toBe(400)
      expect((await unalias('named', [bad])).status).toBe(400)
      expect((await read('named', 'fine')).status).toBe(404)
    },
  )

  it('need a version that lives', async () => {
    expect((await alias('nothing', 'latest', ['a'])).status).toBe(404)
    expect((await alias('named', 'v9', ['a'])).status).toBe(404)
    expect((await alias('named', 'v0', [])).status).toBe(200)
  })
})

describe('a bound name', () => {
  const leaderboard = (n: number) => ({ val: { name: String(n), columns: [] }, builtin_object_class: 'Leaderboard' })
  it('takes versions of its class only, until they are deleted', async () => {
    const { val, ...more } = leaderboard(1)
    const first = await made('board', val, more)
    expect(await create('board', { n: 1 })).toMatchObject({ status: 400, json: { reason: expect.any(String) } })
    expect((await create('board', { _bases: ['Object', 'BaseModel'], _class_name: 'Dataset' })).status).toBe(400)
    expect((await list({ object_ids: ['board'] })).map((v) => v.base_object_class)).toEqual(['Leaderboard'])
    const again = leaderboard(2)
    await made('board', again.val, again)
    await destroy('board', [first])
    expect((await create('board', { n: 1 })).status).toBe(400)
    await destroy('board', [])
    expect(await made('board', { n: 1 })).toMatch(/^\w{43}$/)
    expect((await create('board', again.val, again)).status).toBe(400)
    expect((await list({ object_ids: ['board'] })).map((v) => [v.version_index, v.base_object_class])).toEqual([
      [2, null],
    ])
  })

  it('is shared by an op and an object', async () => {
    const { val, ...more } = leaderboard(1)
    await made('shared', { _type: 'CustomWeaveType', weave_type: { type: 'Op' } })
    await made('shared', val, more)
    await made('shared', { _type: 'CustomWeaveType', weave_type: { type: 'Op' }, more: 1 })
  })

  it('has one class however many come at once', async () => {
    const { val, ...more } = leaderboard(1)
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => (n % 2 ? create('race', val, more) : create('race', { n }))),
    )
    const accepted = answers.flatMap(({ status }, n) => (status === 200 ? [n % 2] : []))
    expect(accepted).toHaveLength(5)
    expect(new Set(accepted).size).toBe(1)
    expect(new Set((await list({ object_ids: ['race'] })).map((v) => v.base_object_class)).size).toBe(1)
  })
})
