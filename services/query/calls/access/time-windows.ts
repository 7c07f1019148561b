// The access path that always leads to calls in the order of time: windows of time, sized by the counters and by what matched.
import type { CallReader } from '../reader.ts'
import type { Range, Scope } from '../scope.ts'
import { type AccessPathOf, type CallSearch, type Candidates, pageRows, type SearchProgress } from './access-path.ts'
import { createWindows } from './windows.ts'

/** First window of a filter that no counter knows, and the largest one. */
export const firstWindow = 20_000
const largestWindow = 1_000_000
/** Calls of one window whose refs are resolved. */
export const largestWindowOfRefs = 50_000

export const readsRefs = ({ query }: CallReader): boolean => query.derivedFields.refs.length > 0

/** Windows grow while they yield little, and shrink to about one page of hits. */
function nextTarget(calls: number, hits: number, min: number): number {
  if (hits <= pageRows / 4) return Math.min(largestWindow, Math.max(min, calls) * 4)
  return Math.min(largestWindow, Math.max(pageRows, Math.ceil((calls * pageRows) / hits)))
}

/**
 * The windows of a range of the search.
 * @param from.isLarge begins with a large window: what came before led to little
 */
export async function* windowsIn(
  { reader, order, limit, rows }: CallSearch,
  progress: SearchProgress,
  from: { range: Range; offset: number; isLarge?: boolean },
): AsyncGenerator<Extract<Candidates, { scope: Scope }>> {
  const { projectId, query } = reader
  const { counted } = query.facts
  const wanted = Math.min(limit ?? rows, rows)
  const size = counted === null ? firstWindow : wanted + Math.min(from.offset, firstWindow)
  const { skipped, next } = await createWindows(reader, {
    range: from.range,
    direction: order.startedAt,
    counter: counted ?? 'calls',
    size,
    offset: from.offset,
    isCounted: counted !== null,
  })
  const min = skipped > 0 ? wanted : size
  const max = readsRefs(reader) ? largestWindowOfRefs : Number.POSITIVE_INFINITY
  let target = Math.min(from.isLarge ? largestWindow / 8 : min, max)
  let isFirst = true
  for (let window = await next(target); window !== null; window = await next(target)) {
    const { range, calls } = window
    yield { scope: { projectId, range, index: null, keys: null }, calls, skipped: isFirst ? skipped : 0 }
    isFirst = false
    target = Math.min(max, nextTarget(calls, progress.hits, min))
  }
}

export const timeWindows: AccessPathOf = (search) => ({
  name: 'time windows',
  estimate: async () => Number.POSITIVE_INFINITY,
  candidates: (progress) => windowsIn(search, progress, search),
})
