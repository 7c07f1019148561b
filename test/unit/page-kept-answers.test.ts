// Answers that are not stored yet: what the browser keeps of them, for whom, and until when.
import { expect, it } from 'vitest'
import {
  forgetItem,
  isRefusedForGood,
  type KeptItem,
  keepItem,
  keptItems,
  withKept,
} from '../../services/web/page/engine/kept-answers.ts'

function newBox(): Storage {
  const all = new Map<string, string>()
  return {
    get length() {
      return all.size
    },
    clear: () => all.clear(),
    getItem: (key) => all.get(key) ?? null,
    key: (n) => [...all.keys()][n] ?? null,
    removeItem: (key) => void all.delete(key),
    setItem: (key, value) => void all.set(key, value),
  }
}

const item = (itemId: string, more: Partial<KeptItem> = {}): KeptItem => ({
  userId: 'ann',
  prefix: 'wandb',
  projectId: 'acme/demo',
  queueId: 'q',
  itemId,
  callId: `call-${itemId}`,
  position: 1,
  state: 'completed',
  answers: [{ id: `answer-${itemId}`, spec: 'quality', ref: 'weave:///x', value: { deep: [1, null] } }],
  ...more,
})

it('answers are there after the page, for the same user alone, and once for each item', () => {
  const box = newBox()
  box.setItem('callhouse.widths', '[]')
  for (const one of [item('1'), item('2'), item('3', { userId: 'bob' }), item('1', { state: 'skipped' })])
    expect(keepItem(box, one)).toBe(true)
  expect(keptItems(box, 'ann')).toEqual([item('1', { state: 'skipped' }), item('2')])
  expect(keptItems(box, 'bob')).toEqual([item('3', { userId: 'bob' })])
  // Another queue has items of its own, whatever their ids are made of.
  keepItem(box, item('2', { queueId: 'q 2' }))
  expect(keptItems(box, 'ann')).toHaveLength(3)
})

it('it is forgotten once it is stored, unless it was answered again since', () => {
  const box = newBox()
  const again = item('1', { answers: [] })
  keepItem(box, item('1'))
  keepItem(box, again)
  forgetItem(box, item('1'))
  expect(keptItems(box, 'ann')).toEqual([again])
  forgetItem(box, again)
  expect(keptItems(box, 'ann')).toEqual([])
})

it('entries of other versions, and storage that is full or closed, break nothing', () => {
  const box = newBox()
  keepItem(box, item('1'))
  const key = box.key(0) as string
  for (const text of ['', '{', 'null', '{"userId":"ann"}', JSON.stringify({ ...item('1'), state: 'else' })]) {
    box.setItem(key, text)
    expect(keptItems(box, 'ann')).toEqual([])
  }
  const fail = (): never => {
    throw new Error('closed')
  }
  const closed = { ...newBox(), setItem: () => fail(), getItem: () => fail() } as Storage
  expect(keepItem(closed, item('1'))).toBe(false)
  expect(() => forgetItem(closed, item('1'))).not.toThrow()
})

it('an item whose answer is on its way is not open any more', () => {
  const items = ['1', '2', '3'].map((id) => ({ id, annotation_state: 'unstarted', more: id }))
  const states = withKept(items, [
    { itemId: '2', state: 'completed' },
    { itemId: '3', state: 'skipped' },
  ])
  expect(states.map(({ annotation_state }) => annotation_state)).toEqual(['unstarted', 'completed', 'skipped'])
  expect(states[1]?.more).toBe('2')
})

it('only what is refused for good is given up', () => {
  expect([400, 404, 422].map(isRefusedForGood)).toEqual([true, true, true])
  expect([0, 401, 403, 429, 500, 502, 503, 504].map(isRefusedForGood)).toEqual(Array(8).fill(false))
})
