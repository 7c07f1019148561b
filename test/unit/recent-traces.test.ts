// Traces that were new of late: only whole ones are remembered, and no more spans than were agreed.
import { expect, it } from 'vitest'
import { createRecentTraces } from '../../services/worker/calls/recent-traces.ts'
import { type CountedSpan, noBill, noShare } from '../../services/worker/calls/spans.ts'

const spanOf = (id: string): CountedSpan => {
  const rest = { parent: '', startedUs: 0, endVer: '', numbers: [], isSpan: true }
  return { id, ...rest, billed: noBill, stored: noShare }
}
const rowsOf = (trace: string, ...ids: string[]) => ({
  key: trace,
  project: 'p',
  trace,
  spans: ids.map(spanOf),
  isPartial: false,
})

it('give all spans of a trace, and say which came last', () => {
  const recent = createRecentTraces()
  expect(recent.add(rowsOf('t', 'a', 'b'), true)).toMatchObject({ trace: 't', added: 0 })
  const found = recent.add(rowsOf('t', 'c'), false)
  expect([found?.added, found?.spans.map(({ id }) => id)]).toEqual([2, ['a', 'b', 'c']])
})

it('are not known unless all of them is', () => {
  const recent = createRecentTraces()
  expect(recent.add(rowsOf('unseen', 'a'), false)).toBeUndefined()
  expect(recent.add({ ...rowsOf('partial', 'a'), isPartial: true }, true)).toBeUndefined()
  expect(recent.add(rowsOf('partial', 'b'), false)).toBeUndefined()
  recent.add(rowsOf('twice', 'a'), true)
  expect(recent.add(rowsOf('twice', 'a'), false)).toBeUndefined()
  expect(recent.add(rowsOf('twice', 'b'), false)).toBeUndefined()
  recent.add(rowsOf('dropped', 'a'), true)
  recent.drop('dropped')
  expect(recent.add(rowsOf('dropped', 'b'), false)).toBeUndefined()
  recent.add(rowsOf('cleared', 'a'), true)
  recent.clear()
  expect(recent.add(rowsOf('cleared', 'b'), false)).toBeUndefined()
})

it('are forgotten where there are too many, the one first that no span came of for longest', () => {
  const recent = createRecentTraces(4)
  recent.add(rowsOf('first', 'a'), true)
  recent.add(rowsOf('second', 'a', 'b'), true)
  recent.add(rowsOf('first', 'b'), false)
  recent.add(rowsOf('third', 'a'), true)
  expect(recent.add(rowsOf('second', 'c'), false)).toBeUndefined()
  expect(recent.add(rowsOf('first', 'c'), false)).toMatchObject({ added: 2 })
  expect(recent.add(rowsOf('large', 'a', 'b', 'c', 'd', 'e'), true)).toBeUndefined()
})
