// Lists of the page: which pages are read, which rows are known, what stays while an answer is awaited, keys and marks.
import { describe, expect, it } from 'vitest'
import {
  hasNextPage,
  keptRows,
  pageCut,
  pageOf,
  pagesInView,
  rangeMarked,
  rowOfKey,
  rowsOf,
  rowsUpToEnd,
  toggledMark,
  windowOf,
} from '../../services/web/page/engine/lists.ts'

const rows = (from: number, count: number) => Array.from({ length: count }, (_, n) => from + n)

describe('pages of a list that is read as it comes into view', () => {
  it('are those of the rows in view, the first before there are any, and never many', () => {
    expect(pagesInView({ from: 0, to: 0 }, 100)).toEqual([0])
    expect(pagesInView({ from: 90, to: 100 }, 100)).toEqual([0])
    expect(pagesInView({ from: 90, to: 101 }, 100)).toEqual([0, 1])
    expect(pagesInView({ from: 250, to: 10_000 }, 100)).toEqual([2, 3, 4, 5])
  })

  it('give the rows of their places, and none of pages that are not here', () => {
    const { rowAt } = windowOf(new Map([[2, rows(20, 10)]]), 10)
    expect([rowAt(19), rowAt(20), rowAt(29), rowAt(30)]).toEqual([undefined, 20, 29, undefined])
  })

  it('count as many rows as are known, until the rows are counted', () => {
    expect(windowOf(new Map(), 10)).toMatchObject({ known: 0, count: 0 })
    expect(windowOf(new Map([[0, undefined]]), 10, 35)).toMatchObject({ known: 0, count: 35 })
    expect(windowOf(new Map([[1, rows(10, 10)]]), 10)).toMatchObject({ known: 20, count: 20 })
    expect(windowOf(new Map([[1, rows(10, 10)]]), 10, 35)).toMatchObject({ count: 35 })
  })

  it('tell how many rows there are once one of them is not full, unless more of it is searched for', () => {
    const full = { rows: rows(0, 10) }
    expect(rowsUpToEnd(new Map([[0, full]]), 10)).toBeUndefined()
    expect(rowsUpToEnd(new Map([[0, undefined]]), 10)).toBeUndefined()
    expect(rowsUpToEnd(new Map([[0, { rows: [] }]]), 10)).toBe(0)
    expect(
      rowsUpToEnd(
        new Map([
          [1, full],
          [2, { rows: rows(20, 3) }],
        ]),
        10,
      ),
    ).toBe(23)
    expect(rowsUpToEnd(new Map([[2, { rows: rows(20, 3), isPart: true }]]), 10)).toBeUndefined()
  })
})

describe('a list in pages', () => {
  it('asks for a row more, does not show it, and has a next page where it came', () => {
    expect(pageCut(3, 100)).toEqual({ limit: 101, offset: 300 })
    const pages = { by: 'page', size: 3, page: 1 } as const
    expect(rowsOf([rows(0, 4)], pages)).toEqual([0, 1, 2])
    expect([hasNextPage(4, pages, undefined), hasNextPage(3, pages, undefined)]).toEqual([true, false])
  })

  it('believes the number of all rows where the answer has it', () => {
    const pages = { by: 'page', size: 50, page: 1 } as const
    expect([hasNextPage(50, pages, 101), hasNextPage(50, pages, 100)]).toEqual([true, false])
  })

  it('has its page in the address, where it is none but the first', () => {
    expect(pageOf('2')).toBe('2')
    for (const none of ['1', '0', '-1', '1.5', 'x', '', 2, undefined, '1000000']) expect(pageOf(none)).toBeUndefined()
  })
})

describe('a list that grows', () => {
  const pages = { by: 'more', size: 2 } as const

  it('has the rows of all pages that are here, and further ones behind a full page', () => {
    expect(rowsOf([[1, 2], [3, 4], undefined], pages)).toEqual([1, 2, 3, 4])
    expect([hasNextPage(2, pages, undefined), hasNextPage(1, pages, undefined)]).toEqual([true, false])
  })

  it('read whole has no next page, and stays the same array', () => {
    const all = rows(0, 5)
    expect(rowsOf([all], undefined)).toBe(all)
    expect(rowsOf([undefined], undefined)).toBe(rowsOf([undefined], undefined))
    expect(hasNextPage(5, undefined, undefined)).toBe(false)
  })
})

describe('rows that stay while an answer is awaited', () => {
  const shown = { scope: 'acme/demo', question: 'a', rows: [1] }

  it('are those of the same question, however long it takes', () => {
    for (const isLate of [false, true])
      expect(keptRows(shown, { scope: 'acme/demo', question: 'a' }, isLate)).toBe(shown)
  })

  it('of another question stay for a moment, with the question that they answer', () => {
    expect(keptRows(shown, { scope: 'acme/demo', question: 'b' }, false)?.question).toBe('a')
    expect(keptRows(shown, { scope: 'acme/demo', question: 'b' }, true)).toBeUndefined()
  })

  it('of another scope, or of none, never stay', () => {
    expect(keptRows(shown, { scope: 'acme/other', question: 'a' }, false)).toBeUndefined()
    expect(keptRows(shown, { scope: undefined, question: 'a' }, false)).toBeUndefined()
    expect(keptRows(undefined, { scope: undefined, question: 'a' }, false)).toBeUndefined()
  })
})

describe('keys of a list', () => {
  it('lead to rows that there are', () => {
    const to = (key: string, at: number) => rowOfKey(key, at, 100, 20)
    expect([to('j', 4), to('ArrowUp', 4), to('PageDown', 4), to('PageUp', 4)]).toEqual([5, 3, 24, 0])
    expect([to('Home', 4), to('End', 4), to('ArrowDown', 99), to('k', 0), to('j', -1)]).toEqual([0, 99, 99, 0, 0])
    expect([to('x', 4), to('toString', 4), rowOfKey('j', 0, 0, 20)]).toEqual([undefined, undefined, undefined])
  })
})

describe('marks of rows', () => {
  it('are set and taken back one by one; of more than may be, the latest stay', () => {
    expect([...toggledMark(new Set(['a']), 'b')]).toEqual(['a', 'b'])
    expect([...toggledMark(new Set(['a', 'b']), 'a')]).toEqual(['b'])
    expect([...toggledMark(new Set(['a']), 'a')]).toEqual([])
    expect([...toggledMark(new Set(['a', 'b']), 'c', 2)]).toEqual(['b', 'c'])
  })

  it('of a range are those between two rows in either order, without rows that are not here', () => {
    const idAt = (index: number) => (index === 3 ? undefined : `id-${index}`)
    expect([...rangeMarked(new Set(['x']), 4, 2, idAt)]).toEqual(['x', 'id-2', 'id-4'])
    expect([...rangeMarked(new Set(), 2, 4, idAt)]).toEqual(['id-2', 'id-4'])
  })
})
