// tier: deep slow
// Items of annotation queues over HTTP: what they show, filters, orders, positions, and the progress of annotators.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createQueueWorld, type Item, type QueueWorld } from '../fixtures/annotation-queues.ts'

let world: QueueWorld
beforeAll(async () => {
  world = await createQueueWorld()
})
afterAll(() => world.remove())

const itemKeys = [
  'id',
  'project_id',
  'queue_id',
  'call_id',
  'call_started_at',
  'call_ended_at',
  'call_op_name',
  'call_trace_id',
  'display_fields',
  'annotation_state',
  'created_at',
  'updated_at',
  'deleted_at',
  'created_by',
  'added_by',
  'annotator_user_id',
  'position_in_queue',
]

/** A queue with so many calls; items in the order of their calls. */
async function filled(project: string, count: number): Promise<{ id: string; calls: string[]; items: Item[] }> {
  const id = await world.make(project)
  const calls = await world.calls(project, count)
  await world.add(project, id, calls)
  return { id, calls, items: await world.items(project, id) }
}

const idOf = (items: readonly Item[], n: number): string => (items[n] as Item).id

describe('an item', () => {
  it('holds the call as it was added', async () => {
    const id = await world.make('e/item')
    const [call] = (await world.calls('e/item', 1)) as [string]
    const fields = ['inputs.prompt', '', 'any \u0000 thing', 'inputs.prompt']
    await world.add('e/item', id, [call], fields)
    const [item] = (await world.items('e/item', id)) as [Item]
    const read = (await world.post('/call/read', { project_id: 'e/item', id: call })).json.call
    expect(Object.keys(item)).toEqual(itemKeys)
    expect(item).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      project_id: 'e/item',
      queue_id: id,
      call_id: call,
      call_started_at: read.started_at,
      call_ended_at: read.ended_at,
      call_op_name: read.op_name,
      call_trace_id: read.trace_id,
      display_fields: fields,
      annotation_state: 'unstarted',
      created_at: item.updated_at,
      updated_at: item.created_at,
      deleted_at: null,
      created_by: 'tester',
      added_by: 'tester',
      annotator_user_id: '',
      position_in_queue: null,
    })
    const update = { project_id: 'e/item', call_id: call, display_name: 'renamed' }
    await world.post('/call/update', update)
    await world.add('e/item', id, [call], ['other'])
    expect(await world.items('e/item', id)).toEqual([item])
  })
})

describe('the item of a deleted call', () => {
  it('is neither shown nor counted nor moved on, and the others keep their places', async () => {
    const project = 'e/deleted'
    const calls = (await world.calls(project, 3)) as [string, string, string]
    const [kept, deleted, last] = calls
    const id = await world.make(project)
    await world.add(project, id, calls)
    const [, item] = await world.items(project, id)
    const move = () =>
      world.post(`/annotation_queues/${id}/items/${item?.id}/progress`, {
        project_id: project,
        annotation_state: 'completed',
      })
    expect((await move()).status).toBe(200)
    expect(await world.stats(project, [id])).toEqual([{ queue_id: id, total_items: 3, completed_items: 1 }])
    await world.post('/calls/delete', { project_id: project, call_ids: [deleted] })
    const shown = async (more: object) => (await world.items(project, id, more)).map((one) => one.call_id)
    expect(await shown({})).toEqual([kept, last])
    expect(await shown({ limit: null })).toEqual([kept, last])
    expect(await shown({ filter: { call_id: deleted } })).toEqual([])
    expect(await shown({ filter: { annotation_states: ['completed'] } })).toEqual([])
    const placed = await world.items(project, id, { include_position: true })
    expect(placed.map((one) => one.position_in_queue)).toEqual([1, 2])
    expect(await world.stats(project, [id])).toEqual([{ queue_id: id, total_items: 2, completed_items: 0 }])
    expect((await move()).status).toBe(404)
    expect(await world.add(project, id, [deleted, kept])).toEqual({ added_count: 0, duplicates: 1 })
  })
})

describe('POST /annotation_queues/{queue_id}/items/query', () => {
  const project = 'e/query'
  let id: string
  let calls: string[]
  let all: Item[]
  /** Numbers of the items of an answer, in its order. */
  const numbers = (items: readonly Item[]) => items.map((item) => calls.indexOf(item.call_id))
  const query = (more: object) => world.items(project, id, more)
  const asc = (field: string) => [{ field, direction: 'asc' }]
  const desc = (field: string) => [{ field, direction: 'desc' }]

  beforeAll(async () => {
    id = await world.make(project)
    // op names come round every three calls; the second half is added first
    calls = await world.calls(project, 6)
    await world.add(project, id, calls.slice(3))
    await world.add(project, id, calls.slice(0, 3))
    all = await query({})
    await world.progress(project, id, idOf(all, 0), 'in_progress', 'u1')
    await world.progress(project, id, idOf(all, 1), 'completed', 'u1')
    await world.progress(project, id, idOf(all, 2), 'skipped', 'u2')
  })

  it('filters, sorts and pages', async () => {
    expect(numbers(all)).toEqual([3, 4, 5, 0, 1, 2])
    const [first] = all as [Item]
    const same = all.filter((item) => item.call_op_name === first.call_op_name)
    const cases: [object, number[]][] = [
      [{ filter: null, sort_by: null, limit: null, offset: null, include_position: null }, [3, 4, 5, 0, 1, 2]],
      [{ filter: {}, sort_by: [] }, [3, 4, 5, 0, 1, 2]],
      [{ filter: { id: idOf(all, 4) } }, [1]],
      [{ filter: { call_id: calls[2] } }, [2]],
      [{ filter: { call_op_name: first.call_op_name } }, numbers(same)],
      [{ filter: { call_trace_id: calls[4] } }, [4]],
      [{ filter: { added_by: 'tester', call_id: calls[4] } }, [4]],
      [{ filter: { added_by: 'u1' } }, []],
      [{ filter: { id: idOf(all, 4), call_id: calls[0] } }, []],
      [{ filter: { id: null, annotation_states: null } }, [3, 4, 5, 0, 1, 2]],
      [{ filter: { id: '' } }, []],
      [{ filter: { annotation_states: [] } }, [3, 4, 5, 0, 1, 2]],
      [{ filter: { annotation_states: ['unstarted'] } }, [0, 1, 2]],
      [{ filter: { annotation_states: ['in_progress'] } }, [3]],
      [{ filter: { annotation_states: ['skipped', 'completed', 'skipped'] } }, [4, 5]],
      [{ filter: { annotation_states: ['unstarted'], call_id: calls[3] } }, []],
      [{ sort_by: asc('call_started_at') }, [0, 1, 2, 3, 4, 5]],
      [{ sort_by: desc('call_started_at') }, [5, 4, 3, 2, 1, 0]],
      [{ sort_by: [...desc('call_started_at'), ...Array(30_000).fill(asc('call_started_at')[0])] }, [5, 4, 3, 2, 1, 0]],
      [{ sort_by: desc('created_at') }, [0, 1, 2, 3, 4, 5]],
      [{ sort_by: asc('updated_at') }, [3, 4, 5, 0, 1, 2]],
      [{ sort_by: asc('id') }, [3, 4, 5, 0, 1, 2]],
      [{ sort_by: [...asc('nonsense'), ...desc('call_started_at')] }, [5, 4, 3, 2, 1, 0]],
      [{ limit: 2 }, [3, 4]],
      [{ limit: 2, offset: 3 }, [0, 1]],
      [{ offset: 4 }, [1, 2]],
      [{ offset: 6 }, []],
      [{ limit: 0 }, []],
    ]
    for (const [more, expected] of cases) expect([more, numbers(await query(more))]).toEqual([more, expected])

    const byOp = await query({ sort_by: [...desc('call_op_name'), ...desc('call_started_at')] })
    const names = byOp.map((item) => item.call_op_name)
    expect(names).toEqual(names.toSorted().reverse())
    expect(numbers(byOp).filter((_, n) => n % 2 === 0)).toEqual(
      numbers(byOp)
        .filter((_, n) => n % 2 === 1)
        .map((n) => n + 3),
    )
  })

  it('counts positions before it filters and pages', async () => {
    const positions = async (more: object) =>
      (await query({ include_position: true, ...more })).map((item) => [
        calls.indexOf(item.call_id),
        item.position_in_queue,
      ])
    expect(await positions({ filter: { annotation_states: ['unstarted'] }, limit: 2, offset: 1 })).toEqual([
      [1, 5],
      [2, 6],
    ])
    expect(await positions({ filter: { call_id: calls[4] } })).toEqual([[4, 2]])
    expect(await positions({ sort_by: desc('call_started_at'), filter: { call_id: calls[4] } })).toEqual([[4, 2]])
    expect(await positions({ sort_by: asc('call_started_at'), filter: { call_id: calls[4] } })).toEqual([[4, 5]])
  })

  it('answers fifty items unless told', async () => {
    const { id: long } = await filled('e/fifty', 60)
    expect(await world.items('e/fifty', long)).toHaveLength(50)
    expect(await world.items('e/fifty', long, { limit: null })).toHaveLength(60)
    expect(await world.items('e/fifty', long, { limit: 55 })).toHaveLength(55)
  })

  it('answers nothing for a queue that is not there', async () => {
    expect(await world.items(project, 'nope')).toEqual([])
    expect(await world.items(project, '\u0000')).toEqual([])
  })

  it.each<[object, number, (string | number)[]?]>([
    [{ project_id: undefined }, 422, ['body', 'project_id']],
    [{ limit: -1 }, 400],
    [{ offset: -1 }, 400],
    [{ limit: 'many' }, 422, ['body', 'limit']],
    [{ offset: false }, 422, ['body', 'offset']],
    [{ include_position: 'yes' }, 422, ['body', 'include_position']],
    [{ filter: [] }, 422, ['body', 'filter']],
    [{ filter: { call_id: 5 } }, 422, ['body', 'filter', 'call_id']],
    [{ filter: { annotation_states: ['done'] } }, 422, ['body', 'filter', 'annotation_states', 0]],
    [{ filter: { annotation_states: 'unstarted' } }, 422, ['body', 'filter', 'annotation_states']],
    [{ sort_by: [{ field: 'created_at', direction: 'ASC' }] }, 422, ['body', 'sort_by', 0, 'direction']],
    [{ sort_by: [{ field: 'created_at' }] }, 422, ['body', 'sort_by', 0, 'direction']],
  ])('refuses %j', async (more, status, loc) => {
    const answer = await world.post(`/annotation_queues/${id}/items/query`, { project_id: project, ...more })
    expect(answer.status).toBe(status)
    if (loc) expect(answer.json.detail[0].loc).toEqual(loc)
    else expect(answer.json).toEqual({ reason: expect.any(String) })
  })
})

describe('progress', () => {
  const project = 'e/progress'
  const shown = ({ status, json }: { status: number; json: { item: Item } }) =>
    status === 200 ? [json.item.annotation_state, json.item.annotator_user_id] : status

  it('goes as each annotator moves it', async () => {
    const { id, items } = await filled(project, 3)
    const move = async (n: number, state: string, user: string) =>
      shown(await world.progress(project, id, idOf(items, n), state, user))
    expect(await move(0, 'in_progress', 'u1')).toEqual(['in_progress', 'u1'])
    expect(await move(0, 'in_progress', 'u1')).toEqual(['in_progress', 'u1'])
    expect(await move(0, 'in_progress', 'u2')).toEqual(['in_progress', 'u2'])
    expect(await move(0, 'in_progress', 'u1')).toEqual(['in_progress', 'u2'])
    expect(await move(0, 'completed', 'u1')).toEqual(['completed', 'u1'])
    expect(await move(0, 'skipped', 'u1')).toBe(400)
    expect(await move(0, 'in_progress', 'u1')).toBe(400)
    expect(await move(0, 'completed', 'u1')).toEqual(['completed', 'u1'])
    expect(await move(0, 'skipped', 'u2')).toEqual(['skipped', 'u2'])
    expect(await move(1, 'completed', 'u3')).toEqual(['completed', 'u3'])
    expect(await move(1, 'in_progress', 'u1')).toEqual(['in_progress', 'u1'])
    expect(await world.stats(project, [id])).toEqual([{ queue_id: id, total_items: 3, completed_items: 2 }])
    const states = (await world.items(project, id)).map((item) => [item.annotation_state, item.annotator_user_id])
    expect(states).toEqual([
      ['skipped', 'u2'],
      ['in_progress', 'u1'],
      ['unstarted', ''],
    ])
    const [left] = (await world.items(project, id, {
      filter: { annotation_states: ['unstarted'] },
      include_position: true,
    })) as [Item]
    expect([left.id, left.position_in_queue]).toEqual([idOf(items, 2), 3])
    const times = (all: readonly Item[]) => all.map((item) => [item.created_at, item.updated_at])
    expect(times(await world.items(project, id))).toEqual(times(items))
  })

  it('moves as the table of states says', async () => {
    const table: [from: string, to: string, reached: string | number][] = [
      ['', 'in_progress', 'in_progress'],
      ['', 'completed', 'completed'],
      ['', 'skipped', 'skipped'],
      ['in_progress', 'in_progress', 'in_progress'],
      ['in_progress', 'completed', 'completed'],
      ['in_progress', 'skipped', 'skipped'],
      ['completed', 'in_progress', 400],
      ['completed', 'completed', 'completed'],
      ['completed', 'skipped', 400],
      ['skipped', 'in_progress', 400],
      ['skipped', 'completed', 400],
      ['skipped', 'skipped', 'skipped'],
      ...['', 'in_progress', 'completed', 'skipped'].flatMap((from) =>
        ['unstarted', 'done', '', 'COMPLETED'].map((to): [string, string, number] => [from, to, 400]),
      ),
    ]
    const { id, items } = await filled('e/moves', table.length)
    const moveAll = (states: string[]) =>
      Promise.all(states.map((state, n) => (state ? world.progress('e/moves', id, idOf(items, n), state) : null)))
    await moveAll(table.map(([from]) => from))
    // an empty text is a state that is refused, not one that is not sent
    const moved = await Promise.all(table.map(([, to], n) => world.progress('e/moves', id, idOf(items, n), to)))
    const after = await world.items('e/moves', id)
    for (const [n, [from, to, reached]] of table.entries()) {
      const { status, json } = moved[n] as (typeof moved)[number]
      expect([from, to, status === 200 ? json.item.annotation_state : status]).toEqual([from, to, reached])
      if (status === 200) expect(json.item).toEqual(after[n])
      else expect([json, after[n]?.annotation_state]).toEqual([{ reason: expect.any(String) }, from || 'unstarted'])
    }
  })

  it('lets the first of several moves at once win', async () => {
    const { id, items } = await filled(project, 4)
    for (const { id: itemId } of items) {
      const states = ['completed', 'skipped', 'completed', 'in_progress', 'skipped']
      const moved = await Promise.all(states.map((state) => world.progress(project, id, itemId, state, 'u1')))
      const reached = new Set(
        moved.filter(({ status }) => status === 200).map(({ json }) => json.item.annotation_state),
      )
      const [item] = (await world.items(project, id, { filter: { id: itemId } })) as [Item]
      expect(['completed', 'skipped']).toContain(item.annotation_state)
      reached.delete('in_progress')
      expect([...reached]).toEqual([item.annotation_state])
    }
  })

  it.each<[unknown, number, string[]?]>([
    [{ project_id: project }, 422, ['body', 'annotation_state']],
    [{ annotation_state: 'completed' }, 422, ['body', 'project_id']],
    [{ project_id: project, annotation_state: null }, 422, ['body', 'annotation_state']],
    [{ project_id: project, annotation_state: 1 }, 422, ['body', 'annotation_state']],
    [{ project_id: project, annotation_state: 'nonsense' }, 400],
    [{ project_id: project, annotation_state: 'completed' }, 404],
    [{ project_id: 'x', annotation_state: 'completed' }, 400],
  ])('refuses %j', async (body, status, loc) => {
    const answer = await world.post('/annotation_queues/q/items/i/progress', body)
    expect(answer.status).toBe(status)
    if (loc) expect(answer.json.detail[0].loc).toEqual(loc)
    else expect(answer.json).toEqual({ reason: expect.any(String) })
  })

  it('belongs to the queue of the path', async () => {
    const one = await filled(project, 1)
    const other = await world.make(project)
    await world.add(project, other, one.calls)
    expect((await world.progress(project, other, idOf(one.items, 0), 'completed')).status).toBe(404)
    expect((await world.progress(project, one.id, idOf(one.items, 0), 'completed')).status).toBe(200)
    expect((await world.items(project, other)).map((item) => item.annotation_state)).toEqual(['unstarted'])
  })

  it('is still there after a restart', async () => {
    const { id, items } = await filled('e/restart', 2)
    await world.progress('e/restart', id, idOf(items, 0), 'in_progress', 'u1')
    const before = await world.items('e/restart', id)
    await world.restart()
    expect(await world.items('e/restart', id)).toEqual(before)
    const refused = await world.progress('e/restart', id, idOf(items, 0), 'completed', 'u1')
    expect(refused.json.item.annotation_state).toBe('completed')
  })
})
