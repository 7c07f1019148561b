// Values beside rows: what stays while an answer is on its way, and what none is.
import { expect, it } from 'vitest'
import { type KnownValues, knownValues, sameRows } from '../../services/web/page/engine/row-values.ts'

const [one, two] = [{ spans: 1 }, { spans: 2 }]
const known: KnownValues<object> = new Map([
  ['a', one],
  ['b', null],
  ['left', two],
])

it('what is known of a row stays until there is an answer, and a new row is not known', () => {
  expect([...knownValues(known, ['new', 'a', 'b'], undefined)]).toEqual([
    ['a', one],
    ['b', null],
  ])
})

it('an answer holds for all rows that it is for, those that it has nothing of among them', () => {
  expect([...knownValues(known, ['new', 'a'], new Map([['new', two]]))]).toEqual([
    ['new', two],
    ['a', null],
  ])
})

it('rows are others as soon as one of them is, however many there are', () => {
  const rows = [one, two]
  expect(sameRows(rows, [one, two])).toBe(rows)
  for (const other of [[two, one], [one], [one, { spans: 2 }]]) expect(sameRows(rows, other)).toBe(other)
})
