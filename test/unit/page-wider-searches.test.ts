// Searches that a list without rows offers: wider ones than the one that found nothing.
import { expect, it } from 'vitest'
import { type CallsSearch, parsedList } from '../../services/web/page/engine/calls-search.ts'
import { widerSearches } from '../../services/web/page/engine/wider-searches.ts'

const namesOf = (search: CallsSearch) => widerSearches(search).map(([name]) => name)

it('take back what narrows the search, times first, and keep the rest', () => {
  const search = { q: 'status:error', range: '1h', sort: 'latency' }
  expect(widerSearches(search)).toEqual([
    ['Search traces with errors', { ...search, q: 'errors>0' }],
    ['Search the last 7 days', { ...search, range: '7d' }],
    ['Search all time', { ...search, range: 'all' }],
    ['Search all calls', { ...search, view: 'all' }],
    ['Clear filter', { ...search, q: '' }],
  ])
  expect(namesOf({ range: '7d', view: 'all' })).toEqual(['Search all time'])
  expect(namesOf({ view: 'all' })).toEqual([])
})

it('may mean the end user by the user, as whole words', () => {
  const meant = '-end_user:ann superuser:x (end_user=bob)'
  expect(widerSearches({ q: '-user:ann superuser:x (user=bob)', view: 'all' })[0]).toEqual([
    `Search for ${meant}`,
    { q: meant, view: 'all' },
  ])
  expect(namesOf({ q: 'status:error', view: 'all' })).toEqual(['Clear filter'])
})

it('may mean a name by a word', () => {
  expect(widerSearches({ q: 'slow_call', view: 'all' })).toEqual([
    ['Search names', { q: 'name~slow_call', view: 'all' }],
    ['Clear filter', { q: '', view: 'all' }],
  ])
  expect(parsedList({ q: 'name~slow_call', view: 'all' })).toMatchObject({ problems: [] })
  expect(namesOf({ q: 'two words', view: 'all' })).toEqual(['Clear filter'])
})

it('do not offer all calls where the filter is of whole traces or cannot be read', () => {
  for (const q of ['spans>5', '(']) expect(namesOf({ q })).not.toContain('Search all calls')
})
