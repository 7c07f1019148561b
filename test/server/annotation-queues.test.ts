// Annotation queues over HTTP: their life, their list, adding calls, counts, access and bad input.
// again: kafka
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createQueueWorld, type Queue, type QueueWorld } from '../fixtures/annotation-queues.ts'

let world: QueueWorld
beforeAll(async () => {
  world = await createQueueWorld()
})
afterAll(() => world.remove())

const unknownId = '01900000-0000-7000-8000-000000000000'
const micros = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z$/

describe('a queue', () => {
  it('is made with what was sent and read back at once', async () => {
    const { status, json } = await world.post('/annotation_queues', {
      project_id: 'e/make',
      name: 'Errors',
      scorer_refs: ['weave:///e/make/object/quality:abc', 'not even a ref'],
      platform_user_id: 'somebody else',
      unknown_key: 1,
    })
    expect([status, Object.keys(json)]).toEqual([200, ['id']])
    expect(json.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    const queue = await world.queue('e/make', json.id)
    expect(queue).toEqual({
      id: json.id,
      project_id: 'e/make',
      name: 'Errors',
      description: '',
      scorer_refs: ['weave:///e/make/object/quality:abc', 'not even a ref'],
      created_at: expect.stringMatching(micros),
      created_by: 'tester',
      updated_at: queue.created_at,
      deleted_at: null,
    })
    expect(Object.keys(queue)).toEqual(
      ['id', 'project_id', 'name', 'description', 'scorer_refs', 'created_at', 'created_by', 'updated_at'].concat(
        'deleted_at',
      ),
    )
  })

  it('may have an empty name, the name of another one, and any characters', async () => {
    const odd = '\u0000 \n\n";DROP 😀 \\x27 {a:String} %_\u2028'
    for (const name of ['', 'same', 'same', odd]) await world.make('e/names', { name, description: name })
    const queues = await world.list('e/names', { sort_by: [{ field: 'created_at', direction: 'asc' }] })
    expect(queues.map(({ name }) => name)).toEqual(['', 'same', 'same', odd])
    expect(queues.map(({ description }) => description)).toEqual(['', 'same', 'same', odd])
    expect(new Set(queues.map(({ id }) => id)).size).toBe(4)
    expect(
      (await world.post('/annotation_queues', '{"project_id":"e/names","name":"\\ud800x","scorer_refs":[]}')).status,
    ).toBe(200)
    expect((await world.list('e/names', { limit: 1 }))[0]?.name).toBe('\ufffdx')
  })

  it('changes only in the fields that an update names', async () => {
    const id = await world.make('e/put', { name: 'a', description: 'b', scorer_refs: ['c'] })
    const before = await world.queue('e/put', id)
    const put = (more: object) => world.send('PUT', `/annotation_queues/${id}`, { project_id: 'e/put', ...more })
    expect((await put({})).json).toEqual({ queue: before })
    expect((await put({ name: null, description: null, scorer_refs: null })).json).toEqual({ queue: before })

    const named = (await put({ name: 'A' })).json.queue as Queue
    expect(named).toEqual({ ...before, name: 'A', updated_at: named.updated_at })
    expect(named.updated_at > before.updated_at).toBe(true)
    expect(await world.queue('e/put', id)).toEqual(named)

    const emptied = (await put({ description: '', scorer_refs: [] })).json.queue as Queue
    expect(emptied).toEqual({ ...named, description: '', scorer_refs: [], updated_at: emptied.updated_at })
    expect(await world.queue('e/put', id)).toEqual(emptied)

    const sent = await Promise.all([put({ name: 'x' }), put({ description: 'y' }), put({ scorer_refs: ['z'] })])
    expect(sent.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(await world.queue('e/put', id)).toMatchObject({ name: 'x', description: 'y', scorer_refs: ['z'] })
  })

  it('is gone after its deletion, but for what was in it', async () => {
    const id = await world.make('e/gone')
    const calls = await world.calls('e/gone', 2)
    expect(await world.add('e/gone', id, calls)).toEqual({ added_count: 2, duplicates: 0 })
    const [item] = await world.items('e/gone', id)
    const before = await world.queue('e/gone', id)

    const path = `/annotation_queues/${id}?project_id=e/gone`
    const deleted = await world.send('DELETE', path)
    expect(deleted.status).toBe(200)
    const { queue } = deleted.json as { queue: Queue }
    expect(queue).toEqual({ ...before, deleted_at: queue.deleted_at, updated_at: queue.deleted_at })
    expect(queue.deleted_at).toMatch(micros)

    expect((await world.send('DELETE', path)).status).toBe(404)
    expect((await world.send('GET', path)).status).toBe(404)
    expect((await world.send('PUT', `/annotation_queues/${id}`, { project_id: 'e/gone', name: 'x' })).status).toBe(404)
    expect(await world.list('e/gone')).toEqual([])
    const more = { project_id: 'e/gone', call_ids: calls, display_fields: [] }
    expect((await world.post(`/annotation_queues/${id}/items`, more)).status).toBe(404)

    expect(await world.items('e/gone', id)).toHaveLength(2)
    const done = await world.progress('e/gone', id, item?.id as string, 'completed')
    expect([done.status, done.json.item.annotation_state]).toEqual([200, 'completed'])
    expect(await world.stats('e/gone', [id])).toEqual([{ queue_id: id, total_items: 2, completed_items: 1 }])
  })

  it('takes feedback while it lives', async () => {
    const id = await world.make('e/feedback')
    const feedback = (queue_id: string) => ({
      project_id: 'e/feedback',
      weave_ref: 'weave:///e/feedback/call/c',
      feedback_type: 'custom',
      payload: {},
      queue_id,
    })
    expect((await world.post('/feedback/create', feedback(id))).status).toBe(200)
    const batch = { batch: [feedback(id), feedback(id), feedback(unknownId)] }
    expect((await world.post('/feedback/batch/create', batch)).status).toBe(400)
    expect((await world.post('/feedback/create', { ...feedback(id), project_id: 'e/other' })).status).toBe(400)
    await world.send('DELETE', `/annotation_queues/${id}?project_id=e/feedback`)
    const refused = await world.post('/feedback/create', feedback(id))
    expect([refused.status, refused.json]).toEqual([400, { reason: `Queue ${id} not found` }])
    const query = { $expr: { $eq: [{ $getField: 'queue_id' }, { $literal: id }] } }
    const kept = await world.post('/feedback/query', { project_id: 'e/feedback', query })
    expect(kept.json.total_count).toBe(1)
  })
})

describe('POST /annotation_queues/query', () => {
  const names = ['beta', 'Alpha', 'ALPHABET', 'ÄPFEL', '100%', 'a_b']
  let ids: string[]
  beforeAll(async () => {
    ids = []
    for (const name of names) ids.push(await world.make('e/list', { name }))
  })
  const list = async (more: object) => (await world.list('e/list', more)).map(({ name }) => name)

  it.each([
    [{}, ['a_b', '100%', 'ÄPFEL', 'ALPHABET', 'Alpha', 'beta']],
    [{ name: null, sort_by: null, limit: null, offset: null }, ['a_b', '100%', 'ÄPFEL', 'ALPHABET', 'Alpha', 'beta']],
    [{ name: '' }, ['a_b', '100%', 'ÄPFEL', 'ALPHABET', 'Alpha', 'beta']],
    [{ name: 'alpha' }, ['ALPHABET', 'Alpha']],
    [{ name: 'BET' }, ['ALPHABET', 'beta']],
    [{ name: 'äpf' }, ['ÄPFEL']],
    [{ name: '%' }, ['100%']],
    [{ name: 'a_' }, ['a_b']],
    [{ name: 'nothing' }, []],
    [{ limit: 2 }, ['a_b', '100%']],
    [{ limit: 2, offset: 4 }, ['Alpha', 'beta']],
    [{ offset: 5 }, ['beta']],
    [{ offset: 99 }, []],
    [{ limit: 0 }, []],
    [{ sort_by: [{ field: 'name', direction: 'asc' }] }, ['100%', 'ALPHABET', 'Alpha', 'a_b', 'beta', 'ÄPFEL']],
    [{ sort_by: [{ field: 'created_at', direction: 'asc' }] }, names],
    [{ sort_by: [{ field: 'id', direction: 'asc' }] }, names],
    [{ sort_by: [{ field: 'updated_at', direction: 'desc' }] }, names.toReversed()],
    [
      {
        sort_by: [
          { field: 'nonsense', direction: 'asc' },
          { field: 'id', direction: 'asc' },
        ],
        limit: 1,
      },
      ['beta'],
    ],
    [{ sort_by: [{ field: 'nonsense', direction: 'asc' }], limit: 1 }, ['a_b']],
  ])('%j', async (more, expected) => {
    expect(await list(more)).toEqual(expected)
  })

  it('streams lines without an envelope', async () => {
    const some = await world.post('/annotation_queues/query', { project_id: 'e/list', limit: 2 })
    expect(some.headers.get('content-type')).toBe('application/x-ndjson')
    expect(some.text.split('\n').map((line) => line && JSON.parse(line).id)).toEqual([ids[5], ids[4], ''])
    const none = await world.post('/annotation_queues/query', { project_id: 'e/none' })
    expect([none.status, none.text]).toEqual([200, ''])
    const accept = { accept: 'application/jsonl' }
    const other = await world.post('/annotation_queues/query', { project_id: 'e/list', limit: 1 }, accept)
    expect(other.headers.get('content-type')).toBe('application/jsonl')
  })

  it('orders equal names by id', async () => {
    const made: string[] = []
    for (let n = 0; n < 4; n++) made.push(await world.make('e/ties', { name: n < 3 ? 'same' : 'last' }))
    const sorted = async (direction: string) =>
      (await world.list('e/ties', { sort_by: [{ field: 'name', direction }] })).map(({ id }) => id)
    expect(await sorted('desc')).toEqual([made[0], made[1], made[2], made[3]])
    expect(await sorted('asc')).toEqual([made[3], made[0], made[1], made[2]])
  })
})

describe('adding calls', () => {
  const project = 'e/add'

  it('copies the calls as they are and counts what was there', async () => {
    const [c0, c1, c2, deleted] = (await world.calls(project, 4)) as [string, string, string, string]
    await world.post('/calls/delete', { project_id: project, call_ids: [deleted] })
    const [foreign] = (await world.calls('e/add-other', 1)) as [string]
    const id = await world.make(project)
    const add = (...calls: string[]) => world.add(project, id, calls)
    expect(await add(c0, c1, 'zz', deleted, foreign)).toEqual({ added_count: 2, duplicates: 0 })
    expect(await add(c0, c2)).toEqual({ added_count: 1, duplicates: 1 })
    expect(await add(c0, c1, c0)).toEqual({ added_count: 0, duplicates: 3 })
    expect(await add(c0, 'zz')).toEqual({ added_count: 0, duplicates: 1 })
    expect(await add()).toEqual({ added_count: 0, duplicates: 0 })
    expect(await add('zz', deleted)).toEqual({ added_count: 0, duplicates: 0 })
    expect((await world.items(project, id)).map((item) => item.call_id)).toEqual([c0, c1, c2])

    const second = await world.make(project)
    expect(await world.add(project, second, [c0, c0, c1, c0])).toEqual({ added_count: 2, duplicates: 0 })
    expect(await world.add(project, second, [c0, c2, c0])).toEqual({ added_count: 1, duplicates: 1 })
    expect(await world.stats(project, [id, 'nope', second, id])).toEqual([
      { queue_id: id, total_items: 3, completed_items: 0 },
      { queue_id: 'nope', total_items: 0, completed_items: 0 },
      { queue_id: second, total_items: 3, completed_items: 0 },
      { queue_id: id, total_items: 3, completed_items: 0 },
    ])
  })

  it('knows running calls, and no call that has no start', async () => {
    const id = await world.make(project)
    const running = await world.startCall(project, 'running-op')
    const endOnly = '01900000-0000-7000-8000-0000000000ee'
    const end = { project_id: project, id: endOnly, ended_at: '2026-03-10T12:00:00Z', summary: {} }
    await world.post('/call/end', { end })
    expect(await world.add(project, id, [running, endOnly])).toEqual({ added_count: 1, duplicates: 0 })
    const [item] = await world.items(project, id)
    expect(item).toMatchObject({ call_id: running, call_op_name: 'running-op', call_ended_at: null })
    await world.post('/call/end', { end: { ...end, id: running } })
    expect(await world.items(project, id)).toEqual([item])
    await world.post('/calls/delete', { project_id: project, call_ids: [running] })
    expect(await world.items(project, id)).toEqual([])
  })

  it('makes one item of a call that is added by many at once', async () => {
    const id = await world.make(project)
    const calls = await world.calls(project, 5)
    const answers = await Promise.all(Array.from({ length: 8 }, () => world.add(project, id, calls)))
    expect(answers.map(({ added_count }) => added_count).toSorted()).toEqual([0, 0, 0, 0, 0, 0, 0, 5])
    expect((await world.items(project, id)).map((item) => item.call_id)).toEqual(calls)
  })

  it('takes more calls than one statement does, in their order', async () => {
    const id = await world.make('e/many')
    const calls = await world.calls('e/many', 1_300)
    expect(await world.add('e/many', id, calls.slice(0, 20))).toEqual({ added_count: 20, duplicates: 0 })
    expect(await world.add('e/many', id, calls)).toEqual({ added_count: 1_280, duplicates: 20 })
    const items = await world.items('e/many', id, { limit: null, include_position: true })
    expect(items.map((item) => item.call_id)).toEqual(calls)
    expect(items.map((item) => item.position_in_queue)).toEqual(calls.map((_, n) => n + 1))
    expect(await world.stats('e/many', [id])).toEqual([{ queue_id: id, total_items: 1_300, completed_items: 0 }])
  })

  it('refuses what would grow beyond bounds', async () => {
    const id = await world.make(project)
    const call_ids = Array.from({ length: 1_000 }, (_, n) => `c${n}`)
    const body = { project_id: project, call_ids, display_fields: ['x'.repeat(40_000)] }
    expect((await world.post(`/annotation_queues/${id}/items`, body)).status).toBe(413)
  })
})

describe('access', () => {
  it('shows nothing of other projects', async () => {
    const id = await world.make('e/mine')
    const [call] = (await world.calls('e/mine', 1)) as [string]
    await world.add('e/mine', id, [call])
    const [item] = await world.items('e/mine', id)
    expect((await world.send('GET', `/annotation_queues/${id}?project_id=e/yours`)).status).toBe(404)
    expect((await world.send('DELETE', `/annotation_queues/${id}?project_id=e/yours`)).status).toBe(404)
    const update = { project_id: 'e/yours', name: 'x' }
    expect((await world.send('PUT', `/annotation_queues/${id}`, update)).status).toBe(404)
    expect(await world.list('e/yours')).toEqual([])
    expect(await world.items('e/yours', id)).toEqual([])
    expect(await world.stats('e/yours', [id])).toEqual([{ queue_id: id, total_items: 0, completed_items: 0 }])
    expect((await world.progress('e/yours', id, item?.id as string, 'completed')).status).toBe(404)
    const add = { project_id: 'e/yours', call_ids: [call], display_fields: [] }
    expect((await world.post(`/annotation_queues/${id}/items`, add)).status).toBe(404)
    expect(await world.queue('e/mine', id)).toMatchObject({ id, deleted_at: null })
  })

  it('needs a key', async () => {
    const headers = { authorization: 'Basic bm9ib2R5Om5vYm9keQ==' }
    expect((await world.post('/annotation_queues/query', { project_id: 'e/mine' }, headers)).status).toBe(401)
    expect((await world.send('GET', '/annotation_queues/x?project_id=e/mine', undefined, headers)).status).toBe(401)
  })
})

describe('bad input', () => {
  const made = { project_id: 'e/bad', name: 'n', scorer_refs: [] }
  const queue = `/annotation_queues/${unknownId}`
  const items = { project_id: 'e/bad', call_ids: [], display_fields: [] }
  const desc = (field: unknown, direction: unknown) => ({ project_id: 'e/bad', sort_by: [{ field, direction }] })

  it.each<[string, string, unknown, number, (string | number)[]?]>([
    ['POST', '/annotation_queues', { ...made, project_id: undefined }, 422, ['body', 'project_id']],
    ['POST', '/annotation_queues', { ...made, name: undefined }, 422, ['body', 'name']],
    ['POST', '/annotation_queues', { ...made, name: null }, 422, ['body', 'name']],
    ['POST', '/annotation_queues', { ...made, name: 5 }, 422, ['body', 'name']],
    ['POST', '/annotation_queues', { ...made, scorer_refs: undefined }, 422, ['body', 'scorer_refs']],
    ['POST', '/annotation_queues', { ...made, scorer_refs: 'x' }, 422, ['body', 'scorer_refs']],
    ['POST', '/annotation_queues', { ...made, scorer_refs: [1] }, 422, ['body', 'scorer_refs', 0]],
    ['POST', '/annotation_queues', { ...made, description: [] }, 422, ['body', 'description']],
    ['POST', '/annotation_queues', { ...made, project_id: 'no-slash' }, 400],
    ['POST', '/annotation_queues', '{"project_id":', 422],
    ['POST', '/annotation_queues', [], 422],
    ['POST', '/annotation_queues/query', {}, 422, ['body', 'project_id']],
    ['POST', '/annotation_queues/query', { project_id: 'e/bad', limit: -1 }, 400],
    ['POST', '/annotation_queues/query', { project_id: 'e/bad', offset: -1 }, 400],
    ['POST', '/annotation_queues/query', { project_id: 'e/bad', limit: 1.5 }, 422, ['body', 'limit']],
    ['POST', '/annotation_queues/query', { project_id: 'e/bad', name: {} }, 422, ['body', 'name']],
    ['POST', '/annotation_queues/query', desc('name', 'up'), 422, ['body', 'sort_by', 0, 'direction']],
    ['POST', '/annotation_queues/query', desc(1, 'asc'), 422, ['body', 'sort_by', 0, 'field']],
    ['POST', '/annotation_queues/stats', { project_id: 'e/bad' }, 422, ['body', 'queue_ids']],
    ['POST', '/annotation_queues/stats', { project_id: 'e/bad', queue_ids: 'x' }, 422, ['body', 'queue_ids']],
    ['POST', '/annotation_queues/stats', { project_id: 'e/bad', queue_ids: [null] }, 422, ['body', 'queue_ids', 0]],
    ['GET', queue, undefined, 422, ['query', 'project_id']],
    ['GET', `${queue}?project_id=`, undefined, 400],
    ['GET', `${queue}?project_id=e/bad`, undefined, 404],
    ['GET', `/annotation_queues/%00'%3B%F0%9F%98%80?project_id=e/bad`, undefined, 404],
    ['GET', '/annotation_queues/%ff?project_id=e/bad', undefined, 400],
    ['GET', `/annotation_queues/${'x'.repeat(5_000)}?project_id=e/bad`, undefined, 404],
    ['DELETE', queue, undefined, 422, ['query', 'project_id']],
    ['DELETE', `${queue}?project_id=e/bad`, undefined, 404],
    ['PUT', queue, {}, 422, ['body', 'project_id']],
    ['PUT', queue, { project_id: 'e/bad' }, 404],
    ['PUT', queue, { project_id: 'e/bad', scorer_refs: {} }, 422, ['body', 'scorer_refs']],
    ['POST', queue, { project_id: 'e/bad' }, 405],
    ['POST', `${queue}/items`, items, 404],
    ['POST', `${queue}/items`, { ...items, call_ids: undefined }, 422, ['body', 'call_ids']],
    ['POST', `${queue}/items`, { ...items, call_ids: [1] }, 422, ['body', 'call_ids', 0]],
    ['POST', `${queue}/items`, { ...items, display_fields: undefined }, 422, ['body', 'display_fields']],
    ['POST', `${queue}/items`, { ...items, display_fields: null }, 422, ['body', 'display_fields']],
  ])('%s %s %j → %i', async (method, path, body, status, loc) => {
    const answer = await world.send(method, path, body)
    expect(answer.status).toBe(status)
    if (loc) expect(answer.json.detail[0].loc).toEqual(loc)
    else if (status === 400 || status === 404) expect(answer.json).toEqual({ reason: expect.any(String) })
  })

  it('is not stored when it is too large', async () => {
    const body = { ...made, name: 'x'.repeat(34 * 2 ** 20) }
    expect((await world.post('/annotation_queues', body)).status).toBe(413)
    expect(await world.list('e/bad')).toEqual([])
  })
})
