// Feedback in the page, and the address of a thread.
import { expect, it } from 'vitest'
import { type FeedbackItem, saidBy, summaryOf } from '../../services/web/page/engine/feedback.ts'
import { threadSearch } from '../../services/web/page/engine/threads-search.ts'

const item = (feedback_type: string, payload: Record<string, unknown>): FeedbackItem => ({
  id: feedback_type,
  weave_ref: 'weave:///a/b/call/c',
  created_at: '2026-01-01T00:00:00Z',
  feedback_type,
  payload,
})

it('says what items of feedback say, whatever their types and payloads', () => {
  expect(saidBy(item('wandb.reaction.1', { emoji: '👍' }))).toEqual(['Reaction', '👍'])
  expect(saidBy(item('callhouse.note.1', { note: '<b>' }))).toEqual(['Note', '<b>'])
  expect(saidBy(item('wandb.annotation.quality', { value: 3 }))).toEqual(['quality', '3'])
  expect(saidBy(item('wandb.runnable.judge', { output: { score: 1 } }))).toEqual(['judge', '{"score":1}'])
  expect(saidBy(item('own', {}))).toEqual(['own', '{}'])
  expect(saidBy(item('wandb.reaction.1', {}))).toEqual(['Reaction', ''])
})

it('sums feedback up: signs by how many gave them, the latest of each value, and how many notes', () => {
  const items = [
    ...['👎', '👍', '👍'].map((emoji) => item('wandb.reaction.1', { emoji })),
    item('wandb.annotation.quality', { value: 'bad' }),
    item('wandb.note.1', { note: 'a' }),
    item('wandb.annotation.__proto__', { value: 1 }),
    item('wandb.annotation.quality', { value: 'good' }),
  ]
  expect(summaryOf(items)).toEqual({
    reactions: [
      ['👍', 2],
      ['👎', 1],
    ],
    values: [
      ['quality', 'good'],
      ['__proto__', '1'],
    ],
    notes: 1,
  })
})

it('keeps of the address of a thread what it knows: another call and a part only of an open turn', () => {
  const whole = { page: '2', turn: 't', call: 'c', tab: 'raw', live: '1', tz: 'UTC' }
  expect(threadSearch({ ...whole, more: 'x' })).toEqual(whole)
  const { call, tab, page } = threadSearch({ call: 'c', tab: 'raw', page: '1' })
  expect({ call, tab, page }).toEqual({})
  expect(threadSearch({ turn: 't', tab: 'no', page: '-1', live: 'yes' })).toMatchObject({ turn: 't' })
  expect(threadSearch({ turn: 't', tab: 'no' }).tab).toBeUndefined()
})
