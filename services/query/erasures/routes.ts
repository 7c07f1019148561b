// Erasures: what is asked to be removed for good, and receipts of what was.
import { pageQuery } from '../../../schemas/access.ts'
import { type ErasureRequest, erasureReceipt, erasureRequest, erasureResponse } from '../../../schemas/erasures.ts'
import type { Audit } from '../../core/audit/audit.ts'
import { auditedOnce, idsOf } from '../../core/audit/audited.ts'
import { maxItemBytes } from '../../core/directory/items.ts'
import { tooLarge } from '../../core/errors.ts'
import { fault } from '../../core/http/errors.ts'
import { listPage } from '../../core/http/list-page.ts'
import { type Route, type RouteContext, route } from '../../core/http/route.ts'
import { type ProjectId, storedId } from '../../core/ids.ts'
import { throwIfStale } from '../../core/log/freshness.ts'
import type { Position } from '../../core/log/log.ts'
import { formatPositions, positionHeader } from '../../core/log/positions.ts'
import { identifier, join, param, sql } from '../../core/store/sql.ts'
import type { Query, Store } from '../../core/store/store.ts'
import { type ErasureRow, erasureColumns } from '../../events/erasures.ts'
import { projectQuery } from '../../events/project-query.ts'
import { type RecordNames, recordUserNames, threadNamesOf } from '../../events/record-names.ts'
import { createCountCache } from '../calls/access/counts.ts'
import { readPages } from '../calls/access/read-calls.ts'
import { compileCallsQuery } from '../calls/conditions/compile-query.ts'
import { callQueryTables, joinedTables, topicsOfQuery } from '../calls/conditions/joined-tables.ts'
import { type DeleteCallsDeps, deleteCallTrees } from '../calls/delete-call-trees.ts'
import { headerReader } from '../calls/header.ts'
import type { CallReader } from '../calls/reader.ts'
import { createRecordDeletion } from '../logs/delete-records.ts'
import { filterCondition, logTables, named, ofTraces, type RecordCondition } from '../logs/records.ts'
import type { RequestErasure } from '../request-erasure.ts'
import { receiptOfRow } from './receipts.ts'

export type ErasureRouteDeps = DeleteCallsDeps & {
  audit: Pick<Audit, 'begin'>
  store: Pick<Store, 'bytes' | 'rows'>
  requestErasure: RequestErasure
  feedbackPrefix: string
  config: { otelVendorNamespaces: readonly string[] }
}

/** Calls that a selector may name, without their descendants. */
const maxCalls = 1_000_000
/** Ids whose descendants are looked for at once. */
const idsAtOnce = 1_000
const columns = join(erasureColumns.map(identifier), ', ')
const path = '/v2/{entity}/{project}/erasures'

/** Log records that a selector of calls names by itself, or that are meant alone. */
function recordsOf(
  { trace_ids, thread_ids, user_ids, logs }: ErasureRequest,
  threads: RecordNames,
): RecordCondition | undefined {
  if (trace_ids !== undefined) return ofTraces(trace_ids)
  if (thread_ids !== undefined) return named(threads, thread_ids)
  if (user_ids !== undefined) return named(recordUserNames, user_ids)
  return logs && filterCondition(logs)
}

/** Erasures, the latest first: their ids are in the order of their requests. @param before an id, or '' for all */
export const erasuresQuery = (projectId: ProjectId, before: string, limit: number): Query =>
  projectQuery('erasures.list', projectId, (project) => {
    const where = before === '' ? sql`1` : sql`id < ${param('String', before)}`
    return sql`SELECT ${columns} ${project.from('erasures', { final: true, where })}
      ORDER BY id DESC LIMIT ${param('UInt64', limit)}`
  })

export const erasureQuery = (projectId: ProjectId, id: string): Query =>
  projectQuery('erasures.read', projectId, (project) => {
    const where = sql`id = ${param('String', id)}`
    return sql`SELECT ${columns} ${project.from('erasures', { final: true, where })}`
  })

const projectOf = (context: RouteContext) => context.project(`${context.params.entity}/${context.params.project}`)

/** Ids of the calls that are meant; those that were named may be none. */
async function selectedCalls(reader: CallReader, { input, signal }: RouteContext<ErasureRequest>): Promise<string[]> {
  if (input.call_ids !== undefined) return [...new Set(input.call_ids.map(storedId))]
  const ids: string[] = []
  const page = { columns: headerReader(new Set(), false), limit: maxCalls + 1, offset: 0 }
  const options = { pool: 'export', signal } as const
  for await (const { rows } of readPages({ ...reader, options }, page)) for (const { id } of rows) ids.push(id)
  if (ids.length > maxCalls) throw tooLarge()
  return ids
}

/** Deletes calls with everything below them. @returns counts, and the positions of the deletes by partition */
async function deleteCalls(
  deps: DeleteCallsDeps,
  context: RouteContext,
  projectId: ProjectId,
  ids: readonly string[],
  begin: () => Promise<void>,
) {
  const deleted = { calls: 0, missing: 0, positions: new Map<number, Position>() }
  for (let i = 0; i < ids.length; i += idsAtOnce) {
    const some = ids.slice(i, i + idsAtOnce)
    const trees = await deleteCallTrees(deps, context, projectId, some, { positions: deleted.positions, begin })
    deleted.calls += trees.deleted
    deleted.missing += trees.missing
  }
  return deleted
}

function createRoute(deps: ErasureRouteDeps): Route {
  const { store, freshness, feedbackPrefix, requestErasure } = deps
  const cache = createCountCache()
  const threads = threadNamesOf(deps.config.otelVendorNamespaces)
  const deletion = createRecordDeletion(deps)
  return route({
    name: 'erasures.create',
    method: 'POST',
    path: '/erasures',
    summary: 'Permanently deletes calls with their descendants and all data about them',
    body: { type: 'json', schema: erasureRequest, check: 'schema', maxBytes: maxItemBytes },
    response: erasureResponse,
    topics: ['calls', 'logs', 'erasures'],
    tables: [...logTables, ...callQueryTables, ...joinedTables],
    async handle(context) {
      const { input, signal } = context
      const projectId = context.project(input.project_id)
      const { call_ids, trace_ids, thread_ids, user_ids, logs, reason } = input
      const selector = { call_ids, trace_ids, thread_ids, user_ids, query: input.query, logs }
      const where = recordsOf(input, threads)
      const filter = { trace_ids: trace_ids?.map(storedId), thread_ids, platform_user_ids: user_ids }
      const query = compileCallsQuery({ filter, query: input.query, projectId, feedbackPrefix })
      const topics = new Set(['calls' as const, 'logs' as const, ...topicsOfQuery(query)])
      const headers = await freshness.wait(context, [...topics])
      throwIfStale(headers)
      const reader = { store, projectId, query, options: { signal }, cache }
      const ids = logs === undefined ? await selectedCalls(reader, context) : []
      const records = where === undefined ? [] : await deletion.find(projectId, where, signal)
      const details = {
        call_ids: idsOf(ids),
        ...(where !== undefined && { log_ids: idsOf(records.map(({ id }) => id)) }),
      }
      const event = { action: 'erasure.requested', scope: projectId, details }
      const written: Position[] = []
      const erasure = await auditedOnce(deps.audit, [event], async (begin) => {
        await begin()
        const { calls, missing, positions } = await deleteCalls(deps, context, projectId, ids, begin)
        written.push(...(await deletion.remove(projectId, records)).slice(-1), ...positions.values())
        return requestErasure(context, projectId, { calls, missing, reason, selector })
      })
      const { calls, missing } = erasure.counts
      const position = written.length > 0 ? { [positionHeader]: formatPositions(written) } : {}
      return {
        status: 202,
        json: {
          erasure_id: erasure.id,
          status: 'accepted' as const,
          calls,
          missing,
          log_records: records.length,
          deadline: new Date(erasure.deadlineUs / 1_000).toISOString(),
        },
        headers: { ...headers, ...position },
      }
    },
  })
}

const listRoute = ({ store, freshness }: ErasureRouteDeps): Route =>
  route({
    opensRemoved: true,
    name: 'erasures.list',
    method: 'GET',
    path,
    summary: 'Erasures of a project and their receipts',
    query: pageQuery,
    body: { type: 'none' },
    response: null,
    responseType: 'application/jsonl',
    line: erasureReceipt,
    tables: ['erasures'],
    async handle(context) {
      const projectId = projectOf(context)
      const headers = await freshness.wait(context, ['calls', 'erasures'])
      const { after, limit } = listPage(context.query)
      const query = erasuresQuery(projectId, after, limit)
      const rows = await store.rows<ErasureRow>(query, { signal: context.signal })
      const bytes = Buffer.from(rows.map((row) => `${JSON.stringify(receiptOfRow(row))}\n`).join(''))
      return { bytes, contentType: 'application/jsonl', headers }
    },
  })

const readRoute = ({ store, freshness }: ErasureRouteDeps): Route =>
  route({
    opensRemoved: true,
    name: 'erasures.read',
    method: 'GET',
    path: `${path}/{id}`,
    summary: 'Progress of an erasure, and its receipt once it is done',
    body: { type: 'none' },
    response: erasureReceipt,
    tables: ['erasures'],
    async handle(context) {
      const projectId = projectOf(context)
      const headers = await freshness.wait(context, ['calls', 'erasures'])
      const id = context.params.id ?? ''
      const query = erasureQuery(projectId, id)
      const [row] = await store.rows<ErasureRow>(query, { signal: context.signal })
      if (row === undefined) throw fault(404, `Erasure ${id} not found`)
      return { json: receiptOfRow(row), headers }
    },
  })

export const createErasureRoutes = (deps: ErasureRouteDeps): Route[] => [
  createRoute(deps),
  listRoute(deps),
  readRoute(deps),
]
