// Searches that may find something where one finds nothing.
import { type CallsSearch, ofTracesWithErrors, parsed } from './calls-search.ts'

/** Wider searches by what they do, the least wide of times first. */
export function widerSearches(search: CallsSearch): [name: string, wider: CallsSearch][] {
  const { range, view, q } = search
  const wider = ofTracesWithErrors(search).map((one): [string, CallsSearch] => ['Search traces with errors', one])
  if (range !== undefined && range !== '7d') wider.push(['Search the last 7 days', { ...search, range: '7d' }])
  if (range !== undefined) wider.push(['Search all time', { ...search, range: 'all' }])
  // A term of whole traces is none of calls.
  if (view !== 'all' && parsed(q).fault === undefined) wider.push(['Search all calls', { ...search, view: 'all' }])
  // By `user` readers mostly mean whom a program serves, not whose key it has.
  const ofEndUser = q?.replaceAll(/(^|[\s(-])user([:=~])/g, '$1end_user$2')
  if (ofEndUser && ofEndUser !== q) wider.push([`Search for ${ofEndUser.slice(0, 80)}`, { ...search, q: ofEndUser }])
  // Words are searched for in texts, not in names.
  if (q !== undefined && /^[\p{L}\p{N}_.-]+$/u.test(q)) wider.push(['Search names', { ...search, q: `name~${q}` }])
  if (q) wider.push(['Clear filter', { ...search, q: '' }])
  return wider
}
