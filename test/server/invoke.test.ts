// Declared routes run inside the process: they answer what they answer over HTTP, to the same callers.
import { beforeAll, describe, expect, it } from 'vitest'
import type { RoleName } from '../../services/core/directory/roles.ts'
import { Fault } from '../../services/core/http/errors.ts'
import type { KeyHolder } from '../../services/core/http/holder.ts'
import { createInvoke, type Invoke, type InvokeCaller } from '../../services/core/http/invoke.ts'
import { type Keys, openKeys } from '../../services/core/http/keys.ts'
import { basicAuth, post } from '../fixtures/child-server.ts'
import type { RunningServer } from '../fixtures/live-server.ts'
import { sharedServer } from '../fixtures/shared-server.ts'

const project_id = 'acme/invoke'

let live: RunningServer
let keys: Keys
let invoke: Invoke
beforeAll(async () => {
  live = await sharedServer()
  keys = openKeys({ dataDir: live.dataDir, configured: live.config.keys })
  invoke = createInvoke({ routes: () => live.now().http.routes, config: live.config })
})

const as = (caller: InvokeCaller['caller'], signal = new AbortController().signal): InvokeCaller => ({ caller, signal })
const tester = () => as(keys.find('test-key') as KeyHolder)

async function faultOf(work: Promise<unknown>): Promise<{ status: number; body: unknown }> {
  const outcome = await work.then(
    () => 'no fault',
    (error: unknown) => error,
  )
  if (!(outcome instanceof Fault)) throw new Error(`expected a fault, got ${outcome}`)
  return { status: outcome.status, body: outcome.body }
}

/** The fault of a body over HTTP and inside, which must be one. */
async function sameFault(path: string, route: string, body: unknown, key = 'test-key'): Promise<number> {
  const { status, text } = await post(live.now().url, path, body, { authorization: basicAuth(key) })
  const inside = await faultOf(invoke.json(route, body, as(keys.find(key) as KeyHolder)))
  expect(inside).toEqual({ status, body: JSON.parse(text) })
  return status
}

const object = (object_id: string, val: unknown) => ({ obj: { project_id, object_id, val } })

describe('routes that run inside the process', () => {
  it('refuse what does not fit the schema with the same details', async () => {
    const bodies: [unknown, number][] = [
      [{}, 422],
      [{ obj: { project_id: 7, object_id: [] } }, 422],
      [object('a b', 1), 422],
      [{ obj: { project_id: 'noproject', object_id: 'x', val: 1 } }, 400],
      [{ obj: { project_id, object_id: 'x' } }, 422],
      [[1], 422],
    ]
    for (const [body, status] of bodies) expect(await sameFault('/obj/create', 'objects.create', body)).toBe(status)
    const absent = { project_id, object_id: 'absent', digest: 'latest' }
    expect(await sameFault('/obj/read', 'objects.read', absent)).toBe(404)
  })

  it('refuse callers without the right, and projects that are not the key’s', async () => {
    const keyOf = (role: RoleName, grants: '*' | string[]) =>
      keys.create({ userId: `${role} of invoke`, role, grants }).text
    const reader = keyOf('read', '*')
    const writer = keyOf('ingest', '*')
    const stranger = keyOf('admin', ['other'])
    const read = { project_id, object_id: 'x', digest: 'latest' }
    expect(await sameFault('/obj/create', 'objects.create', object('x', 1), reader)).toBe(403)
    expect(await sameFault('/obj/create', 'objects.create', {}, reader)).toBe(403)
    expect(await sameFault('/obj/read', 'objects.read', read, writer)).toBe(403)
    expect(await sameFault('/obj/delete', 'objects.delete', read, writer)).toBe(403)
    expect(await sameFault('/obj/create', 'objects.create', object('x', 1), stranger)).toBe(403)
    // A handler's context knows what its key may in a project, and that is enough.
    const { may, ...rest } = keys.find(reader) as KeyHolder
    const bare = { userId: rest.userId, entity: rest.entity, may }
    expect((await faultOf(invoke.json('objects.create', object('x', 1), as(bare)))).status).toBe(403)
  })

  it('read what was written just before, and numbers keep their spelling', async () => {
    const numbers = '{"a":1.0,"b":123456789012345678901234567890,"c":[1e2,-0.0]}'
    for (let round = 0; round < 5; round++) {
      const id = `numbers${round}`
      const body = Buffer.from(`{"obj":{"project_id":"${project_id}","object_id":"${id}","val":${numbers}}}`)
      const { digest } = await invoke.json<{ digest: string }>('objects.create', body, tester())
      const asked = { project_id, object_id: id, digest }
      const { bytes } = await invoke.answer('objects.read', asked, tester())
      expect(bytes.toString()).toContain(`"val":${numbers}`)
      const { obj } = await invoke.json<{ obj: { version_index: number } }>('objects.read', asked, tester())
      expect(obj.version_index).toBe(0)
    }
    const { headers } = await invoke.answer('objects.create', object('numbers0', 1), tester())
    expect(headers['X-Callhouse-Position']).toMatch(/^objects=\d+$/)
  })

  it('take uploads and answer bytes and rows', async () => {
    const form = new FormData()
    form.append('project_id', project_id)
    form.append('file', new Blob(['text\u0000 ü']), 'obj.py')
    const { digest } = await invoke.json<{ digest: string }>('files.create', form, tester())
    const { bytes } = await invoke.answer('files.content', { project_id, digest }, tester())
    expect(bytes.toString()).toBe('text\u0000 ü')

    const call = (id: number) => ({
      project_id,
      id: `01990000-0000-7000-8000-00000000000${id}`,
      trace_id: `01990000-0000-7000-8000-00000000000${id}`,
      op_name: 'op',
      started_at: `2026-03-10T12:00:0${id}Z`,
      ended_at: `2026-03-10T12:00:0${id}Z`,
      attributes: {},
      inputs: {},
      output: 'one\ntwo',
      summary: {},
    })
    const [entity = '', project = ''] = project_id.split('/')
    const batch = [1, 2, 3].map(call)
    await invoke.json('calls.complete', { batch }, tester(), { entity, project })
    const rows: { id: string; output: string }[] = []
    for await (const row of invoke.rows<{ id: string; output: string }>('calls.stream_query', { project_id }, tester()))
      rows.push(row)
    expect(rows.map((row) => [row.id.at(-1), row.output])).toEqual([
      ['1', 'one\ntwo'],
      ['2', 'one\ntwo'],
      ['3', 'one\ntwo'],
    ])
  })

  it('wait as the request that they serve wishes', async () => {
    const asked = { project_id, object_id: 'x', digest: 'latest' }
    const freshness = { header: () => undefined, query: new URLSearchParams('freshness=later') }
    const { status, body } = await faultOf(invoke.json('objects.read', asked, { ...tester(), freshness }))
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('later')])
  })

  it('end when their caller is gone', async () => {
    const gone = new Error('gone')
    const before = AbortSignal.abort(gone)
    const caller = keys.find('test-key') as KeyHolder
    await expect(invoke.json('objects.create', object('late', 1), as(caller, before))).rejects.toBe(gone)

    const rows = { isClosed: false }
    const endless = async function* () {
      try {
        yield '{"n":1}\n{"n":2}\n'
        await new Promise(() => undefined)
      } finally {
        rows.isClosed = true
      }
    }
    const stuck = createInvoke({
      routes: () => [
        {
          name: 'test.rows',
          method: 'GET',
          path: '/rows',
          right: 'any',
          summary: '',
          body: { type: 'none' },
          response: null,
          handle: async () => ({ lines: endless(), contentType: 'application/jsonl' }),
        },
        {
          name: 'test.never',
          method: 'GET',
          path: '/never',
          right: 'any',
          summary: '',
          body: { type: 'none' },
          response: null,
          handle: () => new Promise(() => undefined),
        },
      ],
      config: live.config,
    })
    const during = new AbortController()
    const never = stuck.json('test.never', undefined, as(caller, during.signal))
    during.abort(gone)
    await expect(never).rejects.toBe(gone)

    const later = new AbortController()
    const seen: number[] = []
    const reading = (async () => {
      for await (const { n } of stuck.rows<{ n: number }>('test.rows', undefined, as(caller, later.signal))) {
        seen.push(n)
        if (n === 2) later.abort(gone)
      }
    })()
    await expect(reading).rejects.toBe(gone)
    expect(seen).toEqual([1, 2])

    for await (const _ of stuck.rows('test.rows', undefined, as(caller))) break
    expect(rows.isClosed).toBe(true)
  })
})
