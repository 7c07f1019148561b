// The check that an exported name has one declaration.
import { describe, expect, it } from 'vitest'
import { exportedNameFaults } from '../../scripts/exported-names.ts'

const faultsOf = (sources: Record<string, string>, ...allowed: string[]) =>
  exportedNameFaults(new Map(Object.entries(sources)), new Set(allowed))

describe('exported names', () => {
  it('a name that two files of the server declare is a fault, whatever it is in each', () => {
    const sources = {
      'services/query/a.ts': 'export type Usage = 1\nexport const onlyHere = 2\nconst local = 3\n',
      'scripts/b.ts': 'export async function Usage() {}\nconst local = 3\n',
    }
    expect(faultsOf(sources)).toEqual([
      'Usage is exported by services/query/a.ts and scripts/b.ts: a name of its own for one of them',
    ])
  })

  it('the page and the tests may have names that the server has too, each of them once', () => {
    const row = 'export type Row = 1\n'
    expect(faultsOf({ 'services/a.ts': row, 'services/web/page/b.ts': row, 'test/fixtures/c.ts': row })).toEqual([])
    expect(faultsOf({ 'services/web/page/a.ts': row, 'services/web/page/b.ts': row })).toHaveLength(1)
    expect(faultsOf({ 'test/a.ts': row, 'test/b.ts': row })).toEqual([
      'test:Row is exported by test/a.ts and test/b.ts: a name of its own for one of them',
    ])
  })

  it('overloads in one file are one declaration', () => {
    expect(faultsOf({ 'a.ts': 'export function of(a: 1): 1\nexport function of(a: 2): 2\n' })).toEqual([])
  })

  it('a shared name is no fault until one declaration is left', () => {
    const text = 'export const text = 1\n'
    expect(faultsOf({ 'a.ts': text, 'b.ts': text }, 'text')).toEqual([])
    expect(faultsOf({ 'a.ts': text }, 'text')).toEqual(['text needs no place in scripts/exported-names.ts any more'])
  })
})
