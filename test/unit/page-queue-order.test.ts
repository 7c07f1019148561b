// The item of a queue at which an annotator goes on.
import { expect, it } from 'vitest'
import { answeredBy, nextToAnswer, startWords } from '../../services/web/page/engine/queue-order.ts'

const items = (...states: string[]) =>
  states.map((annotation_state, place) => ({ call_id: `call-${place}`, annotation_state }))
const said = (callId: string, by: string, userId = by) => ({ callId, by, userId })

it('open items come first, round the queue from the item that was shown last', () => {
  const all = items('completed', 'unstarted', 'skipped', 'in_progress')
  expect(nextToAnswer(all, new Set())).toBe(1)
  expect(nextToAnswer(all, new Set(), 1)).toBe(3)
  expect(nextToAnswer(all, new Set(), 3)).toBe(1)
  expect(startWords(all[1])).toBe('Continue labeling')
})

it('items that only others have answered are left for a person; skipped ones are not', () => {
  const all = items('completed', 'completed', 'skipped', 'completed')
  const ben = answeredBy('ben', [said('call-0', 'ada'), said('call-1', 'ben'), said('call-3', 'judge', 'ben')], [])
  expect([nextToAnswer(all, ben), nextToAnswer(all, ben, 0), nextToAnswer(all, ben, 3)]).toEqual([0, 3, 0])
  expect(startWords(all[0])).toBe('Add your answers')
})

it('nothing is left where all is answered, also by answers on their way, or where open items alone are meant', () => {
  const all = items('completed', 'completed')
  const ada = answeredBy('ada', [said('call-0', 'ada')], [{ callId: 'call-1' }])
  expect([nextToAnswer(all, ada), nextToAnswer(all, null), nextToAnswer([], ada)]).toEqual([-1, -1, -1])
  expect(startWords(undefined)).toBe('Review answers')
})
