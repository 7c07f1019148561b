// Deleting calls with their descendants: POST /calls/delete. Served here, because the descendants are found by reading.
import { callsDeleteRequest, callsDeleteResponse } from '../../schemas/calls-read.ts'
import { appendCalls, type CallSplit, createCallWriter } from '../core/call-rows-writer.ts'
import type { Clock } from '../core/clock.ts'
import { type Freshness, throwIfStale } from '../core/freshness.ts'
import { tooLarge } from '../core/http/errors.ts'
import { type Route, route } from '../core/http/route.ts'
import type { ProjectId } from '../core/ids.ts'
import type { Log } from '../core/log/log.ts'
import { formatPositions, positionHeader } from '../core/positions.ts'
import { param, projectQuery, type Sql, sql } from '../core/store/sql.ts'
import type { Query, QueryOptions, Store } from '../core/store/store.ts'
import { compactRows } from './calls/light.ts'
import { allOf, everything, type Index, instant, type Scope, scopeConditions } from './calls/scope.ts'

export type CallDeleteDeps = {
  store: Pick<Store, 'bytes'>
  log: Pick<Log, 'append'>
  clock: Clock
  freshness: Freshness
  /** One partition and records of any size when absent. */
  split?: CallSplit
}

const mostIds = 1_000
/** Calls of the traces that are searched for descendants. */
const mostCalls = 10_000
/** Descendants may begin this much before the call that was asked for: clocks of two machines. */
const leewayUs = 1_000_000

const listQuery = (
  name: string,
  projectId: ProjectId,
  index: Index,
  list: { select: Sql; more: Sql[]; tail: Sql },
): Query =>
  projectQuery(name, projectId, (project) => {
    const scope: Scope = { projectId, range: everything, index, keys: null }
    const values = param('Array(String)', index.values)
    const where = allOf([...scopeConditions(project, scope), sql`c.${index.column} IN ${values}`, ...list.more])
    return sql`SELECT ${list.select} ${project.from('calls', { alias: 'c', final: true, where })} ${list.tail}`
  })

/** The calls that were asked for and exist. */
export const requestedQuery = (projectId: ProjectId, ids: string[]): Query =>
  listQuery(
    'calls.delete-requested',
    projectId,
    { table: 'calls_by_id', column: sql`id`, values: ids },
    { select: sql`c.trace_id, toString(toUnixTimestamp64Micro(c.started_at))`, more: [], tail: sql`` },
  )

/** Calls of their traces, oldest first. */
export const tracesQuery = (projectId: ProjectId, traceIds: string[], fromUs: number): Query =>
  listQuery(
    'calls.delete-traces',
    projectId,
    { table: 'calls_by_trace', column: sql`trace_id`, values: traceIds },
    {
      select: sql`c.id, c.parent_id`,
      more: [sql`c.started_at >= ${instant(fromUs)}`],
      tail: sql`ORDER BY c.started_at, c.id LIMIT ${param('UInt64', mostCalls)}`,
    },
  )

/** The ids and everything below them. */
export function withDescendants(
  ids: Iterable<string>,
  calls: Iterable<readonly [id: string, parentId: string]>,
): Set<string> {
  const children = new Map<string, string[]>()
  for (const [id, parentId] of calls) {
    if (parentId === '') continue
    const siblings = children.get(parentId)
    if (siblings) siblings.push(id)
    else children.set(parentId, [id])
  }
  const reached = new Set(ids)
  // A set is walked in the order of insertion, and what is added during the walk is reached too.
  for (const id of reached) for (const child of children.get(id) ?? []) reached.add(child)
  return reached
}

async function reachedCalls(
  { store }: Pick<CallDeleteDeps, 'store'>,
  projectId: ProjectId,
  ids: string[],
  options: QueryOptions,
): Promise<Set<string>> {
  const format = 'JSONCompactEachRow'
  const found = compactRows<[traceId: string, startedUs: string]>(
    await store.bytes(requestedQuery(projectId, ids), format, options),
  )
  if (found.length === 0) return new Set()
  const traces = [...new Set(found.map(([traceId]) => traceId))]
  const fromUs = found.reduce((least, [, started]) => Math.min(least, Number(started)), Number.POSITIVE_INFINITY)
  const calls = compactRows<[string, string]>(
    await store.bytes(tracesQuery(projectId, traces, fromUs - leewayUs), format, options),
  )
  return withDescendants(ids, calls)
}

export function createCallDeleteRoutes(deps: CallDeleteDeps): Route[] {
  const { log, clock, freshness, split = {} } = deps
  return [
    route({
      name: 'calls.delete',
      method: 'POST',
      path: '/calls/delete',
      right: 'write',
      summary: 'Deletes calls and their descendants',
      body: { type: 'json', schema: callsDeleteRequest, check: 'schema' },
      response: callsDeleteResponse,
      topics: ['calls'],
      tables: ['calls', 'calls_by_id', 'calls_by_trace'],
      async handle(context) {
        const { input, signal } = context
        const projectId = context.project(input.project_id)
        if (input.call_ids.length > mostIds) throw tooLarge()
        const ids = [...new Set(input.call_ids)]
        if (ids.length === 0) return { json: { num_deleted: 0 } }
        const headers = await freshness.wait(context, ['calls'])
        // What is not in the tables yet would stay: of the calls that are named, and of their descendants.
        throwIfStale(headers)
        const reached = await reachedCalls(deps, projectId, ids, { signal })
        if (reached.size === 0) return { json: { num_deleted: 0 }, headers }
        const writer = createCallWriter({ sizeHintBytes: reached.size * 150, ...split })
        for (const id of reached) writer.add({ kind: 'delete', projectId, id, clock: clock.next() })
        const positions = await appendCalls(log, writer.take())
        return {
          json: { num_deleted: reached.size },
          headers: { ...headers, [positionHeader]: formatPositions(positions) },
        }
      },
    }),
  ]
}
