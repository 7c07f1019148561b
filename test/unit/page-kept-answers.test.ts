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

it.each<[name: string, more: Partial<KeptItem>]>([
  ['ids with spaces, which part the ids of a key', { queueId: 'q 1', itemId: '1' }],
  ['ids of other scripts', { queueId: 'größe/名', itemId: '😀' }],
  ['ids that look like escapes', { queueId: '%20', itemId: '%2520' }],
  ['ids of members of every object', { queueId: '__proto__', itemId: 'constructor' }],
  ['a value of any kind', { answers: [{ id: 'a', spec: 's', ref: 'r', value: [null, { '': [1e300, ''] }] }] }],
  ['an answer in the place of another one', { answers: [{ id: 'a', spec: 's', ref: 'r', value: 1, earlier: 'b' }] }],
  ['no answers', { answers: [], state: 'skipped' }],
  ['no position', { position: null }],
])('an item is there as it was and can be forgotten: %s', (_, more) => {
  const box = newBox()
  const kept = item('1', more)
  expect(keepItem(box, kept)).toBe(true)
  expect(keepItem(box, item('other'))).toBe(true)
  expect(keptItems(box, 'ann')).toEqual([kept, item('other')])
  forgetItem(box, kept)
  expect(keptItems(box, 'ann')).toEqual([item('other')])
})

it('items whose ids are put together alike are kept apart', () => {
  const box = newBox()
  const all = [
    item('1', { queueId: 'a b' }),
    item('b 1', { queueId: 'a' }),
    item('1', { queueId: 'a%20b' }),
    item('1', { projectId: 'acme', queueId: 'demo' }),
    item('1', { projectId: 'acme/demo', queueId: '' }),
  ]
  for (const one of all) keepItem(box, one)
  expect(keptItems(box, 'ann')).toEqual(all)
})

it.each<[name: string, change: (kept: KeptItem) => unknown]>([
  ['answers that are none', (kept) => ({ ...kept, answers: [null] })],
  ['answers that are texts', (kept) => ({ ...kept, answers: ['x'] })],
  ['answers without an id', (kept) => ({ ...kept, answers: [{ spec: 's', ref: 'r', value: 1 }] })],
  ['one good answer and a bad one', (kept) => ({ ...kept, answers: [...kept.answers, { id: 5 }] })],
  ['answers in an object', (kept) => ({ ...kept, answers: { 0: kept.answers[0] } })],
  ['a call that is no text', (kept) => ({ ...kept, callId: 5 })],
  ['no project', ({ projectId: _, ...kept }) => kept],
  ['a list', (kept) => [kept]],
  ['a number', () => 5],
])('an entry that cannot be sent stays where it is and is none: %s', (_, change) => {
  const box = newBox()
  keepItem(box, item('1'))
  const key = box.key(0) as string
  const text = JSON.stringify(change(item('1')))
  box.setItem(key, text)
  expect(keptItems(box, 'ann')).toEqual([])
  forgetItem(box, item('1'))
  expect(box.getItem(key)).toBe(text)
})

it('an id that cannot be written keeps nothing, and says so', () => {
  const box = newBox()
  // Half a letter has no place in an address.
  expect(keepItem(box, item('\ud83d'))).toBe(false)
  expect(box.length).toBe(0)
  expect(() => forgetItem(box, item('\ud83d'))).not.toThrow()
})

it('states of items are by their own ids, the last one where an item is there twice', () => {
  const items = ['1', '__proto__', 'constructor'].map((id) => ({ id, annotation_state: 'unstarted' }))
  const states = withKept(items, [
    { itemId: '1', state: 'skipped' },
    { itemId: '1', state: 'completed' },
    { itemId: '__proto__', state: 'skipped' },
    { itemId: 'gone', state: 'skipped' },
  ])
  expect(states.map(({ annotation_state }) => annotation_state)).toEqual(['completed', 'skipped', 'unstarted'])
  expect(items.map(({ annotation_state }) => annotation_state)).toEqual(Array(3).fill('unstarted'))
  expect(withKept([], [{ itemId: '1', state: 'skipped' }])).toEqual([])
})
