// Reading tables: POST /table/query, /table/query_stats and /table/query_stats_batch.

import {
  tableQueryRequest,
  tableQueryResponse,
  tableStatsBatchRequest,
  tableStatsBatchResponse,
  tableStatsRequest,
  tableStatsResponse,
} from '../../../schemas/tables.ts'
import { type Route, route } from '../../core/http/route.ts'
import type { Freshness } from '../../core/log/freshness.ts'
import type { Store } from '../../core/store/store.ts'
import { listReply } from '../list-reply.ts'
import { listBounds } from '../list-rows.ts'
import { createReadAhead, maxPageRows, page, windows } from './pages.ts'
import {
  type ListedRow,
  listedRows,
  listedRowsWith,
  rowsAt,
  rowTexts,
  type TableSource,
  tableCounts,
  tableSizes,
} from './read.ts'
import { sortedRows, sortTerms } from './sort.ts'

export type TableReadDeps = {
  store: Pick<Store, 'rows' | 'bytes'>
  freshness: Freshness
}

async function* textsAt(source: TableSource, places: readonly ListedRow[]): AsyncGenerator<string> {
  for await (const rows of rowsAt(source, places)) if (rows.length > 0) yield rowTexts(rows).join(',')
}

export function createTableReadRoutes({ store, freshness }: TableReadDeps): Route[] {
  const ahead = createReadAhead()
  return [
    route({
      name: 'tables.query',
      method: 'POST',
      path: '/table/query',
      summary: 'Rows of a table, filtered, sorted and paged',
      body: { type: 'json', schema: tableQueryRequest, check: 'schema' },
      response: tableQueryResponse,
      tables: ['table_lists', 'table_rows'],
      async handle(context) {
        const { input, signal } = context
        const { digest } = input
        const projectId = context.project(input.project_id)
        const { offset, ...bounds } = listBounds(input)
        const limit = bounds.limit ?? Number.POSITIVE_INFINITY
        const wanted = input.filter?.row_digests ?? []
        const terms = sortTerms(input.sort_by ?? [])
        const headers = await freshness.wait(context, ['tables'])
        const isSorted = terms.length > 0
        const pool = isSorted || limit > maxPageRows ? 'export' : 'interactive'
        const source = { store, projectId, options: { signal, pool } as const }
        if (limit === 0) return { json: { rows: [] }, headers }
        const filtered = wanted.length > 0 ? [await listedRowsWith(source, digest, wanted)] : null
        if (isSorted || filtered) {
          const all = isSorted
            ? await sortedRows(source, filtered ?? listedRows(source, digest), terms, context.mayTakeLong)
            : (filtered?.[0] ?? [])
          return listReply('rows', textsAt(source, all.slice(offset, offset + limit)), headers)
        }
        const end = offset + limit
        const pieces =
          limit > maxPageRows ? windows(source, digest, offset, end) : page(source, ahead, digest, offset, end)
        return listReply('rows', pieces, headers)
      },
    }),
    route({
      name: 'tables.query_stats',
      method: 'POST',
      path: '/table/query_stats',
      summary: 'Number of rows of a table',
      body: { type: 'json', schema: tableStatsRequest, check: 'schema' },
      response: tableStatsResponse,
      tables: ['table_lists'],
      async handle(context) {
        const { input, signal } = context
        const projectId = context.project(input.project_id)
        const headers = await freshness.wait(context, ['tables'])
        const counts = await tableCounts({ store, projectId, options: { signal } }, [input.digest])
        return { json: { count: counts.get(input.digest) ?? 0 }, headers }
      },
    }),
    route({
      name: 'tables.query_stats_batch',
      method: 'POST',
      path: '/table/query_stats_batch',
      summary: 'Number of rows, and bytes on request, of several tables',
      body: { type: 'json', schema: tableStatsBatchRequest, check: 'schema' },
      response: tableStatsBatchResponse,
      tables: ['table_lists', 'table_rows'],
      async handle(context) {
        const { input, signal } = context
        const projectId = context.project(input.project_id)
        const digests = [...new Set(input.digests ?? [])]
        if (digests.length === 0) return { json: { tables: [] } }
        const headers = await freshness.wait(context, ['tables'])
        const source: TableSource = { store, projectId, options: { signal } }
        const counts = await tableCounts(source, digests)
        const known = digests.filter((digest) => counts.has(digest))
        const sizes = input.include_storage_size === true ? await tableSizes(source, counts) : null
        const tables = known.map((digest) => ({
          count: counts.get(digest) ?? 0,
          digest,
          storage_size_bytes: sizes === null ? null : (sizes.get(digest) ?? 0),
        }))
        return { json: { tables }, headers }
      },
    }),
  ]
}
