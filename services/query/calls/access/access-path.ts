// An access path: one way to the calls that may match a query.
import type { Refine } from '../conditions/refine.ts'
import type { TimeOrder } from '../page.ts'
import type { CallReader } from '../reader.ts'
import type { CallKey, Range, Scope } from '../scope.ts'

/** Most call headers of one statement, unless a search says otherwise. */
export const pageRows = 2_000

/** The conditions of a query on calls, and its order. */
export type CallSearch = {
  reader: CallReader
  /** Start times that the query allows. */
  range: Range
  refine: Refine
  /** Order by start time; `readPages` reads other orders by the keys of a path. */
  order: TimeOrder
  /** Matching calls that are wanted, null = all, behind `offset` others. */
  limit: number | null
  offset: number
  /** Most call headers of one statement. */
  rows: number
}

export type Candidates =
  | {
      /** Calls that may match: the conditions are refined for them, and checked. */
      scope: Scope
      /** About how many calls lie in the scope; Infinity where nobody knows. */
      calls: number
      /** Matching calls in front of the scope that were counted instead of read. */
      skipped?: number
    }
  /** Calls that match, in the order of the answer, `offset` and `limit` done. */
  | { keys: readonly CallKey[] }

/** Feedback of the reader: how many calls matched among the last candidates. */
export type SearchProgress = { hits: number }

export type AccessPath = {
  name: string
  /**
   * Most calls that it leads to: Infinity where that is not known, null = it does not lead to the calls of this search.
   */
  estimate(): Promise<number | null>
  /** All calls that may match, each in one of the candidates, in the order of the search. */
  candidates(progress: SearchProgress): AsyncIterable<Candidates>
}

/** Makes the path of a search; it reads nothing yet. */
export type AccessPathOf = (search: CallSearch) => AccessPath
