// A reader of calls: one compiled query of one project with its store, and the pages that answer it.
import type { ProjectId } from '../../core/ids.ts'
import type { QueryOptions, Store } from '../../core/store/store.ts'
import type { CountCache } from './access/counts.ts'
import type { CompiledCallsQuery } from './conditions/types.ts'
import type { Spread } from './payloads.ts'

export type CallReader = {
  store: Pick<Store, 'bytes' | 'rows'>
  projectId: ProjectId
  query: CompiledCallsQuery
  options: QueryOptions
  cache: CountCache
  /** Whether payloads have an index of words. */
  words?: boolean | undefined
}

/** Completes a query that reads whole traces; others stay as they are. */
export type ReadWholeTraces = (
  query: CompiledCallsQuery,
  reader: Pick<CallReader, 'projectId' | 'options'>,
) => Promise<CompiledCallsQuery>

/** Light rows in the order of the answer. */
export type Page<Row> = { rows: Row[]; spread: Spread }
