// Held data of a project: by scope, by time, and all of them together.
import { expect, it } from 'vitest'
import { type Hold, heldOf } from '../../services/core/directory/holds.ts'

const state = (...holds: Omit<Hold, 'reason'>[]) => ({
  holds: new Map(holds.map((hold, index) => [String(index), { reason: 'x', ...hold }])),
})

it('holds over a project count together: its own, those of its entity, those of everything', () => {
  const held = heldOf(
    state(
      { scope: 'acme/app', call_ids: ['a'] },
      { scope: 'acme', call_ids: ['b'] },
      { scope: '*', trace_ids: ['t'] },
      { scope: 'acme/app-2', call_ids: ['c'] },
      { scope: 'ac', thread_ids: ['d'], all: true },
    ),
    'acme/app',
    0,
  )
  expect(held).toEqual({ all: false, callIds: new Set(['a', 'b']), traceIds: new Set(['t']), threadIds: new Set() })
})

it('a hold counts until its end', () => {
  const one = state({ scope: 'acme/app', all: true, until: '2026-01-01T00:00:00Z' })
  const end = Date.parse('2026-01-01T00:00:00Z')
  expect(heldOf(one, 'acme/app', end - 1).all).toBe(true)
  expect(heldOf(one, 'acme/app', end).all).toBe(false)
})
