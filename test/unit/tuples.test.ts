// The check that rows of many values have names.
import { expect, it } from 'vitest'
import { tupleFaults } from '../../scripts/tuples.ts'

const faultsOf = (text: string, file = 'services/query/a.ts') => tupleFaults(new Map([[file, text]]))

it.each([
  ['labelled', 1, 'type Row = [id: string, at: number, of: string[], to: 0 | 1, by: string]'],
  ['without labels', 1, 'const rows = read<[string, number, string, number, string]>(query)'],
  ['over lines', 2, '\ntype Row = [\n  a: string,\n  b: Map<string, number>,\n  c: 1,\n  d: () => void,\n  e: X,\n]'],
  ['within another', 1, 'type Row = [...[a: string, b: string, c: string, d: string, e: string], f: X]'],
])('a tuple of five places is refused: %s', (_, line, text) => {
  expect(faultsOf(text)).toEqual([`services/query/a.ts:${line} has a tuple of 5 places: give its values names`])
})

it.each([
  ['a tuple of four places', 'type Row = [id: string, at: number, of: string[], to: Map<string, number>]'],
  ['a tuple with a rest', 'type Row = [id: string, at: number, ...values: (number | null)[]]'],
  ['a list of values', 'const numbers = [string(1), 2, 3, first, names.of, last]'],
  ['an index', 'type Id = Row[string]'],
])('%s is none', (_, text) => expect(faultsOf(text)).toEqual([]))

it('is looked for in services, schemas and scripts', () => {
  const text = 'type Row = [string, string, string, string, string]'
  expect(faultsOf(text, 'scripts/a.ts')).toHaveLength(1)
  expect(faultsOf(text, 'schemas/a.ts')).toHaveLength(1)
  expect(faultsOf(text, 'test/unit/a.test.ts')).toEqual([])
})
