// The contents of a receipt of an erasure, and the coverage of its hash, in this version and in those before.
import { expect, it } from 'vitest'
import { type Erasure, noErasureCounts, receiptOf } from '../../services/events/erasures.ts'
import { selectorHmac } from '../../services/query/request-erasure.ts'

const done: Erasure = {
  projectId: 'acme/app',
  id: 'e1',
  status: 'done',
  requestedBy: 'ann',
  requestedUs: 1,
  deadlineUs: 2,
  doneUs: 4,
  hiddenUs: 3,
  untilVer: 9n,
  firstVer: 1n,
  selectorHmac: 'ab',
  held: 0,
  reason: '',
  problem: '',
  counts: { ...noErasureCounts, calls: 2, files: 1, bytes: 10 },
  remaining: '',
  places: '["table calls"]',
  previous: '',
  hash: 'h',
  changedMs: 1,
}

it('a receipt says when the calls were hidden, what was asked for as a keyed hash, and which files went', () => {
  expect(receiptOf(done)).toMatchObject({
    hidden_at: '1970-01-01T00:00:00.000Z',
    selector_hmac: 'ab',
    held: 0,
    counts: { calls: 2, files: 1, bytes: 10, log_records: 0 },
    places: ['table calls'],
  })
  expect(receiptOf({ ...done, status: 'accepted', hiddenUs: 0, selectorHmac: '' })).toMatchObject({
    hidden_at: null,
    selector_hmac: null,
  })
})

it('a receipt of an earlier version is what it was, so that its hash holds', () => {
  const names = Object.keys(receiptOf({ ...done, hiddenUs: 0, places: '' }))
  expect(names).toEqual([
    'erasure_id',
    'project_id',
    'status',
    'requested_by',
    'requested_at',
    'deadline',
    'done_at',
    'reason',
    'problem',
    'counts',
    'remaining',
    'previous',
    'hash',
  ])
  const counts = Object.keys(receiptOf({ ...done, hiddenUs: 0, places: '' }).counts)
  expect(counts).toEqual(['calls', 'missing', 'payload_rows', 'feedback', 'log_rows', 'dead_letters'])
  expect(receiptOf({ ...done, places: '' })).not.toHaveProperty('places')
  expect(receiptOf({ ...done, places: '' }).counts).not.toHaveProperty('log_records')
})

it('a receipt shows what was asked for to whoever has the master key and names it, in whatever order', () => {
  const key = Buffer.alloc(32, 7)
  const of = (selector: Record<string, unknown>, project = 'acme/app', master: Buffer | undefined = key) =>
    selectorHmac(master, project, selector)
  const one = of({ call_ids: ['a', 'b'], query: undefined })
  expect(one).toMatch(/^[0-9a-f]{64}$/)
  expect(of({ call_ids: ['b', 'a', 'b'] })).toBe(one)
  const others = [of({ call_ids: ['a'] }), of({ trace_ids: ['a', 'b'] }), of({ call_ids: ['a', 'b'] }, 'acme/other')]
  for (const other of [...others, of({ call_ids: ['a', 'b'] }, 'acme/app', Buffer.alloc(32))])
    expect(other).not.toBe(one)
  expect(selectorHmac(undefined, 'acme/app', { call_ids: ['a'] })).toBe('')
})
