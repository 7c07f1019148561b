// Log records that are shown: in a project of which nothing was deleted they are read as they lie, else page by page, without
// those that are hidden.

import type { ProjectId } from '../../core/ids.ts'
import { createRecent } from '../../core/memory/lru-cache.ts'
import type { Query, QueryOptions, Store } from '../../core/store/store.ts'
import { readTuples } from '../compact-rows.ts'
import { listRows, rowsOfKeys } from '../list-rows.ts'
import { anyDeletedQuery, type HiddenRow, hiddenBy, hiddenQuery } from './hidden.ts'
import {
  behind,
  logList,
  type RecordCondition,
  type RecordKey,
  type RecordRow,
  recordIdsOf,
  recordKeys,
} from './records.ts'

/** Records that one statement asks about. */
const mostKeys = 5_000
/** A page of a list in which many are hidden is so many times longer than the one before. */
const growth = 4
const keepMs = 3_600_000

type Asked = { projectId: ProjectId; where: RecordCondition; signal: AbortSignal }

export type ShownRecords = {
  /** The first records for which a condition holds, in the order of their times. */
  shown(asked: Asked & { limit: number }): AsyncGenerator<RecordRow[]>
  /** Keys of all of them, some at a time. */
  keys(asked: Asked, firstPage?: number, options?: QueryOptions): AsyncGenerator<RecordKey[]>
}

export function createShownRecords(store: Pick<Store, 'bytes'>): ShownRecords {
  /** Projects of which something was deleted: that stays so. */
  const withDeleted = createRecent<true>(10_000, keepMs)
  const read = <R>(query: Query, options: QueryOptions) => readTuples<R>(store, query, options)

  async function hasDeleted(projectId: ProjectId, options: QueryOptions): Promise<boolean> {
    if (withDeleted.get(projectId)) return true
    const [row] = await read<[number]>(anyDeletedQuery(projectId), options)
    if (Number(row?.[0] ?? 0) === 0) return false
    withDeleted.set(projectId, true)
    return true
  }

  async function* keys(
    { projectId, where, signal }: Asked,
    firstPage = mostKeys,
    options: QueryOptions = { signal },
  ): AsyncGenerator<RecordKey[]> {
    let after = where
    for (let limit = Math.min(firstPage, mostKeys); ; limit = Math.min(limit * growth, mostKeys)) {
      const page = await recordKeys.read(store, logList(projectId, after, limit).keys({ limit, offset: 0 }), options)
      const last = page.at(-1)
      if (last === undefined) return
      const isHidden = hiddenBy(await read<HiddenRow>(hiddenQuery(projectId, page.map(recordIdsOf)), options))
      const some = page.filter((key) => !isHidden(recordIdsOf(key)))
      if (some.length > 0) yield some
      if (page.length < limit) return
      after = behind(where, last.key)
    }
  }

  return {
    keys,
    async *shown({ limit, ...asked }) {
      const { projectId, where, signal } = asked
      const list = logList(projectId, where, limit)
      const reader = { store, options: { signal } }
      const all = listRows(reader, list, { limit, offset: 0 })
      const [first, isFiltered] = await Promise.all([
        withDeleted.get(projectId) ? undefined : all.next(),
        hasDeleted(projectId, { signal }),
      ])
      if (!isFiltered) {
        if (first !== undefined && !first.done) yield first.value
        return yield* all
      }
      await all.return(undefined)
      let left = limit
      for await (const page of keys(asked, limit)) {
        yield* rowsOfKeys(reader, list, page.slice(0, left))
        left -= page.length
        if (left <= 0) return
      }
    },
  }
}
