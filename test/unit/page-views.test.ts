// Saved views: what of an address they keep, what others can read of it, and links to them.
import { expect, it } from 'vitest'
import { asksForNothing } from '../../services/web/page/parts/default-view.ts'
import { addressOf, idOf, kinds, linkOf, viewOf } from '../../services/web/page/views/kinds.ts'

const { calls, threads } = kinds

it('a saved view keeps what decides which rows stand there, and neither the zone of the reader nor the page', () => {
  expect(calls.kept({ q: 'status:error', range: '24h', tz: 'UTC', live: '1', saved: 'x', more: 'y' })).toEqual({
    q: 'status:error',
    range: '24h',
  })
  expect(threads.kept({ sort: 'turn_count', range: '7d', page: '3', tz: 'UTC', q: 'no' })).toEqual({
    sort: 'turn_count',
    range: '7d',
  })
  expect(threads.kept({ sort: 'last_updated', range: 'never' })).toEqual({})
})

it('the page reads back what it has saved, and names what others made without opening it', () => {
  const search = { q: 'inputs.a:"x & y=1"', range: '24h', sort: 'op_name:asc' }
  const description = addressOf(calls, search)
  expect(viewOf(calls, 'v', { label: 'L', description })).toEqual({ id: 'v', label: 'L', search })
  expect(viewOf(threads, 'v', { label: 'L', description }).search).toBeNull()
  expect(viewOf(calls, 'v', { label: 7, description: 'mine' })).toEqual({ id: 'v', label: 'v', search: null })
  expect(viewOf(calls, 'v', null)).toEqual({ id: 'v', label: 'v', search: null })
})

it('a saved view says to other programs what is in it, without ranges that end now', () => {
  expect(calls.definition('a/b', { q: 'op:answer', range: '24h', cols: 'inputs.k' }, () => 'UTC')).toMatchObject({
    filter: { trace_roots_only: true, op_names: expect.anything() },
    columns: [{ path: ['inputs', 'k'], label: 'inputs.k' }],
    sort_by: [{ field: 'started_at', direction: 'desc' }],
  })
  expect(threads.definition('a/b', { sort: 'turn_count' }, () => 'UTC')).toEqual({
    sort_by: [{ field: 'turn_count', direction: 'desc' }],
  })
})

it('days in a saved view are those of who opens it; for other programs they are instants of who saved it', () => {
  const search = { q: 'started>2026-01-05' }
  expect(calls.kept({ ...search, tz: 'Asia/Tokyo' })).toEqual(search)
  expect(calls.definition('a/b', search, () => 'Asia/Tokyo')).toMatchObject({
    query: { $expr: { $gt: [{ $getField: 'started_at' }, { $literal: Date.parse('2026-01-04T15:00Z') / 1000 }] } },
  })
})

it('the page links to what a view shows, whatever the address was before', () => {
  const view = { id: 'view-a', label: 'A', search: { q: 'status:error', sort: undefined } }
  expect(linkOf('https://h/obs/p/a/b/calls?q=other#x', view)).toBe(
    'https://h/obs/p/a/b/calls?q=status%3Aerror&saved=view-a',
  )
})

it('any label makes the name of a saved view’s object', () => {
  expect(idOf('Errors <b>today</b>')).toBe('view-Errors-b-today-b')
  expect(idOf('../..')).toMatch(/^view-[0-9a-f]{8}$/)
  expect(idOf('x'.repeat(300))).toHaveLength(105)
})

it('the page asks the browser for a view only where the address says nothing but the zone', () => {
  expect(asksForNothing({})).toBe(true)
  expect(asksForNothing({ tz: 'UTC', q: undefined })).toBe(true)
  expect(asksForNothing({ saved: '-' })).toBe(false)
})
