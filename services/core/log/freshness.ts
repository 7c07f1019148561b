// Read your own writes: a read waits, bounded, until the tables it reads have passed the log's end at its arrival.
import { malformed, Refusal, unavailable } from '../errors.ts'
import type { ProjectId } from '../ids.ts'
import { noteStale } from '../process/running-handler.ts'
import type { Log, Position } from './log.ts'
import { parsePositions, positionHeader } from './positions.ts'
import type { Progress } from './progress.ts'

/** The parts of a request that say how fresh its answer has to be. */
type FreshnessWish = {
  /** Header by lower-case name. */
  header(name: string): string | undefined
  query: URLSearchParams
  signal: AbortSignal
  projects?(): readonly ProjectId[]
  /** Its answer counts or sums, and is none when it may lack writes. */
  countsAll?: boolean
}

export type Freshness = {
  /**
   * Waits for the topics that a route reads: for what was written for the projects of the request, where that is known.
   * Resolves to the headers of the answer: `X-Callhouse-Stale: <ms>` when it may lack writes; whoever invoked the route
   * says so too. `?freshness=any` or `X-Callhouse-Freshness: any` skips the wait; a position in `X-Callhouse-Position` is
   * waited for exactly, instead of the log's end.
   * @throws Refusal instead of an answer that may lack writes, where `strict` is asked for or the answer counts
   */
  wait(wish: FreshnessWish, topics: string[]): Promise<Record<string, string>>
}

/** Asks for what was accepted up to now, where no request says how fresh its answer has to be. */
export const latestOfLog = (signal: AbortSignal = new AbortController().signal): FreshnessWish => ({
  header: () => undefined,
  query: new URLSearchParams(),
  signal,
})

export const staleHeader = 'X-Callhouse-Stale'

/**
 * The headers of an answer; what they say of staleness, the request that runs says too.
 * @throws Refusal instead of an answer that counts and may lack writes
 */
export function noted(
  headers: Record<string, string>,
  { countsAll }: Pick<FreshnessWish, 'countsAll'> = {},
): Record<string, string> {
  if (countsAll) throwIfStale(headers)
  if (staleHeader in headers) noteStale(Number(headers[staleHeader]))
  return headers
}

/** Refuses a write that decides by reading, or a count. @throws Refusal when the wait before it ended too early */
export function throwIfStale(headers: Record<string, string>): void {
  if (staleHeader in headers) throw unavailable('Earlier writes are not readable yet')
}

/** The error, when what was not found certainly is not there. @throws Refusal otherwise */
export function unlessStale<E extends Error>(headers: Record<string, string>, otherwise: E): E {
  throwIfStale(headers)
  return otherwise
}

export function createFreshness(deps: {
  log: Log
  progress: Progress
  boundMs: number
  /**
   * Called after each wait: `current` = nothing was missing, `waited` = it came in time, `stale` = the answer may lack
   * it.
   */
  onWait?(outcome: 'current' | 'waited' | 'stale', ms: number): void
}): Freshness {
  const { log, progress, boundMs } = deps
  const ends = async (topics: string[], projects: readonly string[]): Promise<Position[] | null> => {
    const end = (topic: string) => (projects.length > 0 && log.endOf ? log.endOf(topic, projects) : log.end(topic))
    try {
      return (await Promise.all(topics.map(end))).flat()
    } catch (error) {
      if (error instanceof Refusal) return null
      throw error
    }
  }
  const stale = (ms: number): Record<string, string> => ({ [staleHeader]: String(ms) })
  const latest = async (
    { header, signal, projects }: FreshnessWish,
    topics: string[],
    isStrict: boolean,
  ): Promise<'current' | 'waited' | Record<string, string>> => {
    const asked = header(positionHeader.toLowerCase())
    const wanted = asked ? parsePositions(asked, log.topics) : await ends(topics, projects?.() ?? [])
    // A log that does not answer keeps no one from reading.
    if (wanted === null) return stale(Math.max(1, boundMs, log.health().lagMs))
    const missing = wanted.filter((p) => progress.offset(p.topic, p.partition) < p.offset)
    if (missing.length === 0) return 'current'
    const lagMs = log.health().lagMs
    if (!asked && !isStrict && lagMs > boundMs) return stale(lagMs)
    for (const topic of new Set(missing.map((p) => p.topic))) log.flush(topic)
    if (await progress.reach(missing, boundMs, signal)) return 'waited'
    return stale(Math.max(1, log.health().lagMs))
  }
  return {
    async wait(wish, topics) {
      const mode = wish.query.get('freshness') ?? wish.header('x-callhouse-freshness') ?? 'latest'
      if (mode === 'any') return {}
      const isStrict = mode === 'strict'
      if (mode !== 'latest' && !isStrict)
        throw malformed(`Invalid freshness: ${JSON.stringify(mode.slice(0, 50))}; expected latest, strict or any`)
      const beganMs = performance.now()
      const result = await latest(wish, topics, isStrict)
      const isFresh = result === 'current' || result === 'waited'
      deps.onWait?.(isFresh ? result : 'stale', performance.now() - beganMs)
      if (isFresh) return {}
      if (isStrict) throwIfStale(result)
      return noted(result, wish)
    },
  }
}
