// Addresses of threads and of the dashboard: what may be typed into them, and what is left of it.
import { describe, expect, it } from 'vitest'
import { dashboardSearch } from '../../services/web/page/engine/dashboard-search.ts'
import { sorts, threadSearch, threadsSearch } from '../../services/web/page/engine/threads-search.ts'

/** What an address says, without what it leaves open. */
const said = (search: object) => Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined))

/** Values that a router may read from any address. */
const odd: readonly unknown[] = [null, undefined, '', 0, 5, true, [], ['24h'], {}, { a: 1 }, Number.NaN]
const day = '2026-01-05T00:00:00Z~2026-01-06T00:00:00Z'

describe('the list of threads', () => {
  it.each<[search: Record<string, unknown>, found: object]>([
    [{}, {}],
    [{ sort: 'turn_count' }, { sort: 'turn_count' }],
    // It is the order without one.
    [{ sort: 'last_updated' }, {}],
    [{ sort: 'constructor' }, {}],
    [{ sort: '__proto__' }, {}],
    [{ sort: 'TURN_COUNT' }, {}],
    [{ range: '24h' }, { range: '24h' }],
    [{ range: day }, { range: day }],
    [{ range: '2026-01-05~' }, { range: '2026-01-05~' }],
    [{ range: '~' }, { range: '~' }],
    [{ range: '2h' }, {}],
    [{ range: 'all' }, {}],
    [{ range: 'constructor' }, {}],
    [{ range: '2026-13-01~' }, {}],
    [{ range: 'a~b~c' }, {}],
    [{ page: '2' }, { page: '2' }],
    [{ page: '1' }, {}],
    [{ page: '0' }, {}],
    [{ page: '-2' }, {}],
    [{ page: '2.5' }, {}],
    [{ page: '1e3' }, {}],
    [{ page: '1000000' }, {}],
    [{ page: ' 2' }, {}],
    [{ saved: 'my-view_1.ü' }, { saved: 'my-view_1.ü' }],
    [{ saved: 'a b' }, {}],
    [{ saved: '../x' }, {}],
    [{ saved: 'x'.repeat(129) }, {}],
    [
      { tz: 'Europe/Berlin', other: 'x', __proto__: { sort: 'turn_count' } },
      { tz: 'Europe/Berlin', sort: 'turn_count' },
    ],
  ])('%j', (search, found) => {
    expect(said(threadsSearch(search))).toEqual(found)
  })

  it('leaves out what is no text', () => {
    for (const value of odd)
      expect(said(threadsSearch({ sort: value, range: value, page: value, tz: value, saved: value }))).toEqual({})
  })

  it('is read from its own address again as it was, by each of its orders', () => {
    for (const sort of Object.keys(sorts)) {
      const once = threadsSearch({ sort, range: day, page: '3', tz: 'UTC', saved: 'v' })
      expect(threadsSearch(once)).toEqual(once)
      expect(once.sort).toBe(sort === 'last_updated' ? undefined : sort)
    }
  })
})

describe('a thread', () => {
  it.each<[search: Record<string, unknown>, found: object]>([
    [{}, {}],
    [
      { turn: 'a', call: 'b', tab: 'raw' },
      { turn: 'a', call: 'b', tab: 'raw' },
    ],
    // A call and its tab are of a turn.
    [{ call: 'b', tab: 'raw' }, {}],
    [{ turn: '', call: 'b' }, {}],
    [{ turn: 'a', tab: 'nothing' }, { turn: 'a' }],
    [{ turn: 'a', tab: 'constructor' }, { turn: 'a' }],
    [{ turn: 'a', tab: ['raw'] }, { turn: 'a' }],
    [{ live: '1' }, { live: '1' }],
    [{ live: 1 }, {}],
    [{ live: 'true' }, {}],
    [
      { page: '12', tz: 'UTC' },
      { page: '12', tz: 'UTC' },
    ],
  ])('%j', (search, found) => {
    expect(said(threadSearch(search))).toEqual(found)
  })

  it('leaves out what is no text', () => {
    for (const value of odd)
      expect(said(threadSearch({ turn: value, call: value, tab: value, live: value, page: value, tz: value }))).toEqual(
        {},
      )
  })
})

describe('the dashboard', () => {
  it.each<[search: Record<string, unknown>, found: object]>([
    [{}, {}],
    [{ board: 'overview' }, {}],
    [{ board: 'agents' }, { board: 'agents' }],
    // One that does not exist stays: the page says so.
    [{ board: '__proto__' }, { board: '__proto__' }],
    [{ board: 'x'.repeat(500) }, { board: 'x'.repeat(200) }],
    [{ q: 'status:error OR "' }, { q: 'status:error OR "' }],
    [{ q: '' }, {}],
    // The usual range needs no word, all time does.
    [{ range: '24h' }, {}],
    [{ range: 'all' }, { range: 'all' }],
    [{ range: '7d' }, { range: '7d' }],
    [{ range: day }, { range: day }],
    [{ range: 'yesterday' }, {}],
    [{ range: 'toString' }, {}],
    [{ range: 'x~y' }, {}],
    [{ vs: 'before' }, { vs: 'before' }],
    [{ vs: 'after' }, {}],
    [{ add: '1' }, { add: '1' }],
    [{ add: 1 }, {}],
    [{ add: '0', tz: 'Mars/Olympus' }, { tz: 'Mars/Olympus' }],
  ])('%j', (search, found) => {
    expect(said(dashboardSearch(search))).toEqual(found)
  })

  it('leaves out what is no text, and is read from its own address again as it was', () => {
    for (const value of odd)
      expect(said(dashboardSearch({ board: value, q: value, range: value, tz: value, vs: value, add: value }))).toEqual(
        {},
      )
    const once = dashboardSearch({ board: 'x'.repeat(300), q: 'op:a', range: 'all', tz: 'UTC', vs: 'before', add: '1' })
    expect(dashboardSearch(once)).toEqual(once)
  })
})
