// Dashboards of a project's own, as objects: what is saved is read again, and what the page does not know stays.
import { expect, it } from 'vitest'
import { boardIdOf, boards, isOwnBoard } from '../../services/web/page/dashboards/boards.ts'
import { byGroup } from '../../services/web/page/dashboards/figures.ts'
import { termsOf } from '../../services/web/page/dashboards/groups.ts'
import { measureNamed } from '../../services/web/page/dashboards/measures.ts'
import { boardOf, storedBoard } from '../../services/web/page/dashboards/own-boards.ts'

const id = 'dashboard-ours'

it('every dashboard that is built in can be saved as one of a project, and reads back as it was', () => {
  for (const { title, panels } of Object.values(boards)) {
    const stored = JSON.parse(JSON.stringify(storedBoard({ id, title, panels, others: [] })))
    expect(stored).toMatchObject({ _class_name: 'CallhouseDashboard', label: title })
    const { panels: read, ...rest } = boardOf(id, stored)
    expect(rest).toEqual({ id, title, others: [] })
    expect(read).toMatchObject(panels)
    for (const { request } of stored.charts) expect(request.metrics.length).toBeGreaterThan(0)
  }
})

it('charts of unknown kinds, measures and filters are not shown and stay in the object', () => {
  const others = [
    { title: 'a', type: 'pie', measure: 'calls' },
    { title: 'b', type: 'lines', measure: '__proto__' },
    { title: 'c', type: 'lines', measure: 'calls', filter: '(op:answer' },
    { title: 'd', type: 'constructor', measure: 'calls' },
    null,
    'text',
  ]
  const known = { title: 'e', type: 'bars', measure: 'avg output.score', group_by: ['inputs.language'], size: 12 }
  const board = boardOf(id, { label: 7, charts: [...others, known] })
  expect(board.title).toBe(id)
  expect(board.panels).toMatchObject([{ title: 'e', by: 'inputs.language', isWide: true }])
  const { charts } = storedBoard(board) as { charts: unknown[] }
  expect(charts.slice(1)).toEqual(others)
  for (const value of [null, undefined, 3, 'x', [], { charts: {} }]) expect(boardOf(id, value).panels).toEqual([])
})

it('a field is measured as it is asked to be, and nothing else is', () => {
  expect(measureNamed('p95 output.score')?.asked).toEqual([{ field: 'output.score', as: 'p95' }])
  for (const name of ['', 'avg', 'avg ', 'median output.score', 'toString', 'constructor x'])
    expect(measureNamed(name)).toBeUndefined()
})

it('any title makes an id that an address may have', () => {
  for (const title of ['Our errors', '…', '../..', '<b>', 'ü'.repeat(300), '-'])
    expect(isOwnBoard(boardIdOf(title))).toBe(true)
  expect(isOwnBoard('errors')).toBe(false)
})

it('groups within groups are kept, and named by both', () => {
  const panel = { title: 'a', type: 'lines' as const, measure: 'calls', by: 'op_name', by2: 'status' }
  const stored = storedBoard({ id, title: 'b', panels: [panel], others: [] }) as { charts: { request: object }[] }
  expect(stored.charts[0]).toMatchObject({
    group_by: ['op_name', 'status'],
    request: { group_by: ['op_name', 'status'] },
  })
  expect(boardOf(id, JSON.parse(JSON.stringify(stored))).panels).toMatchObject([panel])
  const group = (keys: string[]) => ({ keys, is_rest: false, series: {}, total: { 'calls.sum': 1 } })
  const answer = { buckets: [], groups: [group(['ask', 'error']), group(['ask', ''])] }
  expect(byGroup(answer, (of) => of('calls.sum') ?? null).map(({ name }) => name)).toEqual([
    'ask · error',
    'ask · unknown',
  ])
})

it('the calls of a group are found by a filter that names each of its keys, where a filter can', () => {
  const op = 'weave:///acme/x/op/ask:1'
  expect(termsOf(['op_name', 'status'], [op, 'error'])).toBe('op:ask status:error')
  expect(termsOf(['inputs.city', 'user'], ['Rome OR (x', ''])).toBe('inputs.city:"Rome OR (x"')
  expect(termsOf(['thread_id'], ['7'])).toBe('thread:"7"')
  // Neither a model nor a name with a space is a field of the line.
  expect(termsOf(['op_name', 'model'], ['ask', 'gpt-4o'])).toBeUndefined()
  expect(termsOf(['inputs.a b'], ['x'])).toBeUndefined()
  expect(termsOf(['__proto__'], ['x'])).toBeUndefined()
})
