// Marks of the list of calls, one by one or all that match.
import { useState } from 'react'
import { baseUrl } from '../api/client.ts'
import type { ListRequest } from '../engine/calls-search.ts'
import type { Row } from '../engine/rows.ts'
import { type List, useMarked } from '../parts/use-list.ts'
import { ask } from '../worker/client.ts'

/** Most calls that "all that match" marks. */
export const maxMarked = 100_000

/**
 * Marks are kept by project and filter: another list begins without any.
 * @param idAt of this list: rows of another one, which still show, cannot be marked
 * @param found of a search that goes on, or was given up, all rows are those that are found
 */
export function useMarks(
  request: ListRequest | undefined,
  idAt: (index: number) => string | undefined,
  { isPart, items = [] }: Pick<List<Row>, 'isPart' | 'items'>,
) {
  const list = JSON.stringify([request?.project_id, request?.filter, request?.query])
  const marked = useMarked(list, idAt)
  const [found, setFound] = useState<{ list: string; ids: ReadonlySet<string>; fault?: string }>()
  // It counts until others are marked.
  const all = found?.list === list && found.ids === marked.ids ? found : undefined
  return {
    ...marked,
    /** Why those that match could not be marked. */
    fault: all?.fault,
    /** What they are the matches of, unless they were marked one by one. */
    matches: all !== undefined && all.fault === undefined ? request : undefined,
    async all() {
      if (request === undefined) return
      if (isPart) return marked.set(new Set(items.map(({ id }) => id)))
      try {
        const ids = new Set(await ask('ids', [baseUrl, { ...request, limit: maxMarked }]))
        marked.set(ids)
        setFound({ list, ids })
      } catch (error) {
        setFound({ list, ids: marked.ids, fault: error instanceof Error ? error.message : 'failed' })
      }
    },
  }
}
export type Marks = ReturnType<typeof useMarks>
