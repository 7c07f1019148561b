// tier: deep slow
// Rules that hold for all five kinds of evaluation objects: ids, versions, lists, reads, deletes and faults.
import { beforeAll, describe, expect, it } from 'vitest'
import type { RoleName } from '../../services/core/directory/roles.ts'
import { openKeys } from '../../services/core/http/keys.ts'
import { type Evaluations, evaluationsOf, type Json, type Kind } from '../fixtures/evaluation-objects.ts'
import type { RunningServer } from '../fixtures/live-server.ts'
import { sharedServer } from '../fixtures/shared-server.ts'

let server: RunningServer
beforeAll(async () => {
  server = await sharedServer()
})

const ref = 'weave:///acme/x/object/set:abc'
/** The least body of each kind, and one with other content under the same name. */
const bodies: Record<Kind, (name: string, content?: string) => Json> = {
  ops: (name, content = 'a') => ({ name, source_code: `def f(): return '${content}'` }),
  datasets: (name, content = 'a') => ({ name, rows: [{ content }] }),
  scorers: (name, content = 'a') => ({ name, op_source_code: `def score(): return '${content}'` }),
  evaluations: (name, content = 'a') => ({ name, dataset: ref, description: content }),
  models: (name, content = 'a') => ({ name, source_code: `class M: v = '${content}'` }),
}
const kinds = Object.keys(bodies) as Kind[]
const refOf = { scorers: 'scorer', evaluations: 'evaluation_ref', models: 'model_ref' } as Record<Kind, string>

const projects = new Map<string, string>()
/** Each test has a project of its own. */
const fresh = (name: string, key?: string): Evaluations => {
  const project = `acme/objects-${projects.size}-${name}`
  projects.set(name, project)
  return evaluationsOf(server, project, key)
}

describe.concurrent.each(kinds)('%s', (kind) => {
  const body = bodies[kind]

  it('are stored under a safe id, with numbered versions that can be read at once', async () => {
    const of = fresh(`${kind}-versions`)
    const first = await of.create(kind, body('My Nice/Thing (β) İ'))
    expect(first).toMatchObject({
      object_id: 'my_nice_thing_β_i',
      version_index: 0,
      digest: expect.stringMatching(/^\w{43}$/),
    })
    const second = await of.create(kind, body('My Nice/Thing (β) İ', 'b'))
    expect(second).toMatchObject({ object_id: first.object_id, version_index: 1 })
    const again = await of.create(kind, body('My Nice/Thing (β) İ'))
    expect(again).toEqual(first)
    if (refOf[kind] !== undefined) {
      const [, entity, project] = /\/v2\/(.+?)\/(.+?)\//.exec(`/v2/${projects.get(`${kind}-versions`)}/`) ?? []
      expect(first[refOf[kind]]).toBe(`weave:///${entity}/${project}/object/${first.object_id}:${first.digest}`)
    } else expect(Object.keys(first).sort()).toEqual(['digest', 'object_id', 'version_index'])

    for (const [version, expected] of [
      [first.digest, first],
      ['v0', first],
      ['v1', second],
      [second.digest, second],
      // The one that was created last, though not for the first time.
      ['latest', first],
    ]) {
      const { status, json } = await of.read(kind, first.object_id, version)
      expect([status, json.digest, json.version_index, json.object_id]).toEqual([
        200,
        expected.digest,
        expected.version_index,
        first.object_id,
      ])
      expect(json.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z$/)
    }
  })

  it('are listed from the oldest version, without deleted ones, in pages', async () => {
    const of = fresh(`${kind}-lists`)
    expect(await of.list(kind)).toEqual([])
    const made: Json[] = []
    for (const [name, content] of [
      ['b', '1'],
      ['a', '1'],
      ['b', '2'],
      ['c', '1'],
    ] as const)
      made.push(await of.create(kind, body(name, content)))
    const own = (await of.list(kind)).filter(({ object_id }) => ['a', 'b', 'c'].includes(object_id))
    const shown = (lines: Json[]) => lines.map(({ object_id, version_index }) => `${object_id}${version_index}`)
    const every = kind === 'ops' ? ['a0', 'b1', 'c0'] : ['b0', 'a0', 'b1', 'c0']
    expect(shown(own)).toEqual(every)
    for (const line of own) expect(line).toEqual((await of.read(kind, line.object_id, line.digest)).json)

    expect(shown(await of.list(kind, '?limit=2'))).toEqual(every.slice(0, 2))
    expect(shown(await of.list(kind, '?limit=2&offset=1'))).toEqual(every.slice(1, 3))
    expect(shown(await of.list(kind, '?offset=2'))).toEqual(every.slice(2))
    expect(shown(await of.list(kind, '?limit=+2&offset=1.0'))).toEqual(every.slice(1, 3))
    expect(shown(await of.list(kind, `?limit=2.0&offset=%2B1`))).toEqual(every.slice(1, 3))
    expect(shown(await of.list(kind, `?limit=${'9'.repeat(200)}`))).toEqual(every)
    expect(await of.list(kind, '?limit=0')).toEqual([])
    expect(await of.list(kind, '?offset=1000')).toEqual([])

    expect((await of.remove(kind, 'b', '?digests=v1')).json).toEqual({ num_deleted: 1 })
    expect(shown(await of.list(kind))).toEqual(['b0', 'a0', 'c0'])
    expect((await of.read(kind, 'b', 'latest')).json.digest).toBe(made[0]?.digest)
  })

  it('are deleted by version or as a whole, and live again when they are made again', async () => {
    const of = fresh(`${kind}-deletes`)
    const made: Json[] = []
    for (const content of ['1', '2', '3', '4']) made.push(await of.create(kind, body('x', content)))
    const [one, two] = made as [Json, Json]

    for (const query of ['?digests=none', `?digests=${one.digest}&digests=none`, `?digests=v0&digests=${one.digest}`]) {
      const refused = await of.remove(kind, 'x', query)
      expect([query, refused.status, refused.json]).toEqual([query, 404, { reason: expect.any(String) }])
    }
    expect((await of.read(kind, 'x', one.digest)).status).toBe(200)
    const many = `?${Array.from({ length: 101 }, (_, n) => `digests=v${n}`).join('&')}`
    expect((await of.remove(kind, 'x', many)).status).toBe(400)

    expect((await of.remove(kind, 'x', `?digests=${one.digest}&digests=v1`)).json).toEqual({ num_deleted: 2 })
    const gone = await of.read(kind, 'x', two.digest)
    expect([gone.status, gone.json]).toEqual([404, { reason: expect.any(String), deleted_at: expect.any(String) }])
    expect((await of.remove(kind, 'x')).json).toEqual({ num_deleted: 2 })
    expect((await of.remove(kind, 'x')).status).toBe(404)
    expect((await of.remove(kind, 'never')).status).toBe(404)
    const latest = await of.read(kind, 'x', 'latest')
    expect([latest.status, latest.json.deleted_at]).toEqual([404, expect.any(String)])
    expect((await of.list(kind)).filter(({ object_id }) => object_id === 'x')).toEqual([])

    expect(await of.create(kind, body('x', '2'))).toEqual(two)
    expect((await of.read(kind, 'x', 'latest')).json).toMatchObject({ digest: two.digest, version_index: 1 })
  })

  it('are refused when the request is wrong', async () => {
    const of = fresh(`${kind}-faults`)
    const statusOf = async (sent: unknown) => (await of.send('POST', kind, sent)).status
    for (const name of ['', '()', 'é'.repeat(129), `${'x'.repeat(129)}`])
      expect([name, await statusOf(body(name))]).toEqual([name, 400])
    const missing = await of.send('POST', kind, kind === 'ops' ? { name: 1 } : {})
    expect([missing.status, missing.json.detail[0].loc[0]]).toEqual([422, 'body'])
    expect(await statusOf([])).toBe(422)
    expect(await statusOf('{"name": NaN}')).toBe(422)
    // Keys that no one knows, and users that callers give themselves, do not count.
    const made = await of.create(kind, { ...body('mine'), platform_user_id: 'eve', wb_user_id: 'eve', more: 1 })
    expect((await of.read(kind, 'mine', made.digest)).text).not.toContain('eve')

    for (const [query, status, loc] of [
      ['?limit=x', 422, 'limit'],
      ['?limit=1.5', 422, 'limit'],
      ['?limit=', 422, 'limit'],
      ['?offset=true', 422, 'offset'],
      ['?limit=-1', 400, null],
      ['?offset=-1', 400, null],
    ] as const) {
      const { status: got, json } = await of.send('GET', kind + query)
      expect([query, got]).toEqual([query, status])
      expect(json).toEqual(
        loc === null ? { reason: expect.any(String) } : { detail: [expect.objectContaining({ loc: ['query', loc] })] },
      )
    }
    for (const version of ['latest', 'v7', 'v99999999999999999999', 'no-such-alias', 'a'.repeat(43)]) {
      const { status, json } = await of.read(kind, 'absent', version)
      expect([version, status, Object.keys(json)]).toEqual([version, 404, ['reason']])
    }
    expect((await of.read(kind, 'mine', 'v7')).status).toBe(404)
  })

  it('are one class under one id', async () => {
    const of = fresh(`${kind}-classes`)
    await of.create(kind, body('taken'))
    for (const other of kinds.filter((one) => one !== kind && one !== 'ops' && kind !== 'ops')) {
      const { status, json } = await of.send('POST', other, bodies[other]('taken'))
      expect([other, status, json]).toEqual([other, 400, { reason: expect.any(String) }])
      // Nor is one read, listed or deleted as another.
      expect((await of.read(other, 'taken', 'latest')).status).toBe(404)
      expect((await of.read(other, 'taken', 'v0')).status).toBe(404)
      expect((await of.remove(other, 'taken')).status).toBe(404)
      expect((await of.list(other)).map(({ object_id }) => object_id)).not.toContain('taken')
    }
    expect((await of.read(kind, 'taken', 'v0')).status).toBe(200)
  })
})

/** Rules that are the same for all kinds: one with files and one without are enough. */
describe.concurrent.each(['ops', 'datasets'] as const)('%s', (kind) => {
  const body = bodies[kind]

  it('are found by an alias, which goes with its version', async () => {
    const of = fresh(`${kind}-aliases`)
    const project_id = projects.get(`${kind}-aliases`)
    const first = await of.create(kind, body('x', '1'))
    await of.create(kind, body('x', '2'))
    const named = await fetch(`${server.now().url}/objs/x/aliases`, {
      method: 'PUT',
      headers: { authorization: `Bearer test-key` },
      body: JSON.stringify({ project_id, digest: first.digest, aliases: ['pro duction'] }),
    })
    expect(named.status).toBe(200)
    expect((await of.read(kind, 'x', 'pro duction')).json.digest).toBe(first.digest)
    // Aliases name no versions to delete.
    expect((await of.remove(kind, 'x', '?digests=pro%20duction')).status).toBe(404)
    await of.remove(kind, 'x', '?digests=v0')
    expect((await of.read(kind, 'x', 'pro duction')).status).toBe(404)
  })

  it('need the right to write, and to read', async () => {
    const name = `${kind}-rights`
    const of = fresh(name)
    const project = projects.get(name) as string
    await of.create(kind, body('x'))
    const keys = openKeys({ dataDir: server.dataDir, configured: [] })
    const holding = (role: RoleName, grants: '*' | string[] = '*') =>
      evaluationsOf(server, project, keys.create({ userId: `${role} of objects`, role, grants }).text)
    const statuses = async (one: Evaluations) => [
      (await one.send('POST', kind, body('x', 'y'))).status,
      (await one.send('GET', kind)).status,
      (await one.read(kind, 'x', 'latest')).status,
      (await one.remove(kind, 'x', '?digests=none')).status,
    ]
    expect(await statuses(holding('read'))).toEqual([403, 200, 200, 403])
    expect(await statuses(holding('ingest'))).toEqual([403, 403, 403, 403])
    expect(await statuses(holding('write', ['other']))).toEqual([403, 403, 403, 403])
    expect(await statuses(holding('write'))).toEqual([200, 200, 200, 404])
    expect(await statuses(evaluationsOf(server, project, 'unknown'))).toEqual([401, 401, 401, 401])
  })
})

describe.concurrent('paths', () => {
  it('name the project percent-encoded, in two parts', async () => {
    const of = evaluationsOf(server, 'acme%20inc/my%20project')
    const { model_ref, digest } = await of.create('models', bodies.models('m'))
    expect(model_ref).toBe(`weave:///acme inc/my project/object/m:${digest}`)
    expect(await of.list('models')).toHaveLength(1)
    expect(await of.list('ops')).toEqual([])
    expect((await of.read('models', 'm', digest)).status).toBe(200)
    for (const project of ['a%2Fb/p', 'a/p%2Fq', '%2F/p'])
      expect((await evaluationsOf(server, project).send('GET', 'models')).status).toBe(400)
    expect((await of.send('PUT', 'models', {})).status).toBe(405)
  })
})

describe.concurrent('an op and an object of one name', () => {
  it('are read, listed and deleted each as its own kind', async () => {
    const of = fresh('shared')
    const old = await of.create('ops', bodies.ops('same', '1'))
    const op = await of.create('ops', bodies.ops('same', '2'))
    const set = await of.create('datasets', bodies.datasets('same'))
    expect([set.version_index, op.version_index]).toEqual([0, 1])
    for (const version of ['latest', 'v0', set.digest])
      expect((await of.read('datasets', 'same', version)).json.digest).toBe(set.digest)
    for (const version of ['latest', 'v1', op.digest])
      expect((await of.read('ops', 'same', version)).json.digest).toBe(op.digest)
    expect((await of.read('ops', 'same', set.digest)).status).toBe(404)
    expect((await of.read('datasets', 'same', 'v1')).status).toBe(404)
    expect((await of.list('ops')).map(({ digest }) => digest)).toEqual([op.digest])
    expect((await of.list('datasets')).map(({ digest }) => digest)).toEqual([set.digest])

    expect((await of.remove('ops', 'same', `?digests=${set.digest}`)).status).toBe(404)
    expect((await of.remove('ops', 'same', `?digests=v0&digests=${old.digest}`)).status).toBe(404)
    expect((await of.remove('ops', 'same', '?digests=v0')).json).toEqual({ num_deleted: 1 })
    expect((await of.remove('ops', 'same')).json).toEqual({ num_deleted: 1 })
    expect((await of.read('datasets', 'same', 'latest')).json.digest).toBe(set.digest)
    expect((await of.remove('ops', 'same')).status).toBe(404)
  })
})
